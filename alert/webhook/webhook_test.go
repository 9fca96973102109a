package webhook

import (
	"crypto/hmac"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
	"serin/probe/secret"
)

var update = flag.Bool("update", false, "rewrite golden files")

var at = time.Date(2026, 3, 1, 6, 21, 0, 0, time.UTC)

func secretOf(t *testing.T, v string) secret.Secret {
	t.Helper()
	s, err := secret.FromValue("test", v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opening is a notice as the engine makes it, with hostile text.
func opening() alert.Notice {
	a := alert.Alert{ID: "gw-eu/chat/long ttft 1", Series: "gw-eu/chat/long", Kind: alert.KindTTFT, State: alert.StateFiring, Severity: alert.Critical,
		FirstBreach: at.Add(-16 * time.Minute), Fired: at.Add(-2 * time.Minute), Probes: 5,
		Last: alert.Evidence{At: at, Value: 8.4, Mean: 2, Low: 1.6, Limit: 2.5, Ratio: 4.2, RequestID: "req_9f2"}}
	return alert.Notice{Incident: "7f3k", Channel: "ops", Revision: 3, Act: alert.ActOpen, Created: at,
		Message: alert.Message{Severity: alert.Critical, State: "firing", Headline: "gw-eu / chat / long: TTFT 8.4 s, normal 1.6–2.5 s (×4.2)",
			Lines: []alert.Line{{Role: "scope", Text: "4 of the last 5 checks since 14:05 +08:00 (16 min)"},
				{Role: "detail", Text: "the endpoint says: <at id=all></at> <@all> @all [x](http://evil) \u202e\nsecond \"line\""}},
			Incident: "7f3k", Link: "https://serin.example/api/v1/incidents/7f3k", Runbook: "https://wiki.example/ttft",
			Footer: []string{"incident 7f3k", "probed from serin-1 in eu-1"}, Mention: true},
		Facts: alert.Facts{Incident: alert.Incident{ID: "7f3k", Scope: "gw-eu", Severity: alert.Critical, State: "open", Opened: at.Add(-2 * time.Minute)},
			Instance: "serin-1", Region: "eu-1", Alerts: []alert.Fact{{Alert: a, Target: "gw-eu", Scene: "chat", Size: "long", Labels: map[string]string{"team": "search"}}}}}
}

// call is one request that a receiver got.
type call struct {
	url    string
	header http.Header
	body   []byte
}

// receiver answers every call alike and keeps it.
func receiver(t *testing.T, status int, answer string) (*httptest.Server, *[]call) {
	t.Helper()
	var calls []call
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a cut request would fail the comparison
		calls = append(calls, call{r.URL.String(), r.Header, body})
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(srv.Close)
	return srv, &calls
}

func channel(t *testing.T, o Options) *Channel {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.now = func() time.Time { return at }
	return c
}

// taken are the answers of robots to what they took.
func taken() map[Format]string {
	return map[Format]string{JSON: "", Feishu: `{"code":0,"msg":"success","data":{}}`, DingTalk: `{"errcode":0,"errmsg":"ok"}`,
		WeCom: `{"errcode":0,"errmsg":"ok"}`, Teams: "", Telegram: `{"ok":true,"result":{"message_id":7}}`}
}

// TestGolden posts an opening and its end in each format and holds URL, headers and body against a file.
func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		t.Run(string(format), func(t *testing.T) {
			srv, calls := receiver(t, 200, taken()[format])
			o := Options{Name: "ops", Format: format, URL: secretOf(t, srv.URL+"/hook?access_token=abc"), Mention: "all, ou_1", APIURL: srv.URL + "/", ChatID: "-100"}
			if format == Telegram {
				o.URL = secretOf(t, "42:AAsecret")
			}
			if format == JSON || format == Feishu || format == DingTalk {
				o.Secret = secretOf(t, "signing-key")
			}
			if format == JSON {
				o.Headers = map[string]string{"X-Team": "sre"}
				o.Hidden = map[string]Credential{"Authorization": {Scheme: "Bearer", Value: secretOf(t, "hidden-token")}}
			}
			c := channel(t, o)
			end := opening()
			end.Revision, end.Act, end.Message.State, end.Message.Mention = 4, alert.ActResolve, "resolved", false
			end.Message.Headline = "gw-eu / chat / long: TTFT normal again after 47 min (worst 8.4 s, ×4.2)"
			for _, n := range []alert.Notice{opening(), end} {
				if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, "testdata/"+string(format)+".txt", written(t, srv.URL, *calls))
		})
	}
}

