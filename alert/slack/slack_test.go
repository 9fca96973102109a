package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/probe/secret"
)

const testToken = "xoxb-test-token"

func secretOf(t *testing.T, value string) secret.Secret {
	t.Helper()
	s, err := secret.FromValue("a test", value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// byToken returns a fake and a channel that reaches it by bot token.
func byToken(t *testing.T) (*slacktest.Server, *Channel) {
	t.Helper()
	s := slacktest.New(testToken)
	return s, channel(t, s, Options{BotToken: secretOf(t, testToken), Channel: "#alerts", InfoChannel: "#info", Mention: "@here"})
}

// byWebhook returns a fake and a channel that reaches it by webhook.
func byWebhook(t *testing.T) (*slacktest.Server, *Channel) {
	t.Helper()
	s := slacktest.New(testToken)
	return s, channel(t, s, Options{WebhookURL: secretOf(t, s.WebhookURL()), Mention: "<@U1>"})
}

func channel(t *testing.T, s *slacktest.Server, o Options) *Channel {
	t.Helper()
	o.APIURL = strings.TrimRight(s.APIURL(), "/") // without the last slash
	c, err := New(o, WithDial(s.Dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.client.CloseIdleConnections()
		s.Close()
	})
	return c
}

func firing() alert.Message {
	return alert.Message{Severity: alert.Critical, State: "firing", Headline: "gw-eu / chat / long: TTFT 8.4 s, normal 1.6–2.5 s (×4.2)", Incident: "7f3k",
		Lines:  []alert.Line{{Role: "scope", Text: "4 of the last 5 checks since 14:05 +08:00 (16 min)"}, {Role: "counts", Text: "0 timeouts, 0 errors in 12 checks"}},
		Footer: []string{"incident 7f3k", "probed from serin-1 in eu-1"}, Link: "https://serin.example/api/v1/incidents/7f3k", Runbook: "https://wiki.example/ttft?a=1&b=2", Mention: true}
}

func notice(act alert.Act) alert.Notice {
	n := alert.Notice{Incident: "7f3k", Channel: Name, Act: act, Message: firing()}
	switch act {
	case alert.ActResolve:
		n.Message.State, n.Message.Mention, n.Message.Headline = "resolved", false, "gw-eu / chat / long: TTFT normal again after 47 min"
	case alert.ActThread:
		n.Message = alert.Message{Severity: alert.Critical, State: "update", Headline: "now CRITICAL: gw-eu", Mention: true}
	}
	return n
}

// blocksOf returns the blocks of a call as one line each: type and text.
func blocksOf(t *testing.T, c slacktest.Call) []string {
	t.Helper()
	type textObject struct{ Type, Text string }
	var blocks []struct {
		Type     string
		Text     *textObject
		Elements []textObject
	}
	if err := json.Unmarshal(c.Blocks, &blocks); err != nil {
		t.Fatalf("blocks %s: %v", c.Blocks, err)
	}
	var out []string
	for _, b := range blocks {
		text := ""
		if b.Text != nil {
			text = b.Text.Text
		}
		for _, e := range b.Elements {
			text += e.Text
		}
		out = append(out, b.Type+": "+text)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s is\n%s\nwant\n%s", what, g, w)
	}
}

func TestByToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
		if err != nil || open != (alert.Receipt{Channel: "CALERTS", TS: "1700000000.000001"}) {
			t.Fatalf("receipt %+v, %v", open, err)
		}
		for _, act := range []alert.Act{alert.ActUpdate, alert.ActThread, alert.ActResolve} {
			if _, err := c.Send(t.Context(), notice(act), open); err != nil {
				t.Fatal(err)
			}
		}
		calls := s.Calls()
		var heads []string
		for _, call := range calls {
			heads = append(heads, strings.Join([]string{call.Method, call.Room, call.TS, call.Thread, call.Text}, "|"))
		}
		const first, head = "1700000000.000001", ":red_circle: CRITICAL  gw-eu / chat / long: TTFT 8.4 s, normal 1.6–2.5 s (×4.2)"
		const over = ":large_green_circle: RESOLVED  gw-eu / chat / long: TTFT normal again after 47 min"
		same(t, "traffic", heads, []string{
			"chat.postMessage|#alerts|" + first + "||" + head,
			"chat.update|CALERTS|" + first + "||" + head,
			"chat.postMessage|CALERTS|1700000000.000002|" + first + "|:red_circle: CRITICAL  now CRITICAL: gw-eu <!here>",
			"chat.update|CALERTS|" + first + "||" + over,
			"chat.postMessage|CALERTS|1700000000.000003|" + first + "|" + over})
		body := []string{"header: " + head,
			"section: <!here>\n4 of the last 5 checks since 14:05 +08:00 (16 min)\n0 timeouts, 0 errors in 12 checks",
			"section: *<https://serin.example/api/v1/incidents/7f3k|Open incident>* · <https://wiki.example/ttft?a=1&b=2|Runbook>",
			"context: incident 7f3k · probed from serin-1 in eu-1"}
		same(t, "the opening", blocksOf(t, calls[0]), body)
		body[1] = strings.Replace(body[1], "<!here>\n", "", 1)
		same(t, "the edit, which mentions nobody,", blocksOf(t, calls[1]), body)
	})
}

func TestByWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byWebhook(t)
		for _, act := range []alert.Act{alert.ActOpen, alert.ActResolve} {
			if r, err := c.Send(t.Context(), notice(act), alert.Receipt{}); err != nil || r != (alert.Receipt{}) {
				t.Fatalf("receipt %+v, %v", r, err)
			}
		}
		calls := s.Calls()
		if len(calls) != 2 || calls[0].Method != slacktest.Webhook || !strings.HasPrefix(calls[1].Text, ":large_green_circle: RESOLVED") {
			t.Fatalf("traffic is %+v", calls)
		}
		if b := blocksOf(t, calls[0]); !strings.Contains(b[1], "<@U1>") {
			t.Errorf("the opening mentions nobody: %q", b)
		}
		if b := blocksOf(t, calls[1]); strings.Contains(strings.Join(b, ""), "<@U1>") {
			t.Errorf("the end mentions somebody: %q", b)
		}
	})
}

func TestSkips(t *testing.T) {
	_, bot := byToken(t)
	_, hook := byWebhook(t)
	f := func(c *Channel, act alert.Act, severity alert.Severity, want bool) {
		t.Helper()
		n := notice(act)
		n.Message.Severity = severity
		if c.Skips(n) != want {
			t.Errorf("bot %v skips %s %s: want %v", c.bot(), severity, act, want)
		}
	}
	f(bot, alert.ActUpdate, alert.Warning, false)
	f(bot, alert.ActOpen, alert.Info, false) // it has an info_channel
	bot.opt.InfoChannel = ""
	f(bot, alert.ActOpen, alert.Info, true)
	f(bot, alert.ActTest, alert.Info, false)
	f(hook, alert.ActOpen, alert.Critical, false)
	f(hook, alert.ActUpdate, alert.Critical, true)
	f(hook, alert.ActThread, alert.Critical, true)
	f(hook, alert.ActResolve, alert.Critical, false)
	f(hook, alert.ActOpen, alert.Info, true)
}

func TestInfoGoesToItsChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		n := notice(alert.ActOpen)
		n.Message.Severity = alert.Info
		if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil || s.Calls()[0].Room != "#info" {
			t.Errorf("calls %+v, %v", s.Calls(), err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	f := func(o Options, want string) {
		t.Helper()
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(Options{}, "webhook_url_env")
	f(Options{BotToken: secretOf(t, "x")}, "needs channel")
	f(Options{WebhookURL: secretOf(t, "https://x/y"), APIURL: "no url"}, "api_url")
}

// TestFaults holds each fault of a call against what must follow, for bot token and webhook.
func TestFaults(t *testing.T) {
	type want struct {
		code                     string
		retryable, limited, lost bool
		wait                     time.Duration
		fix                      string
	}
	limitedFor := func(d time.Duration) want { return want{code: "ratelimited", retryable: true, limited: true, wait: d} } // 0: the outbox waits a minute
	f := func(name string, fault slacktest.Fault, bot, hook want) {
		t.Helper()
		check := func(kind, method string, make func(*testing.T) (*slacktest.Server, *Channel), want want) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, c := make(t)
					s.Fail(method, fault)
					_, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
					e, ok := errors.AsType[*alert.SendError](err)
					if !ok {
						t.Fatalf("error is %v", err)
					}
					if e.Code != want.code || e.Retryable != want.retryable || e.Limited != want.limited || e.Lost != want.lost || e.RetryAfter != want.wait {
						t.Errorf("error is %+v, want %+v", *e, want)
					}
					if want.fix != "" && !strings.Contains(e.Fix, want.fix) {
						t.Errorf("fix is %q, want %q in it", e.Fix, want.fix)
					}
					if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, testToken) || strings.Contains(text, "hooksecret") {
						t.Errorf("a secret is in %q", text)
					}
				})
			})
		}
		check("bot", slacktest.Post, byToken, bot)
		check("webhook", slacktest.Webhook, byWebhook, hook)
	}
	both := func(name string, fault slacktest.Fault, w want) { t.Helper(); f(name, fault, w, w) }
	status := func(code int, header ...string) slacktest.Fault {
		ft := slacktest.Fault{Status: code, Body: "<html>sorry</html>", Header: map[string]string{}}
		for i := 0; i+1 < len(header); i += 2 {
			ft.Header[header[i]] = header[i+1]
		}
		return ft
	}
	both("429 with Retry-After", status(429, "Retry-After", "17"), limitedFor(17*time.Second))
	both("429 without", status(429), limitedFor(0))
	both("429 odd", status(429, "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"), limitedFor(0))
	both("429 negative", status(429, "Retry-After", "-5"), limitedFor(0))
	both("429 huge", status(429, "Retry-After", "9e12"), limitedFor(time.Hour))
	both("500", status(500), want{code: "http 500", retryable: true})
	both("503", status(503), want{code: "http 503", retryable: true})
	both("403 of a proxy", status(403), want{code: "http 403", fix: "proxy"})
	both("302", status(302, "Location", "https://elsewhere.example/"), want{code: "http 302", fix: "redirects"})
	both("cut", slacktest.Fault{Cut: true}, want{code: "cut", retryable: true, lost: true})
	both("cut after taken", slacktest.Fault{Cut: true, Taken: true}, want{code: "cut", retryable: true, lost: true})
	both("slow", slacktest.Fault{Delay: 11 * time.Second, Taken: true}, want{code: "timeout", retryable: true, lost: true})
	f("not JSON", slacktest.Fault{Status: 200, Body: "<html>login</html>"}, want{code: "odd answer", retryable: true, lost: true, fix: "proxy"},
		want{code: "odd answer", fix: "webhook URL"})
	f("ok false without a word", slacktest.Fault{Status: 200, Body: `{"ok":false}`}, want{code: "no ts in the answer", retryable: true, lost: true},
		want{code: "refused without a word", retryable: true})
	word := func(w string, want want) { t.Helper(); want.code = w; both(w, slacktest.Fault{Error: w}, want) }
	for _, w := range []string{"ratelimited", "rate_limited"} {
		both(w, slacktest.Fault{Error: w}, limitedFor(0))
	}
	word("channel_not_found", want{fix: "channel in the config"})
	word("not_in_channel", want{fix: "invite the bot"})
	word("is_archived", want{fix: "unarchive"})
	word("channel_is_archived", want{fix: "unarchive"})
	word("invalid_auth", want{fix: "new bot token"})
	word("account_inactive", want{fix: "new bot token"})
	word("token_revoked", want{fix: "new bot token"})
	word("missing_scope", want{fix: "chat:write"})
	word("no_permission", want{fix: "chat:write"})
	word("restricted_action", want{fix: "admin"})
	word("no_service", want{fix: "new webhook"})
	word("internal_error", want{retryable: true, lost: true})
	word("fatal_error", want{retryable: true, lost: true})
	f("a new word", slacktest.Fault{Error: "moon_phase"}, want{code: "moon_phase"}, want{code: "http 400"})
}

func TestMissingScopeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		s.Fail(slacktest.Post, slacktest.Fault{Status: 200, Body: `{"ok":false,"error":"missing_scope","needed":"chat:write.customize","provided":"chat:write"}`})
		_, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
		if err == nil || !strings.Contains(err.Error(), "add the scope chat:write.customize") {
			t.Errorf("error is %v", err)
		}
	})
}

func TestRefusedConnection(t *testing.T) {
	s := slacktest.New("")
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	api, hook := s.APIURL(), s.WebhookURL()
	s.Close()
	t.Setenv("HTTP_PROXY", "")
	for _, o := range []Options{{BotToken: secretOf(t, testToken), Channel: "c", APIURL: api}, {WebhookURL: secretOf(t, hook)}} {
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
		e, ok := errors.AsType[*alert.SendError](err)
		if !ok || e.Code != "connect" || !e.Retryable || e.Lost {
			t.Errorf("error is %+v", err)
		}
		if strings.Contains(err.Error(), "hooksecret") || strings.Contains(err.Error(), testToken) {
			t.Errorf("a secret is in %q", err)
		}
	}
}

func TestPlainTextWhereBlocksAreRefused(t *testing.T) {
	for _, word := range []string{"invalid_blocks", "msg_too_long"} {
		synctest.Test(t, func(t *testing.T) {
			s, c := byToken(t)
			s.Fail(slacktest.Post, slacktest.Fault{Error: word})
			open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
			if err != nil {
				t.Fatal(err)
			}
			s.Fail(slacktest.Update, slacktest.Fault{Error: word})
			if _, err := c.Send(t.Context(), notice(alert.ActUpdate), open); err != nil {
				t.Fatal(err)
			}
			calls := s.Calls()
			if len(calls) != 4 || calls[1].Blocks != nil || string(calls[3].Blocks) != "[]" {
				t.Fatalf("calls are %+v", calls)
			}
			for _, want := range []string{"<!here>", "4 of the last 5", "|Open incident>", "incident 7f3k"} {
				if !strings.Contains(calls[1].Text, want) {
					t.Errorf("%q is not in %q", want, calls[1].Text)
				}
			}
			if strings.Contains(calls[3].Text, "<!here>") {
				t.Errorf("an edit mentions: %q", calls[3].Text)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, c := byWebhook(t)
		s.Fail(slacktest.Webhook, slacktest.Fault{Error: "invalid_payload"})
		if _, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{}); err != nil || len(s.Calls()) != 2 || s.Calls()[1].Blocks != nil {
			t.Errorf("%v, calls %+v", err, s.Calls())
		}
	})
}

func TestOpeningThatCannotBeEdited(t *testing.T) {
	f := func(word string, want ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s, c := byToken(t)
			open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
			if err != nil {
				t.Fatal(err)
			}
			s.Fail(slacktest.Update, slacktest.Fault{Error: word}, slacktest.Fault{Error: word})
			for _, act := range []alert.Act{alert.ActUpdate, alert.ActResolve} {
				if r, err := c.Send(t.Context(), notice(act), open); err != nil || r != open {
					t.Fatalf("%s: %+v, %v", act, r, err)
				}
			}
			var got []string
			for _, call := range s.Calls()[1:] {
				got = append(got, fmt.Sprintf("%s in thread %q, blocks %v", call.Method, call.Thread, call.Blocks != nil))
			}
			same(t, word, got, want)
		})
	}
	edit := `chat.update in thread "", blocks true`
	f("message_not_found", edit, edit, `chat.postMessage in thread "", blocks true`)
	f("edit_window_closed", edit, edit, `chat.postMessage in thread "1700000000.000001", blocks true`)
}

func TestAnswerWithAnOddCopyOfTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		s.Fail(slacktest.Post, slacktest.Fault{Status: 200, Body: `{"ok":true,"channel":"C1","ts":"1.1","message":{"blocks":"odd","ts":7}}`})
		if r, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{}); err != nil || r != (alert.Receipt{Channel: "C1", TS: "1.1"}) {
			t.Errorf("receipt %+v, %v: a message that was taken must not look like one that was not", r, err)
		}
	})
}

func TestOnlyOpeningsAndThreadLinesMention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byWebhook(t)
		n := notice(alert.ActResolve)
		n.Message.Mention = true // whoever set it: an end wakes nobody
		if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil || strings.Contains(string(s.Calls()[0].Blocks), "@U1") {
			t.Errorf("%v, blocks %s", err, s.Calls()[0].Blocks)
		}
	})
}

func TestSlackLinksNothingByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		if _, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{}); err != nil {
			t.Fatal(err)
		}
		blocks := string(s.Calls()[0].Blocks)
		if n := strings.Count(blocks, `"verbatim":true`); n != strings.Count(blocks, `"mrkdwn"`) || n == 0 {
			t.Errorf("a text of %s may turn @channel into a mention", blocks)
		}
	})
}

func TestOverTCP(t *testing.T) {
	s := slacktest.New(testToken)
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := New(Options{BotToken: secretOf(t, testToken), Channel: "#alerts", APIURL: s.APIURL()}) // with the last slash
	if err != nil {
		t.Fatal(err)
	}
	defer c.client.CloseIdleConnections()
	open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), notice(alert.ActResolve), open); err != nil {
		t.Fatal(err)
	}
	if got := s.Message(open.TS); !strings.HasPrefix(got, ":large_green_circle: RESOLVED") || len(s.Calls()) != 3 {
		t.Errorf("the opening reads %q after %d calls", got, len(s.Calls()))
	}
}

func TestReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byToken(t)
		open, err := c.Send(t.Context(), notice(alert.ActOpen), alert.Receipt{})
		if err != nil {
			t.Fatal(err)
		}
		n := notice(alert.ActReopen)
		n.Message.Headline, n.Message.Thread, n.Message.Mention = "gw-eu is slow", "fires again: gw-eu is slow", true
		receipt, err := c.Send(t.Context(), n, open)
		calls := s.Calls()
		if err != nil || receipt != open || len(calls) != 3 {
			t.Fatalf("receipt %v, %v, %d calls", receipt, err, len(calls))
		}
		if got := s.Message(open.TS); !strings.HasSuffix(got, "gw-eu is slow") || strings.Contains(got, "<!here>") {
			t.Errorf("the opening reads %q", got)
		}
		if line := calls[2]; !strings.HasSuffix(line.Text, "fires again: gw-eu is slow <!here>") || line.Thread != open.TS || !line.Broadcast {
			t.Errorf("the thread line is %+v", line)
		}
	})
}

// TestWebhookReopening: where nothing can be edited it is a message of its own, with the thread's line as headline.
func TestWebhookReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := byWebhook(t)
		n := notice(alert.ActReopen)
		n.Message.Thread, n.Message.Mention = "fires again, 3rd time since "+alert.MarkTime(time.Unix(1772340790, 0), alert.TimeOfDay, "03:53")+": gw-eu is slow", true
		if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil {
			t.Fatal(err)
		}
		if call := s.Calls()[0]; !strings.HasSuffix(call.Text, "fires again, 3rd time since 03:53: gw-eu is slow") || !strings.Contains(strings.Join(blocksOf(t, call), ""), "<@U1>") {
			t.Errorf("text %q, blocks %s", call.Text, call.Blocks)
		}
	})
}
