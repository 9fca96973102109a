package wire

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

func named(t testing.TB, name string) Protocol {
	t.Helper()
	pr, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

func TestDialectURLs(t *testing.T) {
	f := func(protocol, base, model, want string) {
		t.Helper()
		pr := named(t, protocol)
		if got, err := pr.URL(base, model); err != nil || got != want {
			t.Errorf("%s %q: %q, %v; want %q", protocol, base, got, err, want)
		}
	}
	f("openai-responses", "https://h/v1/", "m", "https://h/v1/responses")
	f("openai-responses", "https://h/v1?x=1", "m", "https://h/v1/responses?x=1")

	f("gemini", "https://h", "g-2.5", "https://h/v1beta/models/g-2.5:streamGenerateContent?alt=sse")
	f("gemini", "https://h/", "models/g", "https://h/v1beta/models/g:streamGenerateContent?alt=sse")
	f("gemini", "https://h/v1beta", "tunedModels/t", "https://h/v1beta/tunedModels/t:streamGenerateContent?alt=sse")
	f("gemini", "https://h/v1", "a/b", "https://h/v1/models/a%2Fb:streamGenerateContent?alt=sse")
	f("gemini", "https://h/gw/v1alpha/?x=1", "g", "https://h/gw/v1alpha/models/g:streamGenerateContent?alt=sse&x=1")
	f("gemini", "https://h?alt=sse", "g", "https://h/v1beta/models/g:streamGenerateContent?alt=sse")
	f("gemini", "https://h/v1/projects/p/locations/l/publishers/google", "g", "https://h/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse")
	f("gemini", "https://h/vertex", "g", "https://h/vertex/v1beta/models/g:streamGenerateContent?alt=sse")

	f("ollama", "http://h:11434", "m", "http://h:11434/api/chat")
	f("ollama", "http://h:11434/api/", "m", "http://h:11434/api/chat")
	f("ollama", "http://h/gw", "m", "http://h/gw/api/chat")

	f("azure-openai", "https://r.openai.azure.com", "dep", "https://r.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21")
	f("azure-openai", "https://r/openai/", "a b", "https://r/openai/deployments/a%20b/chat/completions?api-version=2024-10-21")
	f("azure-openai", "https://r?api-version=2025-04-01-preview", "dep", "https://r/openai/deployments/dep/chat/completions?api-version=2025-04-01-preview")
	f("azure-openai", "https://r?x=1", "dep", "https://r/openai/deployments/dep/chat/completions?api-version=2024-10-21&x=1")
	f("azure-openai", "https://r/openai/deployments", "dep", "https://r/openai/deployments/dep/chat/completions?api-version=2024-10-21")
	f("azure-openai", "https://r/openai/deployments/own", "m", "https://r/openai/deployments/own/chat/completions?api-version=2024-10-21")
	f("azure-openai", "https://r/openai/v1", "dep", "https://r/openai/v1/chat/completions")
	f("azure-openai", "https://r/openai/v1/?api-version=preview", "dep", "https://r/openai/v1/chat/completions?api-version=preview")
	f("azure-openai", "https://apim/team/openai/deployments/own?api-version=2024-06-01", "m", "https://apim/team/openai/deployments/own/chat/completions?api-version=2024-06-01")
}

func TestB99DialectsPasted(t *testing.T) {
	f := func(protocol, base, want string) {
		t.Helper()
		pr := named(t, protocol)
		got, ok := pr.Pasted(base)
		if got != want || ok != (want != "") {
			t.Errorf("%s %q: %q, %v; want %q", protocol, base, got, ok, want)
		}
		if again, twice := pr.Pasted(got); ok && twice {
			t.Errorf("%s: the fix %q is pasted too, fix %q", protocol, got, again)
		}
	}
	f("openai-responses", "https://h/v1/responses", "https://h/v1")
	f("openai-chat", "https://h/v1/responses", "https://h/v1")
	f("gemini", "https://h/v1beta/models/g-2.5:streamGenerateContent?alt=sse", "https://h?alt=sse")
	f("gemini", "https://h/v1beta/models/g-2.5:generateContent", "https://h")
	f("gemini", "https://h/v1/models/g:streamGenerateContent", "https://h/v1")
	f("openai-chat", "https://h/v1beta/models/g:generateContent", "https://h")
	f("ollama", "http://h:11434/api/chat", "http://h:11434")
	f("ollama", "http://h:11434/api/generate/", "http://h:11434")
	f("azure-openai", "https://r/openai/deployments/d/chat/completions?api-version=2024-06-01", "https://r/openai/deployments/d?api-version=2024-06-01")
	f("azure-openai", "https://r/openai/v1/chat/completions", "https://r/openai/v1")
	f("azure-openai", "https://r/openai/deployments/d", "")
	f("gemini", "https://h/v1beta", "")
	f("gemini", "https://h/models/a/b:generateContent", "")
	f("ollama", "http://h/api", "")
}

func TestModelsURLs(t *testing.T) {
	f := func(protocol, base, want string) {
		t.Helper()
		pr := named(t, protocol)
		got, err := pr.ModelsURL(base)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s %q: %q, %v; want %q", protocol, base, got, err, want)
		}
	}
	f("openai-chat", "https://h/v1/?x=1", "https://h/v1/models?x=1")
	f("openai-responses", "https://h/v1", "https://h/v1/models")
	f("anthropic", "https://h", "https://h/v1/models")
	f("anthropic", "https://h/v1/", "https://h/v1/models")
	f("gemini", "https://h", "https://h/v1beta/models?pageSize=1000")
	f("ollama", "http://h", "http://h/api/tags")
	f("ollama", "http://h/api", "http://h/api/tags")
	f("azure-openai", "https://r", "")
	f("openai-chat", "h", "")
}

