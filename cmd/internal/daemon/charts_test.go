package daemon

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert/slack/slacktest"
)

// TestCharts: with chart a picture stands in the thread of an opening and of its end, behind the text; a Slack that takes
// none changes nothing about the messages, and the log says so once.
func TestCharts(t *testing.T) {
	f := func(name, extra string, faults int, want string, inLog int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ttft, tpot = 200 * time.Millisecond, 20 * time.Millisecond
				r := newRig(t, rigToml+extra)
				r.llm.Set("m", calm(ttft, tpot))
				r.history(time.Now(), ttft, tpot)
				for range faults {
					r.slack.Fail(slacktest.Ask, slacktest.Fault{Error: "missing_scope"})
				}
				time.AfterFunc(6*time.Hour, func() { r.llm.Set("m", calm(2*ttft, tpot)) })
				time.AfterFunc(7*time.Hour, func() { r.llm.Set("m", calm(ttft, tpot)) })
				r.run(9 * time.Hour)
				var got []string
				opening := ""
				for _, c := range r.slack.Calls() {
					switch {
					case c.Method == slacktest.Post && c.Thread == "":
						opening = c.TS
						got = append(got, "open")
					case c.Method == slacktest.Update && strings.Contains(c.Text, "RESOLVED"):
						got = append(got, "resolve")
					case c.Method == slacktest.Put:
						img, err := png.Decode(bytes.NewReader(c.File))
						if err != nil || img.Bounds().Dx() < 1000 {
							t.Errorf("no picture: %v", err)
						}
						got = append(got, "picture")
					case c.Method == slacktest.Share && (c.Thread != opening || c.Room == ""):
						t.Errorf("the picture is in %q of %q, not in %q", c.Thread, c.Room, opening)
					}
				}
				if text := strings.Join(got, " "); text != want {
					t.Errorf("got %s, want %s", text, want)
				}
				if n := strings.Count(r.log.String(), "chart not added"); n != inLog {
					t.Errorf("the log says it %d times, want %d\n%s", n, inLog, r.log.String())
				}
				if strings.Contains(r.log.String(), "/upload/") {
					t.Error("the log shows an upload URL")
				}
			})
		})
	}
	f("light", `chart = "light"`, 0, "open picture resolve picture", 0)
	f("off", "", 0, "open resolve", 0)
	f("no scope", `chart = "dark"`, 2, "open resolve", 1)
}