func written(t *testing.T, base string, calls []call) string {
	t.Helper()
	var b strings.Builder
	for _, c := range calls {
		b.WriteString("POST " + c.url + "\n")
		for _, name := range []string{"Content-Type", "User-Agent", "Idempotency-Key", HeaderTimestamp, HeaderSignature, "X-Team", "Authorization"} {
			if v := c.header.Get(name); v != "" {
				b.WriteString(name + ": " + v + "\n")
			}
		}
		var body any
		if err := json.Unmarshal(c.body, &body); err != nil {
			t.Fatalf("the body is not JSON: %v: %s", err, c.body)
		}
		var text strings.Builder
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(body); err != nil {
			t.Fatal(err)
		}
		b.WriteString(text.String() + "\n")
	}
	return strings.ReplaceAll(b.String(), base, "BASE")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestSignature checks a signature as a receiver does.
func TestSignature(t *testing.T) {
	srv, calls := receiver(t, 204, "")
	c := channel(t, Options{Name: "ops", Format: JSON, URL: secretOf(t, srv.URL), Secret: secretOf(t, "k1")})
	if _, err := c.Send(t.Context(), opening(), alert.Receipt{}); err != nil {
		t.Fatal(err)
	}
	got := (*calls)[0]
	stamp := got.header.Get(HeaderTimestamp)
	check := func(key string, body []byte) bool {
		return hmac.Equal([]byte(got.header.Get(HeaderSignature)), []byte(Signature(key, stamp, body)))
	}
	if !check("k1", got.body) || check("k2", got.body) || check("k1", append(got.body, ' ')) {
		t.Error("the signature does not hold time, body and key together")
	}
	// echo -n '1772346060.{}' | openssl dgst -sha256 -hmac k1
	if stamp != "1772346060" || Signature("k1", stamp, []byte("{}")) != "v1="+opensslOfEmpty {
		t.Errorf("at %s the signature of {} is %s", stamp, Signature("k1", stamp, []byte("{}")))
	}
}

func TestSkips(t *testing.T) {
	f := func(format Format, act alert.Act, pages, want bool) {
		t.Helper()
		c := channel(t, Options{Name: "x", Format: format, URL: secretOf(t, "http://h/"), ChatID: "1"})
		n := alert.Notice{Act: act, Pages: pages}
		if got := c.Skips(n); got != want {
			t.Errorf("%s %s pages %v: skips %v", format, act, pages, got)
		}
	}
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActThread, alert.ActResolve, alert.ActTest} {
		f(JSON, act, false, false)
	}
	for _, format := range Formats()[1:] {
		f(format, alert.ActOpen, true, false)
		f(format, alert.ActUpdate, false, true)
		f(format, alert.ActThread, false, true)
		f(format, alert.ActThread, true, false) // an escalation
		f(format, alert.ActResolve, false, false)
		f(format, alert.ActTest, false, false)
	}
}