func TestDialectKeys(t *testing.T) {
	f := func(protocol, auth, name, prefix string) {
		t.Helper()
		pr := named(t, protocol)
		if n, p := pr.Key(auth); n != name || p != prefix {
			t.Errorf("%s %q: %q %q", protocol, auth, n, p)
		}
	}
	f("openai-responses", "", "Authorization", "Bearer ")
	f("gemini", "", "X-Goog-Api-Key", "")
	f("gemini", "bearer", "Authorization", "Bearer ")
	f("openai-chat", "x-goog-api-key", "x-goog-api-key", "")
	f("ollama", "", "Authorization", "Bearer ")
	f("azure-openai", "", "Api-Key", "")
	f("azure-openai", "bearer", "Authorization", "Bearer ")
}

func TestDialectBodies(t *testing.T) {
	turns := []Turn{{"system", "s"}, {"user", "u"}, {"assistant", "a"}, {"user", "v"}}
	f := func(protocol string, a Ask, want string) {
		t.Helper()
		a.Model, a.MaxTokens = "m", 9
		got, err := json.Marshal(named(t, protocol).Body(a))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", protocol, got, err, want)
		}
	}
	extra := func(text string) (v map[string]any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	f("openai-responses", Ask{Turns: turns[1:2]}, `{"input":[{"role":"user","content":"u"}],"max_output_tokens":9,"model":"m","stream":true}`)
	f("openai-responses", Ask{Turns: turns[1:2], Effort: "low", Extra: extra(`{"reasoning":{"summary":"auto"},"store":false}`)},
		`{"input":[{"role":"user","content":"u"}],"max_output_tokens":9,"model":"m","reasoning":{"effort":"low","summary":"auto"},"store":false,"stream":true}`)
	f("gemini", Ask{Turns: turns}, `{"contents":[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"v"}]}],"generationConfig":{"maxOutputTokens":9},"systemInstruction":{"parts":[{"text":"s"}]}}`)
	f("gemini", Ask{Turns: turns[1:2], Effort: "low", Extra: extra(`{"generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"includeThoughts":true}}}`)},
		`{"contents":[{"role":"user","parts":[{"text":"u"}]}],"generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"low"}}}`)
	f("ollama", Ask{Turns: turns[:2]}, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"model":"m","options":{"num_predict":9},"stream":true}`)
	f("ollama", Ask{Turns: turns[1:2], Effort: "high", Extra: extra(`{"options":{"num_ctx":8192},"keep_alive":"10m"}`)},
		`{"keep_alive":"10m","messages":[{"role":"user","content":"u"}],"model":"m","options":{"num_ctx":8192,"num_predict":9},"stream":true,"think":"high"}`)
	f("ollama", Ask{Turns: turns[1:2], Effort: "none"}, `{"messages":[{"role":"user","content":"u"}],"model":"m","options":{"num_predict":9},"stream":true,"think":false}`)
	f("azure-openai", Ask{Turns: turns[1:2], MaxTokensField: "max_completion_tokens", Effort: "low"},
		`{"max_completion_tokens":9,"messages":[{"role":"user","content":"u"}],"model":"m","reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}}`)
}

// TestNamedFields: what the table calls the fields of cap and effort is where the bodies have them.
func TestNamedFields(t *testing.T) {
	at := func(body map[string]any, path string) any {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(path, ".") {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		return v
	}
	for _, pr := range Protocols() {
		body := pr.Body(Ask{Model: "m", MaxTokens: 9, Effort: "low"})
		if got := at(body, pr.MaxFields[0]); got != 9.0 {
			t.Errorf("%s: %s is %v", pr.Name, pr.MaxFields[0], got)
		}
		if got := at(body, pr.Effort); pr.Effort != "" && got != "low" {
			t.Errorf("%s: %s is %v", pr.Name, pr.Effort, got)
		}
		raw, err := json.Marshal(pr.Body(Ask{Model: "m", MaxTokens: 9}))
		if err != nil || strings.Contains(string(raw), "effort") || strings.Contains(string(raw), "think") || strings.Contains(string(raw), "temperature") {
			t.Errorf("%s sends what nobody asked for: %s", pr.Name, raw)
		}
	}
}

// TestSameCallCountsTheSame: 100 tokens in, 80 of them cached, 7 visible and 20 of reasoning out, in every dialect that
// can say so.
func TestSameCallCountsTheSame(t *testing.T) {
	for _, c := range []struct{ name, protocol, event string }{
		{"OpenAI chat", "openai-chat", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}}`},
		{"xAI: reasoning outside", "openai-chat", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}}`},
		{"DeepSeek: hit and miss", "openai-chat", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20,"completion_tokens_details":{"reasoning_tokens":20}}}`},
		{"OpenAI Responses", "openai-responses", `{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80},"output_tokens":27,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":127}}}`},
		{"Anthropic: no split", "anthropic", `{"type":"message_delta","delta":{},"usage":{"input_tokens":20,"cache_read_input_tokens":80,"cache_creation_input_tokens":0,"output_tokens":27}}`},
		{"Gemini: thoughts outside", "gemini", `{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":80,"candidatesTokenCount":7,"thoughtsTokenCount":20,"totalTokenCount":127}}`},
		{"Ollama: no split", "ollama", `{"done":true,"prompt_eval_count":100,"prompt_eval_cached_count":80,"eval_count":27}`},
		{"Azure OpenAI", "azure-openai", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}}`},
	} {
		pr := named(t, c.protocol)
		var p Piece
		if err := pr.Read(Event{Data: []byte(c.event)}, &p); err != nil {
			t.Fatal(err)
		}
		u := pr.Normalise(p.Usage)
		if u.Input.V != 100 || u.Cached.V != 80 || u.Output.V != 27 || u.CacheWrite.V != 0 {
			t.Errorf("%s: %+v", c.name, u)
		}
		if split := !strings.Contains(c.name, "no split"); u.Reasoning.Known != split || split && u.Reasoning.V != 20 {
			t.Errorf("%s: reasoning %+v", c.name, u.Reasoning)
		}
		if xai := strings.HasPrefix(c.name, "xAI"); u.Odd != xai {
			t.Errorf("%s: odd %v", c.name, u.Odd)
		}
	}
}

func TestGeminiCounts(t *testing.T) {
	f := func(usage string, in, out int64, odd bool) {
		t.Helper()
		var p Piece
		if err := decodeGemini([]byte(`{"usageMetadata":`+usage+`}`), &p); err != nil {
			t.Fatal(err)
		}
		u := thoughtsOutside(p.Usage)
		if u.Input.V != in || u.Output.V != out || u.Output.Known != (out > 0) || u.Odd != odd {
			t.Errorf("%s: %+v", usage, u)
		}
	}
	f(`{"promptTokenCount":9,"totalTokenCount":30,"thoughtsTokenCount":21}`, 9, 21, false)
	f(`{"promptTokenCount":9,"candidatesTokenCount":5,"thoughtsTokenCount":40,"totalTokenCount":54}`, 9, 45, false)
	f(`{"promptTokenCount":9,"toolUsePromptTokenCount":30,"candidatesTokenCount":5,"totalTokenCount":44}`, 39, 5, false)
	f(`{"promptTokenCount":9,"candidatesTokenCount":5,"totalTokenCount":44}`, 9, 5, true)
	f(`{"promptTokenCount":9,"totalTokenCount":9}`, 9, 0, false)
	f(`null`, 0, 0, false)
}

func TestB95CachedPromptIsNotCounted(t *testing.T) {
	for _, line := range []string{`{"done":true,"eval_count":5}`, `{"done":true,"prompt_eval_count":0,"eval_count":5}`, `{"done":true,"prompt_eval_count":null,"eval_count":5}`} {
		var p Piece
		if err := decodeOllama([]byte(line), &p); err != nil || p.Usage.Input.Known || p.Usage.Output.V != 5 {
			t.Errorf("%s: %+v, %v", line, p.Usage, err)
		}
	}
}

func TestAzureFaults(t *testing.T) {
	f := func(status int, body string, class Class) {
		t.Helper()
		if got := DecodeFault(status, []byte(body)); got.Class != class || got.Message == "" {
			t.Errorf("%d %s: %+v", status, body, got)
		}
	}
	f(400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`, ClassFilter)
	f(400, `{"error":{"message":"filtered","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, ClassFilter)
	f(400, `{"error":{"message":"filtered","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, ClassFilter)
	f(400, `{"error":{"message":"m","code":"BadRequest","innererror":{"code":"Something"}}}`, ClassBad)
	f(404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, ClassNotFound)
	f(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, ClassAuth)
	f(401, `{"statusCode":401,"message":"Unauthorized. Access token is missing, invalid"}`, ClassAuth)
	f(429, `{"error":{"code":"429","message":"Requests have exceeded call rate limit"}}`, ClassLimited)
}

func TestResponsesFaults(t *testing.T) {
	f := func(data string, class Class, message string) {
		t.Helper()
		var p Piece
		pr := openAIResponses()
		if err := pr.Read(Event{Data: []byte(data)}, &p); err != nil || p.Fault == nil {
			t.Fatalf("%s: %+v, %v", data, p, err)
		}
		if p.Fault.Class != class || p.Fault.Message != message || p.Fault.Type == "error" {
			t.Errorf("%s: %+v", data, *p.Fault)
		}
	}
	f(`{"type":"error","code":"ERR","message":"m","param":null}`, ClassUndefined, "m")
	f(`{"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"m"}}`, ClassLimited, "m")
	f(`{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"m"}}}`, ClassQuota, "m")
	f(`{"type":"response.failed","response":{"status":"failed","error":null}}`, ClassUndefined, "the response ended as failed")
	f(`{"type":"response.cancelled"}`, ClassUndefined, "the response ended as cancelled")
	f(`{"error":{"message":"m","code":429}}`, ClassLimited, "m")
	f(`{"error":"m"}`, ClassUndefined, "m")
	f(`{"detail":"m"}`, ClassUndefined, "m")
	var p Piece
	whole := `{"id":"r","object":"response","status":"completed","model":"x","error":null,"usage":{"input_tokens":9,"output_tokens":5}}`
	if err := decodeResponses([]byte(whole), &p); err != nil || p.Fault != nil || p.Usage.Output.V != 5 || p.Model != "x" {
		t.Errorf("a whole answer: %+v, %v", p, err)
	}
}

func TestOllamaLoad(t *testing.T) {
	var p Piece
	if err := decodeOllama([]byte(`{"done":true,"done_reason":"load","load_duration":3000000000}`), &p); err != nil || p.Load != 3*time.Second || p.Finish != "load" || p.Terminal != Done {
		t.Errorf("%+v, %v", p, err)
	}
}

// fuzzDecoder feeds anything to one protocol's decoder, with its transcripts as seeds.
func fuzzDecoder(f *testing.F, name string) {
	pr := named(f, name)
	for _, file := range transcripts(f, pr) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if data := strings.TrimSpace(strings.TrimPrefix(line, "data: ")); strings.HasPrefix(data, "{") || strings.HasPrefix(data, "[") {
				f.Add([]byte(data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return // events have data
		}
		var p Piece
		if pr.Read(Event{Data: data}, &p) != nil {
			return
		}
		if p.Kind == 0 && len(p.Text) > 0 {
			t.Fatalf("text %q without a kind", p.Text)
		}
		if p.Kind != 0 && p.Kind.Label() == "" {
			t.Fatalf("kind %d has no name", p.Kind)
		}
		for _, u := range []Usage{p.Usage, pr.Normalise(p.Usage)} {
			for _, c := range []Num{u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning, u.Total} {
				if c.V < 0 {
					t.Fatalf("negative count in %+v", u)
				}
			}
		}
	})
}

func FuzzOpenAIChat(f *testing.F)      { fuzzDecoder(f, "openai-chat") }
func FuzzAnthropic(f *testing.F)       { fuzzDecoder(f, "anthropic") }
func FuzzOpenAIResponses(f *testing.F) { fuzzDecoder(f, "openai-responses") }
func FuzzGemini(f *testing.F)          { fuzzDecoder(f, "gemini") }
func FuzzOllama(f *testing.F)          { fuzzDecoder(f, "ollama") }
func FuzzAzureOpenAI(f *testing.F)     { fuzzDecoder(f, "azure-openai") }
