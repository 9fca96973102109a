package slack

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"serin/alert"
	"serin/alert/slack/slacktest"
)

func TestTest(t *testing.T) {
	f := func(name string, prepare func(*slacktest.Server, *Channel), want ...string) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, c := byToken(t)
				prepare(s, c)
				expect(t, c, want...)
			})
		})
	}
	const who, scopes = "true token of serin in workspace Test Team", "true scopes chat:write, chat:write.public"
	const posted = "true channel #alerts: test message delivered"
	f("all fine", func(*slacktest.Server, *Channel) {}, who, scopes, posted, "true info_channel #info: test message delivered")
	f("no info channel", func(_ *slacktest.Server, c *Channel) { c.opt.InfoChannel = "" }, who, scopes, posted)
	f("scope missing", func(s *slacktest.Server, c *Channel) {
		c.opt.InfoChannel = ""
		s.Scopes("channels:read, users:read")
		s.Fail(slacktest.Post, slacktest.Fault{Error: "missing_scope"})
	}, who, "false the token lacks the scope chat:write (it has channels:read, users:read) | add the scope chat:write", "false channel #alerts: missing_scope | add the scope chat:write")
	f("scopes not told", func(s *slacktest.Server, c *Channel) { c.opt.InfoChannel = ""; s.Scopes("") },
		who, "true Slack did not say which scopes the token has", posted)
	f("no scope for charts", func(_ *slacktest.Server, c *Channel) { c.opt.InfoChannel, c.opt.Chart = "", ChartLight },
		who, scopes, "false the token lacks the scope files:write, which chart needs | add the scope files:write", posted)
	f("channel unknown", func(s *slacktest.Server, _ *Channel) { s.Rooms(map[string]string{"#alerts": "C1"}) },
		who, scopes, posted, "false info_channel #info: channel_not_found | check the channel")
	f("not in channel", func(s *slacktest.Server, c *Channel) {
		c.opt.InfoChannel = ""
		s.Fail(slacktest.Post, slacktest.Fault{Error: "not_in_channel"})
	}, who, scopes, "false channel #alerts: not_in_channel | invite the bot")
	f("token refused", func(_ *slacktest.Server, c *Channel) { c.opt.BotToken = secretOf(t, "xoxb-old") }, "false token: invalid_auth | make a new bot token")
	f("user token", func(_ *slacktest.Server, c *Channel) { c.opt.BotToken = secretOf(t, "xoxp-1") },
		"false the token is a user token | use the bot token", "false token: invalid_auth | make a new bot token")
	f("limited", func(s *slacktest.Server, _ *Channel) {
		s.Fail(slacktest.Auth, slacktest.Fault{Status: 429, Header: map[string]string{"Retry-After": "30"}})
	}, "false token: ratelimited | wait 30s")
}

func TestTestByWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byWebhook(t)
		expect(t, c, "true webhook: test message delivered")
		if call := s.Calls()[0]; call.Text != ":large_blue_circle: TEST  nothing is wrong" {
			t.Errorf("it is %q", call.Text)
		}
		c.opt.WebhookURL = secretOf(t, strings.Replace(s.WebhookURL(), "hooksecret", "othersecret", 1))
		expect(t, c, "false webhook: no_service | make a new webhook")
	})
}

// expect wants these findings, written "ok what | beginning of the fix".
func expect(t *testing.T, c *Channel, want ...string) {
	t.Helper()
	found, err := c.Test(t.Context(), alert.Message{Severity: alert.Info, State: alert.MessageTest, Headline: "nothing is wrong"})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want) {
		t.Fatalf("found %+v, want %q", found, want)
	}
	for i, f := range found {
		what, fix, _ := strings.Cut(want[i], " | ")
		if got := fmt.Sprint(f.OK, " ", f.What); got != what || !strings.HasPrefix(f.Fix, fix) || (fix == "") != (f.Fix == "") {
			t.Errorf("finding %d is %q, fix %q, want %q", i, got, f.Fix, want[i])
		}
		if strings.Contains(f.What+f.Fix, "secret") || strings.Contains(f.What+f.Fix, testToken) {
			t.Errorf("a secret is in %+v", f)
		}
	}
}
