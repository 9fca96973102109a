package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"serin/alert"
	"serin/alert/alertmanager"
	"serin/alert/message"
	"serin/alert/pagerduty"
	"serin/alert/slack"
	"serin/alert/webhook"
	"serin/probe"
	"serin/probe/secret"
)

// hostileTexts want to call everybody, to turn round or hide what stands beside them, to break out of markup and quotes,
// and to fill a message by themselves.
func hostileTexts() map[string]string {
	const calls = "<!channel> <!here> <@U1> <@all> @all @everyone @channel <at id=all></at> <at>all</at> [x](https://evil.example) <https://evil.example|log in>"
	return map[string]string{
		"calls":     calls,
		"direction": "abc\u202edrow\u2066\u200fx\u200b",
		"control":   "a\x00b\x07c\x1b[31m\r\nd\te\u2028f",
		"quotes":    `"quo'ted" \ {"a":1} </script> ` + "`code` *bold* _it_ ~no~",
		"emoji":     "👩‍👩‍👧‍👦🟢 :large_green_circle: RESOLVED 🇩🇪",
		"long":      strings.Repeat("x&<", 5000/3),
		"long cjk":  strings.Repeat("日本語", 5000/3),
		"broken":    "bad \xff\xfe utf-8",
	}
}

// hostileNotices are one of each act with a text in every foreign field: titles, error texts, request ids, names of scenes,
// reasons, who acknowledged, and marks.
func hostileNotices(text string) []alert.Notice {
	at := time.Date(2026, 3, 1, 14, 5, 0, 0, time.UTC)
	a := alert.Alert{ID: "a1", Series: "gw/chat/short", Kind: alert.KindError, State: alert.StateFiring, Severity: alert.Critical, FirstBreach: at, Fired: at,
		Probes: 4, Errors: 3, Reason: text, Votes: []alert.Vote{{Outcome: probe.HTTP5xx}, {Outcome: probe.HTTP5xx}, {Outcome: probe.HTTP5xx}},
		Last: alert.Evidence{At: at, Outcome: probe.HTTP5xx, Reason: text, RequestID: text}}
	inc := alert.Incident{ID: "7f3k", Group: "provider/" + text, Scope: text, Severity: alert.Critical, State: alert.IncidentOpen, Opened: at, Acked: text,
		Members: []alert.Member{{Alert: "a1", Target: "gw", Announced: true}}}
	target := &probe.Target{Name: "gw", Title: text, Provider: text, Model: text, Labels: map[string]string{"team": text}}
	canary := &probe.Canary{Target: target, Scene: &probe.Scene{Name: "chat", Title: text, Runbook: text}, Size: probe.Short}
	base := message.Story{Now: at.Add(time.Minute), Incident: inc, Alerts: []alert.Alert{a}, Group: []string{"gw", text}, Instance: text, Region: text, URL: "https://serin.example",
		Targets: []alert.Target{{Target: target, Canaries: []alert.CanaryStatus{{Canary: canary, States: map[alert.Kind]alert.State{alert.KindError: alert.StateFiring}}}}},
		Marks:   []alert.Mark{{At: at, Text: text}}}
	stories := []message.Story{}
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActResolve, alert.ActReopen} {
		s := base
		s.Act = act
		if act == alert.ActResolve {
			over := a
			over.State, over.Resolved = alert.StateOK, at.Add(time.Minute)
			s.Alerts, s.Incident.Closed = []alert.Alert{over}, over.Resolved
		}
		stories = append(stories, s)
	}
	thread := base
	thread.Act = alert.ActThread
	thread.News = []message.News{{What: message.NewsEscalated}, {What: message.NewsAcked, Detail: text}, {What: message.NewsTargetJoined, Target: text}}
	var list []alert.Notice
	for i, s := range append(stories, thread) {
		list = append(list, alert.Notice{Incident: inc.ID, Channel: "c", Revision: i + 1, Act: s.Act, Message: message.Compose(s), State: alert.NoticePending, Created: at, Pages: true,
			Facts: alert.Facts{Incident: s.Incident, Instance: text, Region: text, Alerts: []alert.Fact{{Alert: a, Target: "gw", Scene: "chat", Size: "short", Labels: map[string]string{"team": text}}}}})
	}
	d, _ := message.ComposeDigest(message.DigestStory{From: at, To: at.Add(time.Hour), Transitions: []alert.Transition{{At: at, Series: "gw/chat/short", Kind: alert.KindChange,
		Reason: fmt.Sprintf("the endpoint answers as model %q", text)}}})
	return append(list, alert.Notice{Incident: "digest-1", Channel: "c", Revision: 1, Act: alert.ActNote, Message: d, State: alert.NoticePending, Created: at})
}

