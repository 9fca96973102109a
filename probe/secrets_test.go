package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"serin/probe/prompt"
	"serin/probe/secret"
)

const key = "sk-proj-0123456789abcdefghij"

func keyed(t *testing.T) *Canary {
	t.Helper()
	c := testCanary()
	secret, err := secret.FromValue("test", key)
	if err != nil {
		t.Fatal(err)
	}
	c.Target.APIKey = secret
	return c
}

// TestB112KeyNeverLeaves lets the server put the key everywhere, and looks for it in all that comes out.
func TestB112KeyNeverLeaves(t *testing.T) {
	part := key[:14]
	for _, c := range []struct {
		name   string
		script []step
	}{
		{"error echoes the headers", answer(500, `{"error":{"message":"headers: Authorization: Bearer `+key+`"}}`)},
		{"401 quotes part of the key", answer(401, `{"error":{"message":"Incorrect API key provided: `+part+`***ghij","code":"`+key+`","type":"`+key+`"}}`)},
		{"html", answer(502, "<p>"+key+"</p>")},
		{"headers", answer(429, key, "X-Request-Id: "+key, "X-Ratelimit-"+part+": "+key, "Content-Type: "+key, "Server: "+key)},
		{"location", answer(307, "", "Location: http://x.test/"+key)},
		{"stream", steps(E(`{"model":"`+key+`","system_fingerprint":"`+key+`","choices":[{"delta":{"content":"`+key+`"}}]}`), fin(key), done(), end())},
		{"stream error", steps(E(`{"error":{"message":"`+key+`","code":"`+key+`"}}`), end())},
		{"not JSON", steps(E(`{"x":`+key), end())},
		{"not SSE", answer(200, `{"id":"`+key+`"}`)},
		{"not HTTP", steps(step(func(s *side) error { _, err := s.conn.Write([]byte(key + "\r\n\r\n")); return err }), cutOff())},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := scripted(c.script)
			s, d := probeDiary(t, srv, keyed(t))
			if got := srv.requests[0].Header.Get("Authorization"); got != "Bearer "+key {
				t.Errorf("sent %q", got)
			}
			asJSON, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			all := string(asJSON) + fmt.Sprintf("%+v %+v", s, d)
			for i := 0; i+secret.Least <= len(key); i++ {
				if strings.Contains(all, key[i:i+secret.Least]) {
					t.Fatalf("%q of the key is in %s", key[i:i+secret.Least], all)
				}
			}
		})
	}
}

func TestRedactorIsAsked(t *testing.T) {
	r := &secret.Redactor{}
	other, err := secret.FromValue("slack", "xoxb-other-secret")
	if err != nil {
		t.Fatal(err)
	}
	r.Add(other)
	p := New(Options{Redactor: r, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("proxy said xoxb-other-secret")
	}})
	defer p.Close()
	s, _ := p.Do(t.Context(), Shot{Canary: testCanary()})
	if strings.Contains(s.Reason, "xoxb") || !strings.Contains(s.Reason, "***") {
		t.Errorf("reason %q", s.Reason)
	}
}

func TestKeyFileIsReadAgainAfter401(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("old-key1\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret, err := secret.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := testCanary()
	c.Target.APIKey = secret
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(answer(401, ""), okScript())
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		// Same size and same time: only the 401 makes it look again.
		if err := os.WriteFile(path, []byte("new-key1\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		first, _ := p.Do(t.Context(), Shot{Canary: c})
		second, _ := p.Do(t.Context(), Shot{Canary: c})
		wantOutcome(t, first, Auth, "")
		wantOutcome(t, second, OK, "")
		if a, b := srv.requests[0].Header.Get("Authorization"), srv.requests[1].Header.Get("Authorization"); a != "Bearer old-key1" || b != "Bearer new-key1" {
			t.Errorf("sent %q, %q", a, b)
		}
	})
}

func TestRequestAsSent(t *testing.T) {
	t.Setenv("TENANT", "t-1")
	c := keyed(t)
	c.Target.BaseURL = "http://gw.test/v1/?api-version=7"
	c.Target.Headers = map[string]string{"X-Team": "sre", "user-agent": "curl", "Accept-Encoding": "gzip"}
	c.Target.HeadersEnv = map[string]string{"X-Tenant": "TENANT"}
	c.Target.ExtraBody = map[string]any{"seed": 7}
	c.Target.Traceparent = true
	c.Prompts = []prompt.Prompt{{ID: "a", System: "sys", User: "one"}, {ID: "b", User: "two"}}
	srv := scripted(okScript())
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Version: "1.2", Dial: srv.dial})
		defer p.Close()
		for range 3 {
			s, _ := p.Do(t.Context(), Shot{Canary: c})
			if len(s.TraceID) != 32 || !strings.HasPrefix(srv.requests[len(srv.requests)-1].Header.Get("Traceparent"), "00-"+s.TraceID+"-") {
				t.Errorf("trace %q", s.TraceID)
			}
		}
		req := srv.requests[0]
		for name, want := range map[string]string{"User-Agent": "serin/1.2 (canary)", "Accept-Encoding": "identity", "X-Team": "sre", "X-Tenant": "t-1", "Content-Type": "application/json"} {
			if got := req.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if req.RequestURI != "/v1/chat/completions?api-version=7" || req.Method != "POST" {
			t.Errorf("%s %s", req.Method, req.RequestURI)
		}
		shown, err := p.Render(c, "$KEY")
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(shown.Header); !strings.Contains(text, "Bearer $KEY") || !strings.Contains(text, "$TENANT") || strings.Contains(text, key) {
			t.Errorf("rendered %s", text)
		}
	})
	var bodies [3]struct {
		Messages []struct{ Role, Content string }
		Stream   bool
		Seed     int
		Options  map[string]bool `json:"stream_options"`
		Max      int             `json:"max_tokens"`
	}
	nonces := map[string]bool{}
	for i := range bodies {
		if err := json.Unmarshal([]byte(srv.bodies[i]), &bodies[i]); err != nil {
			t.Fatal(err)
		}
		nonce, _, _ := strings.Cut(bodies[i].Messages[0].Content, "\n")
		nonces[nonce] = true
		if strings.Contains(srv.bodies[i], "temperature") {
			t.Errorf("body %s", srv.bodies[i])
		}
	}
	b := bodies[0]
	if !b.Stream || b.Seed != 7 || !b.Options["include_usage"] || b.Max != 4096 || len(b.Messages) != 2 || len(bodies[1].Messages) != 1 || len(bodies[2].Messages) != 2 {
		t.Errorf("bodies %+v", bodies)
	}
	if len(nonces) != 3 {
		t.Errorf("nonces %v", nonces)
	}
}

