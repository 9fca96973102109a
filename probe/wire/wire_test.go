package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	f := func(protocol, base, want string) {
		t.Helper()
		pr, err := Find(protocol)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pr.URL(base, "m")
		if err != nil || got != want {
			t.Errorf("%s %q: %q, %v; want %q", protocol, base, got, err, want)
		}
	}
	f("openai-chat", "https://h/v1", "https://h/v1/chat/completions")
	f("openai-chat", "https://h/v1/", "https://h/v1/chat/completions")
	f("openai-chat", "https://h/v1//", "https://h/v1/chat/completions")
	f("openai-chat", "https://h", "https://h/chat/completions")
	f("openai-chat", "http://h:8080/a%20b/v1?x=1&y=2", "http://h:8080/a%20b/v1/chat/completions?x=1&y=2")
	f("openai-chat", " https://h/v1 ", "https://h/v1/chat/completions")
	f("anthropic", "https://h", "https://h/v1/messages")
	f("anthropic", "https://h/", "https://h/v1/messages")
	f("anthropic", "https://h/v1", "https://h/v1/messages")
	f("anthropic", "https://h/claude/v1/", "https://h/claude/v1/messages")
	for _, bad := range []string{"", "h/v1", "ftp://h", "http://", "https://u:p@h/v1", "http://h\x00"} {
		pr := openAIChat()
		if _, err := pr.URL(bad, "m"); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestB99Pasted(t *testing.T) {
	f := func(protocol, base, want string) {
		t.Helper()
		pr, err := Find(protocol)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := pr.Pasted(base); got != want || ok != (want != "") {
			t.Errorf("%s %q: %q, %v; want %q", protocol, base, got, ok, want)
		}
	}
	f("openai-chat", "https://h/v1/chat/completions", "https://h/v1")
	f("openai-chat", "https://h/v1/chat/completions/?x=1", "https://h/v1?x=1")
	f("openai-chat", "https://h/v1/messages", "https://h")
	f("anthropic", "https://h/v1/messages", "https://h")
	f("anthropic", "https://h/v1/chat/completions", "https://h/v1")
	f("openai-chat", "https://h/v1", "")
	f("anthropic", "https://h", "")
	f("openai-chat", "not a url", "")
}

func TestKeyHeader(t *testing.T) {
	f := func(protocol, auth, name, prefix string) {
		t.Helper()
		pr, err := Find(protocol)
		if err != nil {
			t.Fatal(err)
		}
		if n, p := pr.Key(auth); n != name || p != prefix {
			t.Errorf("%s %q: %q %q", protocol, auth, n, p)
		}
	}
	f("openai-chat", "", "Authorization", "Bearer ")
	f("openai-chat", "api-key", "api-key", "")
	f("openai-chat", "none", "", "")
	f("anthropic", "", "X-Api-Key", "")
	f("anthropic", "bearer", "Authorization", "Bearer ")
	if _, err := Find("nope"); err == nil || !strings.Contains(err.Error(), "openai-chat, anthropic") {
		t.Errorf("unknown protocol: %v", err)
	}
}

func TestBodies(t *testing.T) {
	turns := []Turn{{"system", "s"}, {"user", "u"}}
	f := func(pr Protocol, a Ask, want string) {
		t.Helper()
		got, err := json.Marshal(pr.Body(a))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", pr.Name, got, err, want)
		}
	}
	f(openAIChat(), Ask{Model: "m", Turns: turns, MaxTokens: 9}, `{"max_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`)
	f(openAIChat(), Ask{Model: "m", MaxTokens: 9, MaxTokensField: "max_completion_tokens", NoStreamOptions: true}, `{"max_completion_tokens":9,"messages":[],"model":"m","stream":true}`)
	f(openAIChat(), Ask{Model: "m", MaxTokens: 9, NoStreamOptions: true, Extra: map[string]any{"max_completion_tokens": 5, "model": "n"}}, `{"max_completion_tokens":5,"messages":[],"model":"n","stream":true}`)
	f(anthropic(), Ask{Model: "m", Turns: turns, MaxTokens: 9, Extra: map[string]any{"thinking": 1}}, `{"max_tokens":9,"messages":[{"role":"user","content":"u"}],"model":"m","stream":true,"system":"s","thinking":1}`)
}

func TestFaults(t *testing.T) {
	f := func(status int, body string, class Class, code, message string) {
		t.Helper()
		got := DecodeFault(status, []byte(body))
		if got.Class != class || got.Code != code || got.Message != message {
			t.Errorf("%d %s: %+v", status, body, got)
		}
	}
	f(401, `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, ClassAuth, "invalid_api_key", "m")
	f(429, `{"error":{"message":"m","type":"insufficient_quota","code":null}}`, ClassQuota, "", "m")
	f(429, `{"error":{"message":"m","type":"tokens","code":"rate_limit_exceeded"}}`, ClassLimited, "rate_limit_exceeded", "m")
	f(0, `{"error":"text"}`, ClassUndefined, "", "text")
	f(0, `{"detail":"text"}`, ClassUndefined, "", "text")
	f(422, `{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"m"}]}`, ClassBad, "", "m")
	f(0, `{"object":"error","message":"m","code":404}`, ClassNotFound, "404", "m")
	f(503, `[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]`, ClassOverload, "503", "m")
	f(0, `{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"r"}`, ClassOverload, "", "m")
	f(502, "<html>gone</html>", ClassServer, "", "<html>gone</html>")
	f(400, `{"error":{"code":"content_filter","message":"m","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, ClassFilter, "content_filter", "m")
	f(500, "", ClassServer, "", "")
	got := DecodeFault(429, []byte(`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"t","retryDelay":"17s"}]}}`))
	if got.RetryDelay.Seconds() != 17 || got.Class != ClassLimited {
		t.Errorf("%+v", got)
	}
}

func TestHealthyEventsAreNoFault(t *testing.T) {
	for _, data := range []string{`{"error":null,"choices":[]}`, `{"error":{},"choices":[]}`, `{"error":"","choices":[]}`, `{"choices":[],"message":"x","code":0}`, `{"choices":[],"message":"x"}`, `{"id":"x"}`, `{"usage":{"prompt_tokens":1},"detail":"x"}`} {
		var p Piece
		if err := decodeChat([]byte(data), &p); err != nil || p.Fault != nil {
			t.Errorf("%s: %+v, %v", data, p.Fault, err)
		}
	}
}

func TestNamesAWholeWord(t *testing.T) {
	f := Fault{Message: "Unsupported parameter: 'max_tokens_x', use max_tokens."}
	if !f.Names("max_tokens") || f.Names("max") || (&Fault{Message: "max_completion_tokens"}).Names("max_tokens") {
		t.Error("names")
	}
}
