package slack

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"serin/alert"
	"serin/alert/slack/slacktest"
)

func TestIllustrate(t *testing.T) {
	f := func(name, method string, fault slacktest.Fault, code string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := byToken(t)
				c.opt.Chart = ChartDark
				if wanted, dark := c.Pictures(); !wanted || !dark {
					t.Error("no dark picture is wanted")
				}
				open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
				if err != nil {
					t.Fatal(err)
				}
				if method != "" {
					s.Fail(method, fault)
				}
				err = c.Illustrate(t.Context(), open, "a.png", "gw: TTFT", []byte("png"))
				if e, ok := errors.AsType[*alert.SendError](err); code == "" && err != nil || code != "" && (!ok || e.Code != code) {
					t.Fatalf("error %v, want %q", err, code)
				}
				if err != nil && (strings.Contains(err.Error(), testToken) || strings.Contains(err.Error(), "/upload/")) {
					t.Errorf("a secret is in %q", err)
				}
				calls := s.Calls()
				last := calls[len(calls)-1]
				if code == "" && (last.Method != slacktest.Share || last.Thread != open.TS || last.Room != open.Channel || string(calls[len(calls)-2].File) != "png") {
					t.Errorf("calls %+v", calls)
				}
			})
		})
	}
	f("taken", "", slacktest.Fault{}, "")
	f("no scope", slacktest.Ask, slacktest.Fault{Error: "missing_scope"}, "missing_scope")
	f("limited", slacktest.Ask, slacktest.Fault{Status: 429}, "ratelimited")
	f("bytes refused", slacktest.Put, slacktest.Fault{Status: 500}, "http 500")
	f("not shared", slacktest.Share, slacktest.Fault{Error: "not_in_channel"}, "not_in_channel")
	f("elsewhere", slacktest.Ask, slacktest.Fault{Status: 200, Body: `{"ok":true,"upload_url":"http://evil.example/x","file_id":"F1"}`}, "odd upload URL")
}

func TestWebhookHasNoPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := byWebhook(t)
		c.opt.Chart = ChartLight
		if wanted, _ := c.Pictures(); wanted {
			t.Error("a webhook has no thread")
		}
	})
}
