package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// place is a dialect's URL with a good request.
type place struct{ name, path, body string }

func places() []place {
	turns := `"messages":[{"role":"user","content":"say something"}]`
	return []place{
		{"chat", chatPath, chatBody},
		{"messages", messagesPath, messagesBody},
		{"responses", "/v1/responses", `{"model":"m","stream":true,"max_output_tokens":100,"input":[{"role":"user","content":"say something"}]}`},
		{"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"say something"}]}],"generationConfig":{"maxOutputTokens":100}}`},
		{"gemini array", "/v1beta/models/m:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"say something"}]}],"generationConfig":{"maxOutputTokens":100}}`},
		{"ollama", "/api/chat", `{"model":"m","options":{"num_predict":100},` + turns + `}`},
		{"azure deployment", "/openai/deployments/m/chat/completions?api-version=2024-10-21", `{"model":"x","stream":true,"max_tokens":100,` + turns + `}`},
		{"azure v1", "/openai/v1/chat/completions", `{"model":"m","stream":true,"max_tokens":100,` + turns + `}`},
	}
}

// writes names what was written of tokens and ends, with the milliseconds since arrival.
func writes(r Record) []string {
	var list []string
	for _, w := range r.Writes {
		if w.What == WroteToken || w.What == WroteReasoning || w.What == WroteFinish || w.What == WroteError {
			list = append(list, fmt.Sprintf("%d %s", w.At.Sub(r.Arrived).Milliseconds(), w.What))
		}
	}
	return list
}

func TestEveryDialectKeepsThePlan(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			behaviour := brisk()
			behaviour.Reasoning = 1
			serve(t, Options{Default: behaviour}, func(b *bench) {
				g := b.post(p.path, p.body)
				r := last1(b.Records())
				want := []string{"300 reasoning", "320 token", "340 token", "360 token", "360 finish"}
				if diff := cmp.Diff(want, writes(r)); diff != "" || g.err != nil || g.status != 200 || r.Model != "m" || r.Input != 8 {
					t.Errorf("%s %v %d %q %d\n%s", diff, g.err, g.status, r.Model, r.Input, g.raw)
				}
				g = b.post(p.path, strings.Replace(p.body, "100", "2", 1))
				if strings.Contains(p.body, "100") && !strings.Contains(g.raw, "length") && !strings.Contains(g.raw, "MAX_TOKENS") && !strings.Contains(g.raw, "max_") {
					t.Errorf("two tokens are not said to be cut: %s", g.raw)
				}
			})
		})
	}
}

func TestEveryDialectHasTheFaults(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			serve(t, Options{}, func(b *bench) {
				f := func(behaviour Behaviour, want ...string) got {
					t.Helper()
					b.Set("", behaviour)
					g := b.post(p.path, p.body)
					if diff := cmp.Diff(want, writes(last1(b.Records()))); diff != "" {
						t.Errorf("%s: %s", behaviour.Fault.Kind, diff)
					}
					return g
				}
				f(with(Cut, after(2)), "300 token", "320 token")
				f(with(Empty), "0 finish")
				f(with(Error, after(1)), "300 token", "300 error")
				f(with(Error), "0 error")
				if g := f(with(Status, func(f *Fault) { f.Status = 503 }), "0 error"); g.status != 503 || !json.Valid([]byte(g.raw)) {
					t.Errorf("%d %s", g.status, g.raw)
				}
				if g := f(with(Reset, after(1)), "300 token"); g.err == nil {
					t.Error("a reset is no error")
				}
				if g := f(with(Buffer)); g.took != 360*time.Millisecond || len(last1(b.Records()).Writes) != 1 {
					t.Errorf("buffered: %v", g.took)
				}
				if g := f(with(HTML)); !strings.Contains(g.raw, "<!doctype") {
					t.Errorf("%s", g.raw)
				}
			})
		})
	}
}