// hostileCase is a channel with what its service takes and what would call people there.
type hostileCase struct {
	channel alert.Channel
	most    int      // bytes of a request
	live    []string // must not be in any text
}

func hostileCases(t *testing.T, url string) map[string]hostileCase {
	secret := func(s string) secret.Secret {
		v, err := secret.FromValue("a secret", s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	made := func(c alert.Channel, err error) alert.Channel {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sl := func(o slack.Options) alert.Channel { c, err := slack.New(o); return made(c, err) }
	out := map[string]hostileCase{
		"slack bot":     {sl(slack.Options{BotToken: secret("xoxb-1"), Channel: "C1", InfoChannel: "C2", APIURL: url + "/api/"}), 200_000, []string{"<!", "<@", "<https://evil"}},
		"slack webhook": {sl(slack.Options{WebhookURL: secret(url + "/services/x")}), 200_000, []string{"<!", "<@", "<https://evil"}},
	}
	am, err := alertmanager.New(alertmanager.Options{Name: "am", URLs: []string{url}})
	out["alertmanager"] = hostileCase{made(am, err), 100_000, nil}
	pd, err := pagerduty.New(pagerduty.Options{Name: "pd", RoutingKey: secret("k"), APIURL: url + "/v2/enqueue"})
	out["pagerduty"] = hostileCase{made(pd, err), 512_000, nil}
	live := map[webhook.Format][]string{webhook.WeCom: {"<@"}, webhook.Telegram: {"@all", "@everyone", "@channel"}}
	most := map[webhook.Format]int{webhook.JSON: 200_000, webhook.Feishu: 20_000, webhook.DingTalk: 20_000, webhook.WeCom: 4_500, webhook.Teams: 28_000, webhook.Telegram: 17_000}
	for _, f := range webhook.Formats() {
		c, err := webhook.New(webhook.Options{Name: "c", Format: f, URL: secret(url + "/hook"), ChatID: "1", APIURL: url})
		out[string(f)] = hostileCase{made(c, err), most[f], live[f]}
	}
	return out
}

// TestHostileTextOnEveryChannel sends hostile text by every channel: each message arrives whole and valid, within the
// service's limits, and nothing in it calls people, hides or turns round.
func TestHostileTextOnEveryChannel(t *testing.T) {
	var got [][]byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if form, err := url.ParseQuery(string(body)); err == nil && form.Get("channel") != "" {
			text, err := json.Marshal(form.Get("text"))
			if err != nil {
				t.Error(err)
			}
			blocks := form.Get("blocks")
			if blocks == "" {
				blocks = "[]"
			}
			body = fmt.Appendf(nil, `{"text":%s,"blocks":%s}`, text, blocks)
		}
		got = append(got, body)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/services/") {
			_, _ = w.Write([]byte("ok"))
			return
		}
		_, _ = w.Write([]byte(`{"ok":true,"channel":"C1","ts":"1.1","code":0,"errcode":0}`))
	}))
	defer srv.Close()
	for name, c := range hostileCases(t, srv.URL) {
		for kind, text := range hostileTexts() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				for _, n := range hostileNotices(text) {
					if c.channel.Skips(n) {
						continue
					}
					got = nil
					if _, err := c.channel.Send(t.Context(), n, alert.Receipt{}); err != nil {
						t.Fatalf("%s: %v", n.Act, err)
					}
					for _, body := range got {
						judgeHostile(t, n.Act, body, c)
					}
				}
			})
		}
	}
}

// zonedTime is a time that Slack shows in its reader's zone: ours, and nothing that a person wrote.
var zonedTime = regexp.MustCompile(`<!date\^\d+\^[a-z_{} ]+\|[^<>|]+>`)

func judgeHostile(t *testing.T, act alert.Act, body []byte, c hostileCase) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil || !utf8.Valid(body) {
		t.Fatalf("%s: not valid: %v: %.300q", act, err, body)
	}
	if len(body) > c.most {
		t.Errorf("%s: %d bytes, the service takes %d", act, len(body), c.most)
	}
	if all, ok := doc.(map[string]any); ok && all["version"] != nil { // serin's own document: its facts are data as they came
		doc = []any{all["headline"], all["lines"], all["footer"], all["runbook"]}
	}
	eachText(doc, func(text string) {
		text = zonedTime.ReplaceAllString(text, "")
		for _, bad := range append([]string{"\u202e", "\u2066", "\u200f", "\x00", "\x07", "\x1b", "\r"}, c.live...) {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q stands in %.300q", act, bad, text)
			}
		}
	})
}

// eachText visits every string of a JSON value.
func eachText(v any, f func(string)) {
	switch x := v.(type) {
	case string:
		f(x)
	case []any:
		for _, e := range x {
			eachText(e, f)
		}
	case map[string]any:
		for k, e := range x {
			f(k)
			eachText(e, f)
		}
	}
}
