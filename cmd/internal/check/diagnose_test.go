package check

import (
	"errors"
	"strings"
	"testing"
	"time"

	"serin/probe"
	"serin/probe/secret"
)

// TestDiagnose holds each classic failure against the words that name its fix.
func TestDiagnose(t *testing.T) {
	key := func(v string) secret.Secret {
		s, err := secret.FromValue("environment variable K", v)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	f := func(name string, o probe.Outcome, change func(*Findings), want ...string) {
		t.Helper()
		target := probe.DefaultTarget()
		target.Name, target.BaseURL, target.Model = "gw", "http://h/v1", "m"
		x := Findings{Target: &target, Sample: &probe.Sample{Outcome: o}, Diary: &probe.Diary{URL: "http://h/v1/chat/completions"},
			Models: func() ([]string, error) { return nil, errors.New("no list") }}
		x.Canary = &probe.Canary{Target: &target, Size: probe.Short}
		if change != nil {
			change(&x)
		}
		text := strings.Join(diagnose(x), "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q does not say %q", name, text, w)
			}
		}
		if len(want) == 0 && text != "" {
			t.Errorf("%s: %q, want nothing", name, text)
		}
	}
	f("healthy", probe.OK, func(x *Findings) { x.Sample.OutputTokens = probe.Some[int64](10) })
	f("no key", probe.Auth, nil, "no key was sent", "api_key_env")
	f("wrong key", probe.Auth, func(x *Findings) { x.Target.APIKey = key("sk-1") }, "environment variable K", "model m")
	f("oauth token", probe.Auth, func(x *Findings) { x.Target.Protocol = "anthropic"; x.Target.APIKey = key("sk-ant-oat01-x") }, `auth = "bearer"`)
	f("api key as bearer", probe.Auth, func(x *Findings) {
		x.Target.Protocol, x.Target.Auth, x.Target.APIKey = "anthropic", "bearer", key("sk-ant-api03-x")
	}, "leave auth out")
	f("other vendor's key", probe.Auth, func(x *Findings) { x.Target.APIKey = key("sk-ant-api03-x") }, `protocol = "anthropic"`)
	f("not expanded", probe.Auth, func(x *Findings) { x.Target.APIKey = key("$KEY") }, "not expanded")
	f("quoted", probe.Auth, func(x *Findings) { x.Target.APIKey = key(`"sk-1"`) }, "quotes")
	f("no v1", probe.NotFound, func(x *Findings) { x.Target.BaseURL = "http://h" }, "try http://h/v1")
	f("double v1", probe.NotFound, func(x *Findings) { x.Diary.URL = "http://h/v1/v1/chat/completions" }, "/v1 twice")
	f("model", probe.NotFound, func(x *Findings) {
		x.Target.Model = "qwen-72"
		x.Models = func() ([]string, error) { return []string{"llama-8b", "qwen2.5-72b", "qwen-7b"}, nil }
	}, `no model "qwen-72"`, "qwen-7b")
	f("dead proxy", probe.Connect, func(x *Findings) {
		x.Diary.Proxy, x.Diary.Cause = "http://127.0.0.1:3128", probe.Cause{Phase: "proxy", Kind: "refused", Detail: "refused"}
	}, "proxy http://127.0.0.1:3128", "NO_PROXY")
	f("refused", probe.Connect, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "connect", Kind: "refused"} }, "nothing listens")
	f("hanging connect", probe.TimeoutConnect, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "connect", Kind: "timeout"} }, "connect_timeout (10s", "firewall")
	f("dns", probe.DNS, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "dns", Kind: "no_such_host"} }, "does not exist")
	f("authority", probe.TLS, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "tls", Kind: "unknown_authority"} }, "ca_file")
	f("expired", probe.TLS, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "tls", Kind: "expired"} }, "out of its dates")
	f("name", probe.TLS, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "tls", Kind: "name_mismatch"} }, "another name")
	f("plain http", probe.TLS, func(x *Findings) { x.Diary.Cause = probe.Cause{Phase: "tls", Kind: "plain_http"} }, "http:// in base_url")
	f("html", probe.NotSSE, func(x *Findings) { x.Diary.ContentType = "text/html" }, "HTML page")
	f("json", probe.NotSSE, func(x *Findings) { x.Diary.ContentType = "application/json" }, "instead of a stream")
	f("redirect", probe.Redirect, func(x *Findings) { x.Diary.Headers = map[string]string{"location": "https://new/v1"} }, "https://new/v1")
	f("buffered", probe.OK, func(x *Findings) {
		x.Sample.Flags, x.Sample.OutputTokens = []probe.Flag{probe.BufferedSuspect}, probe.Some[int64](10)
	}, "buffers")
	f("held back", probe.OK, func(x *Findings) {
		x.Sample.Flags, x.Sample.OutputTokens, x.Sample.Chunks = []probe.Flag{probe.BufferedSuspect}, probe.Some[int64](200), 2
		x.Sample.TTFT, x.Sample.E2E = probe.Known(176*time.Millisecond), probe.Known(190*time.Millisecond)
		x.Sample.StreamTotal, x.Sample.Trailer = probe.Known(7400*time.Millisecond), probe.Known(7210*time.Millisecond)
	}, "only 2 pieces came, the last at 190 ms", "went on for 7.21 s")
	f("in blocks", probe.OK, func(x *Findings) {
		x.Sample.Flags, x.Sample.OutputTokens, x.Sample.Chunks = []probe.Flag{probe.BufferedSuspect}, probe.Some[int64](20), 20
		x.Sample.TTFT, x.Sample.MaxGap = probe.Known(176*time.Millisecond), probe.Known(3*time.Second)
	}, "in blocks", "3.00 s")
	late := func(ttfb, ttft, rtt time.Duration, in int64) func(*Findings) {
		return func(x *Findings) {
			x.Sample.Sent, x.Sample.TTFB, x.Sample.TTFT = probe.Known(time.Millisecond), probe.Known(ttfb), probe.Known(ttft)
			x.Sample.InputTokens, x.Sample.OutputTokens = probe.Some(in), probe.Some[int64](100)
			if rtt > 0 {
				x.Sample.RTT = probe.Known(rtt)
			}
		}
	}
	const ms = time.Millisecond
	f("long prefill", probe.OK, late(40*ms, 8001*ms, 5*ms, 4000), "8.00 s after the request was sent, 7.96 s of it after the response had begun", "prefill of 4000 input tokens, or a queue", "not the network (one round trip takes 5.00 ms)")
	f("queue", probe.OK, late(6000*ms, 6001*ms, 0, 30), "6.00 s after the request was sent: a queue", "the prompt is short; not the network")
	f("slow network", probe.OK, late(2000*ms, 2401*ms, 800*ms, 30), "at a round trip of 800 ms: the network is slow")
	f("in time", probe.OK, late(40*ms, 2000*ms, 0, 30))
	f("loading", probe.OK, func(x *Findings) {
		late(9000*ms, 9001*ms, 0, 30)(x)
		x.Sample.Load = probe.Known(8 * time.Second)
	})
	gzipped := func(x *Findings) {
		x.Sample.Flags, x.Sample.OutputTokens, x.Diary.Encoding = []probe.Flag{probe.Gzip}, probe.Some[int64](10), "gzip"
	}
	f("gzip", probe.OK, gzipped, "Content-Encoding: gzip", "asked for identity", "gzip off")
	f("gzip unread", probe.NotSSE, gzipped, "Content-Encoding: gzip", "gzip off")
	f("x-api-key wanted", probe.Auth, func(x *Findings) {
		x.Target.APIKey, x.Diary.Snippet = key("sk-1"), `{"error":{"message":"missing x-api-key header"}}`
	}, `auth = "x-api-key"`, `protocol = "anthropic"`)
	f("api-key wanted", probe.Auth, func(x *Findings) { x.Target.APIKey, x.Sample.Reason = key("sk-1"), "HTTP 401: api-key is missing" }, `auth = "api-key"`)
	f("bearer wanted", probe.Auth, func(x *Findings) {
		x.Target.Protocol, x.Target.APIKey, x.Sample.Reason = "anthropic", key("sk-ant-api03-1"), "HTTP 401: Missing Authorization header"
	}, `auth = "bearer"`)
	f("v1 too much", probe.NotFound, func(x *Findings) { x.Target.BaseURL = "http://h/gw/v1/" }, "without /v1: try http://h/gw")
	f("budget eaten", probe.Empty, func(x *Findings) { x.Sample.Reason = probe.ReasonBudgetEaten }, "max_tokens")
	f("first token", probe.TimeoutFirstToken, nil, "first_token_timeout (30s)")
	f("error object", probe.StreamError, func(x *Findings) { x.Diary.Snippet = "boom" }, "error", "boom")
}