func TestOwnFaultsAreClient(t *testing.T) {
	p := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("must not dial") }})
	f := func(change func(*Target), reason string) {
		t.Helper()
		c := testCanary()
		change(c.Target)
		s, err := p.Do(t.Context(), Shot{Canary: c})
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, s, Client, reason)
	}
	f(func(t *Target) { t.HeadersEnv = map[string]string{"X": "SERIN_TEST_NOT_SET"} }, "SERIN_TEST_NOT_SET")
	f(func(t *Target) { t.CAFile = "/does/not/exist" }, "ca_file")
	f(func(t *Target) { t.CAFile = "/dev/zero" }, "name a plain file")
	f(func(t *Target) { t.BaseURL = "gw.test" }, "http://")
	f(func(t *Target) { t.Headers = map[string]string{"X": "a\nb"} }, "invalid header field value")
	f(func(t *Target) { t.Proxy = "::" }, "proxy")
	if _, err := p.Do(t.Context(), Shot{}); err == nil {
		t.Error("no error without a canary")
	}
	p.Close()
	if _, err := p.Do(t.Context(), Shot{Canary: testCanary()}); err == nil {
		t.Error("no error after Close")
	}
}

func TestSpec(t *testing.T) {
	base := Spec(testCanary())
	if len(base) != 16 || Spec(testCanary()) != base {
		t.Fatalf("spec %q", base)
	}
	f := func(name string, differs bool, change func(*Canary)) {
		t.Helper()
		c := testCanary()
		change(c)
		if (Spec(c) != base) != differs {
			t.Errorf("%s: spec %s, base %s", name, Spec(c), base)
		}
	}
	f("model", true, func(c *Canary) { c.Target.Model = "n" })
	f("host", true, func(c *Canary) { c.Target.BaseURL = "http://other.test/v1" })
	f("path", false, func(c *Canary) { c.Target.BaseURL = "http://gw.test/v1/" })
	f("cap", true, func(c *Canary) { c.Target.MaxTokens = 5 })
	f("cache", true, func(c *Canary) { c.Target.Cache = "keep" })
	f("extra", true, func(c *Canary) { c.Target.ExtraBody = map[string]any{"seed": 1} })
	f("region", true, func(c *Canary) { c.Region = "eu" })
	f("prompt", true, func(c *Canary) { c.Prompts = []prompt.Prompt{{ID: "p", User: "Why?"}} })
	f("timeout", false, func(c *Canary) { c.Target.StallTimeout = 1 })
	f("name", false, func(c *Canary) { c.Target.Name = "other" })
}

func TestExpectAndMemory(t *testing.T) {
	srv := scripted(steps(E(`{"model":"m1"}`), okScript()), steps(E(`{"model":"m2"}`), tok("a"), times(9, tok("b")), tail("stop", 10)))
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Dial: srv.dial, Instance: "i", Region: "r"})
		defer p.Close()
		c := testCanary()
		c.Expect = &prompt.Expect{Contains: "ab"}
		first, _ := p.Do(t.Context(), Shot{Canary: c, Spec: "s", Trigger: Check})
		c.Expect = &prompt.Expect{Contains: "x"}
		second, _ := p.Do(t.Context(), Shot{Canary: c})
		if first.Check != "pass" || second.Check != "fail" || second.Outcome != OK {
			t.Errorf("checks %q, %q", first.Check, second.Check)
		}
		if first.Instance != "i" || first.Region != "r" || first.Spec != "s" || first.Trigger != Check {
			t.Errorf("identity %+v", first)
		}
		if !second.Has(ModelChanged) || !second.Has(SameAnswer) || first.Has(ModelChanged) || first.Has(SameAnswer) {
			t.Errorf("flags %v, %v", first.Flags, second.Flags)
		}
	})
}

// TestModelsAreRedacted: an endpoint may echo the key where a model's name is due.
func TestModelsAreRedacted(t *testing.T) {
	srv := scripted(answer(200, `{"data":[{"id":"`+key+`"},{"id":"org/`+strings.ToUpper(key)+`"},{"id":"qwen-7b"}]}`, "Content-Type: application/json"))
	defer srv.stop()
	p := New(Options{Dial: srv.dial})
	defer p.Close()
	names, err := p.Models(t.Context(), keyed(t).Target)
	if want := []string{"***", "org/***", "qwen-7b"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names %q, %v; want %q", names, err, want)
	}
	if got := srv.requests[0].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("sent %q", got)
	}
	if http.MethodGet != srv.requests[0].Method {
		t.Errorf("method %s", srv.requests[0].Method)
	}
}