func TestDialectsInOnePiece(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		f := func(path, body string, want ...string) {
			t.Helper()
			g := b.post(path, body)
			if g.took != 360*time.Millisecond || !json.Valid([]byte(g.raw)) || g.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v %s", path, g.took, g.raw)
			}
			for _, s := range want {
				if !strings.Contains(g.raw, s) {
					t.Errorf("%s: no %s in %s", path, s, g.raw)
				}
			}
		}
		f("/v1/responses", `{"model":"m","input":"say something","instructions":"be short"}`, `"object":"response"`, `"status":"completed"`, `"output_tokens":4`)
		f("/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"say something"}]}]}`, `"finishReason":"STOP"`, `"candidatesTokenCount":4`)
		f("/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"say"}]}`, `"done":true`, `"eval_count":4`)
		f("/openai/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"say"}]}`, `"completion_tokens":4`)
	})
}

func TestDialectRefusals(t *testing.T) {
	serve(t, Options{Models: []string{"m"}, Key: "k", Default: brisk()}, func(b *bench) {
		f := func(path, body string, status int, want string, header ...string) {
			t.Helper()
			g := b.post(path, body, header...)
			if g.status != status || !strings.Contains(g.raw, want) || !json.Valid([]byte(g.raw)) {
				t.Errorf("%s: %d %s, want %d %s", path, g.status, g.raw, status, want)
			}
		}
		google, azure := []string{"X-Goog-Api-Key", "k"}, []string{"Api-Key", "k"}
		all := places()
		f(all[3].path, all[3].body, 401, `"status":"UNAUTHENTICATED"`)
		f(all[3].path, all[3].body, 401, `"status":"UNAUTHENTICATED"`, "X-Goog-Api-Key", "x")
		f("/v1beta/models/x:streamGenerateContent?alt=sse", all[3].body, 404, `"status":"NOT_FOUND"`, google...)
		f("/v1beta/models/m:countTokens", all[3].body, 404, `Invalid URL`, google...)
		f(all[3].path, `{}`, 400, `"status":"INVALID_ARGUMENT"`, google...)
		f("/openai/deployments/m/chat/completions", all[6].body, 400, "api-version", azure...)
		f("/openai/deployments/x/chat/completions?api-version=1", all[6].body, 404, "DeploymentNotFound", azure...)
		f("/openai/deployments/a/b/chat/completions?api-version=1", all[6].body, 404, "Invalid URL", azure...)
		f("/openai/v1/nothing", all[7].body, 404, "Invalid URL", azure...)
		f("/v1/responses", `{"model":"m"}`, 400, "input", azure...)
		f("/v1/responses", `{`, 400, "JSON", azure...)
		f("/api/chat", `{"model":"m"}`, 400, `{"error":"messages`, azure...)
		f("/api/chat", `[`, 400, `{"error":`, azure...)
	})
}

func TestDialectModels(t *testing.T) {
	serve(t, Options{Models: []string{"m", "n"}}, func(b *bench) {
		f := func(path, want string) {
			t.Helper()
			r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, "http://fake"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if g := b.do(r); g.status != 200 || !strings.Contains(g.raw, want) {
				t.Errorf("%s: %d %s", path, g.status, g.raw)
			}
		}
		f("/v1beta/models?pageSize=1000", `"name":"models/n"`)
		f("/api/tags", `"name":"n"`)
		f("/v1/models", `"id":"n"`)
	})
}

func TestGeminiArrayIsJSON(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		p := places()[4]
		var list []map[string]any
		if g := b.post(p.path, p.body); json.Unmarshal([]byte(g.raw), &list) != nil || len(list) != 5 {
			t.Errorf("%d elements in %s", len(list), g.raw)
		}
	})
}

func TestAzureFiltersAround(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		p := places()[6]
		g := b.post(p.path, p.body)
		if !strings.Contains(g.lines[0], "prompt_filter_results") || !strings.Contains(g.lines[len(g.lines)-3], "content_filter_offsets") {
			t.Error(g.raw)
		}
	})
}