// TestAnswers gives robots' answers and wants what follows from them; no error holds a secret.
func TestAnswers(t *testing.T) {
	f := func(format Format, status int, answer, want string) {
		t.Helper()
		srv, _ := receiver(t, status, answer)
		o := Options{Name: "ops", Format: format, URL: secretOf(t, srv.URL+"/hook/t0ken-long"), Secret: secretOf(t, "s1gn"), APIURL: srv.URL, ChatID: "1"}
		if format == Telegram {
			o.URL = secretOf(t, "42:t0ken-long")
		}
		_, err := channel(t, o).Send(t.Context(), opening(), alert.Receipt{})
		got := "taken"
		if e, ok := errors.AsType[*alert.SendError](err); ok {
			switch {
			case e.Limited:
				got = "limited"
			case e.Lost:
				got = "lost"
			case e.Retryable:
				got = "retry"
			default:
				got = "blocked"
				if e.Fix == "" {
					t.Errorf("%s %q: no fix", format, answer)
				}
			}
			if strings.Contains(e.Error(), "t0ken-long") || strings.Contains(e.Error(), "s1gn") {
				t.Errorf("%s: the error shows a secret: %v", format, e)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s %d %q: %s (%v), want %s", format, status, answer, got, err, want)
		}
	}
	f(JSON, 200, "anything", "taken")
	f(JSON, 401, "bad signature t0ken-long", "blocked")
	f(JSON, 502, "", "retry")
	f(Feishu, 200, `{"StatusCode":0,"StatusMessage":"success"}`, "taken")
	f(Feishu, 200, `{"code":19021,"msg":"sign match fail or timestamp is not within one hour from current time"}`, "blocked")
	f(Feishu, 200, `{"code":19024,"msg":"Key Words Not Found"}`, "blocked")
	f(Feishu, 200, `{"code":19022,"msg":"Ip Not Allowed"}`, "blocked")
	f(Feishu, 200, `{"code":11232,"msg":"frequency limited psm"}`, "limited")
	f(Feishu, 400, `{"code":9499,"msg":"Bad Request"}`, "blocked")
	f(Feishu, 200, `<html>proxy</html>`, "lost")
	f(DingTalk, 200, `{"errcode":310000,"errmsg":"keywords not in content"}`, "blocked")
	f(DingTalk, 200, `{"errcode":130101,"errmsg":"send too fast"}`, "limited")
	f(DingTalk, 200, `{"errcode":410100,"errmsg":"too fast"}`, "limited")
	f(DingTalk, 200, `{"errcode":-1,"errmsg":"system busy"}`, "retry")
	f(DingTalk, 200, `{"errcode":300001,"errmsg":"token is not exist"}`, "blocked")
	f(WeCom, 200, `{"errcode":93000,"errmsg":"invalid webhook url"}`, "blocked")
	f(WeCom, 200, `{"errcode":45009,"errmsg":"api freq out of limit"}`, "limited")
	f(WeCom, 200, `{"errcode":-1,"errmsg":"system busy"}`, "retry")
	f(Teams, 202, "", "taken")
	f(Teams, 429, "", "limited")
	f(Telegram, 400, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, "blocked")
	f(Telegram, 401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`, "blocked")
	f(Telegram, 429, `{"ok":false,"error_code":429,"parameters":{"retry_after":9}}`, "limited")
	f(Telegram, 200, `{"ok":false}`, "blocked")
	f(Telegram, 200, ``, "lost")
}

// TestHugeMessagesFit sends what is far too long for each robot.
func TestHugeMessagesFit(t *testing.T) {
	n := opening()
	n.Message.Headline = strings.Repeat("很长的标题😀", 900)
	for range 300 {
		n.Message.Lines = append(n.Message.Lines, alert.Line{Role: "detail", Text: strings.Repeat("行\"<&>", 60)})
	}
	n.Message.Link = "https://serin.example/" + strings.Repeat("x", 3000)
	most := map[Format]int{Feishu: 20_000, DingTalk: 20_000, WeCom: 20_000, Teams: 28_000, Telegram: 40_000}
	for format, bound := range most {
		srv, calls := receiver(t, 200, taken()[format])
		o := Options{Name: "ops", Format: format, URL: secretOf(t, srv.URL), APIURL: srv.URL, ChatID: "1"}
		if _, err := channel(t, o).Send(t.Context(), n, alert.Receipt{}); err != nil {
			t.Fatal(format, err)
		}
		body := (*calls)[0].body
		if len(body) > bound || !utf8.Valid(body) {
			t.Errorf("%s: %d bytes, at most %d are taken", format, len(body), bound)
		}
		if !strings.Contains(string(body), "left out") {
			t.Errorf("%s: does not say what was left out", format)
		}
		var got struct {
			Text json.RawMessage `json:"text"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		switch format {
		case WeCom:
			var text struct{ Content string }
			if err := json.Unmarshal(got.Text, &text); err != nil || len(text.Content) > 2048 {
				t.Errorf("wecom: %d bytes of text, %v", len(text.Content), err)
			}
		case Telegram:
			var text string
			if err := json.Unmarshal(got.Text, &text); err != nil || units(text) > 4096 {
				t.Errorf("telegram: %d units of text, %v", units(text), err)
			}
		}
	}
}

// TestSecretsAreReadAnew changes a URL's file between two calls.
func TestSecretsAreReadAnew(t *testing.T) {
	first, calls1 := receiver(t, 200, "")
	second, calls2 := receiver(t, 200, "")
	path := t.TempDir() + "/url"
	write := func(text string, mtime time.Time) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, mtime, mtime)); err != nil {
			t.Fatal(err)
		}
	}
	write(first.URL, at)
	s, err := secret.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := channel(t, Options{Name: "ops", Format: JSON, URL: s})
	for _, step := range []string{first.URL, second.URL} {
		write(step, at.Add(time.Duration(len(*calls1))*time.Minute))
		if _, err := c.Send(t.Context(), opening(), alert.Receipt{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(*calls1) != 1 || len(*calls2) != 1 {
		t.Errorf("%d and %d calls, want 1 and 1", len(*calls1), len(*calls2))
	}
}

func TestNewRefuses(t *testing.T) {
	f := func(o Options) {
		t.Helper()
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	u := secretOf(t, "http://h/")
	f(Options{Format: JSON, URL: u})
	f(Options{Name: "x", Format: "fax", URL: u})
	f(Options{Name: "x", Format: JSON})
	f(Options{Name: "x", Format: Telegram, URL: u})
}

func TestTest(t *testing.T) {
	srv, calls := receiver(t, 200, "")
	found, err := channel(t, Options{Name: "ops", Format: JSON, URL: secretOf(t, srv.URL)}).Test(t.Context(), alert.Message{Severity: alert.Info, State: alert.MessageTest})
	if err != nil || len(found) != 1 || !found[0].OK || found[0].What != "webhook: test message delivered" {
		t.Errorf("%+v %v", found, err)
	}
	var d Document
	if err := json.Unmarshal((*calls)[0].body, &d); err != nil || d.Act != "test" || d.Severity != "info" {
		t.Errorf("%+v %v", d, err)
	}
}

// opensslOfEmpty was made by another implementation.
const opensslOfEmpty = "27671b8b7c3d0cf829824ba0b22fd7c3c679b20aa59d9d39c41b2e8d4f692f62"
