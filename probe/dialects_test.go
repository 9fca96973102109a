package probe

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/secret"
	"serin/probe/wire"
)

// speak returns a canary of a protocol.
func speak(protocol string) *Canary {
	c := testCanary()
	c.Target.Protocol = protocol
	switch protocol {
	case "anthropic", "gemini", "ollama", "azure-openai":
		c.Target.BaseURL = "http://gw.test"
	}
	return c
}

// R writes one event of the Responses protocol.
func R(data string) step {
	name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return raw("event: " + name + "\ndata: " + data + "\n\n")
}

func rdelta(kind, s string) step {
	return R(fmt.Sprintf(`{"type":"response.%s.delta","output_index":0,"delta":%q}`, kind, s))
}

func rstart() []step {
	return steps(R(`{"type":"response.created","response":{"id":"r1","status":"in_progress","model":"gpt-x","error":null}}`), R(`{"type":"response.in_progress","response":{"id":"r1"}}`),
		R(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}}`),
		R(`{"type":"response.content_part.added","output_index":0,"part":{"type":"output_text","text":""}}`))
}

func rend(out, thought int) []step {
	return steps(R(`{"type":"response.output_text.done","text":"the whole text"}`),
		R(fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","error":null,"usage":{"input_tokens":9,"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}}`, out, thought, out+9)), end())
}

// G writes one event of the Gemini protocol: parts, then whatever stands beside them.
func G(parts, finish string, candidates, thoughts int) step {
	usage := fmt.Sprintf(`{"promptTokenCount":9,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":%d}`, candidates, thoughts, 9+candidates+thoughts)
	if finish != "" {
		finish = fmt.Sprintf(`,"finishReason":%q`, finish)
	}
	return E(fmt.Sprintf(`{"candidates":[{"index":0,"content":{"role":"model","parts":[%s]}%s}],"usageMetadata":%s,"modelVersion":"g-2"}`, parts, finish, usage))
}

func part(s string) string { return fmt.Sprintf(`{"text":%q}`, s) }

// ndHead is the head of an NDJSON stream.
func ndHead() step { return head(200, true, "Content-Type: application/x-ndjson") }

// L writes one line of the Ollama protocol.
func L(message string) step {
	return raw(`{"model":"llama-x","created_at":"2030-01-01T00:00:00Z","message":{"role":"assistant",` + message + `},"done":false}` + "\n")
}

func ltok(s string) step { return L(fmt.Sprintf(`"content":%q`, s)) }

func lend(reason string, load time.Duration, out int) []step {
	return steps(raw(fmt.Sprintf(`{"model":"llama-x","message":{"role":"assistant","content":""},"done":true,"done_reason":%q,"load_duration":%d,"prompt_eval_count":9,"eval_count":%d}`+"\n", reason, load, out)), end())
}

// normal is the normal script of a protocol: a token after 50 ms and nine more 10 ms apart.
func normal(protocol string) []step {
	pace := func(first, next step) []step { return steps(sleep(50*ms), first, times(9, sleep(10*ms), next)) }
	switch protocol {
	case "openai-chat":
		return okScript()
	case "anthropic":
		return steps(start(`{"input_tokens":9,"output_tokens":1}`), pace(text("a"), text("b")), stop("end_turn", `{"output_tokens":10}`))
	case "openai-responses":
		return steps(rstart(), pace(rdelta("output_text", "a"), rdelta("output_text", "b")), rend(10, 0))
	case "gemini":
		return steps(pace(G(part("a"), "", 1, 0), G(part("b"), "", 5, 0)), G(part(""), "STOP", 10, 0), end())
	case "ollama":
		return steps(ndHead(), pace(ltok("a"), ltok("b")), lend("stop", ms, 10))
	case "azure-openai":
		return steps(E(`{"id":"","object":"","model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`), role(), okTokens(),
			E(`{"id":"","choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{"check_offset":40}}]}`), tail("stop", 10))
	}
	return nil
}

func TestEveryProtocolMeasuresTheSame(t *testing.T) {
	for _, name := range wire.Names() {
		t.Run(name, func(t *testing.T) {
			c := speak(name)
			c.Target.Prices = []Price{{Input: Some(2.0), Output: Some(10.0)}}
			s, d := probeDiary(t, scripted(normal(name)), c)
			wantOutcome(t, s, OK, "")
			wantSpan(t, "ttft", s.TTFT, 50*ms)
			wantSpan(t, "ttfa", s.TTFA, 50*ms)
			wantSpan(t, "e2e", s.E2E, 140*ms)
			wantSpan(t, "tpot", s.TPOT, 10*ms)
			wantSpan(t, "max_gap", s.MaxGap, 10*ms)
			wantSpan(t, "trailer", s.Trailer, 0)
			wantSpan(t, "stream_total", s.StreamTotal, 140*ms)
			if d.Text != "abbbbbbbbb" || len(s.Flags) > 0 || s.Chunks != 10 || s.FirstKind != "text" {
				t.Errorf("text %q, flags %v, %d chunks, first %q", d.Text, s.Flags, s.Chunks, s.FirstKind)
			}
			if s.InputTokens != Some[int64](9) || s.OutputTokens != Some[int64](10) || math.Abs(s.CostUSD.V-118.0/1e6) > 1e-12 {
				t.Errorf("%v in, %v out, %v", s.InputTokens, s.OutputTokens, s.CostUSD)
			}
		})
	}
}

// TestB43B53EveryProtocolByteByByte: one byte a read gives the same outcome, tokens and text.
func TestB43B53EveryProtocolByteByByte(t *testing.T) {
	for _, name := range wire.Names() {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("wire", "testdata", name, "text.*s*"))
			if err != nil || len(files) == 0 && name != "openai-chat" && name != "anthropic" {
				t.Fatal(files, err)
			}
			for _, file := range files {
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(file, ".golden") {
					continue
				}
				whole, d1 := probeDiary(t, scripted(steps(raw(string(body)), end())), speak(name))
				var bytes []step
				for i := range body {
					bytes = append(bytes, raw(string(body[i:i+1])))
				}
				split, d2 := probeDiary(t, scripted(steps(bytes, end())), speak(name))
				if !whole.Outcome.Success() || split.Outcome != whole.Outcome || split.Chunks != whole.Chunks || split.OutputTokens != whole.OutputTokens || d1.Text != d2.Text || d1.Text == "" {
					t.Errorf("whole: %s %q %d %q; split: %s %q %d %q", whole.Outcome, whole.Reason, whole.Chunks, d1.Text, split.Outcome, split.Reason, split.Chunks, d2.Text)
				}
			}
		})
	}
}

// TestEveryProtocolCutAtEveryByte: a clean end anywhere gives one outcome, and never a success before the terminal.
func TestEveryProtocolCutAtEveryByte(t *testing.T) {
	for _, name := range wire.Names() {
		files, err := filepath.Glob(filepath.Join("wire", "testdata", name, "text.[sn]*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			finish := strings.LastIndex(string(body), `"finishReason":"STOP"`)
			for _, mark := range []string{`"type":"response.completed"`, `"finish_reason":"stop"`, `"done":true`} {
				finish = max(finish, strings.LastIndex(string(body), mark))
			}
			for n := 0; n < len(body); n += 1 + len(body)/150 {
				s := probeOnce(t, scripted(steps(raw(string(body[:n])), end())), speak(name))
				if s.Outcome == "" || s.Outcome.Success() && n < finish {
					t.Fatalf("%s cut at %d of %d: %s %q", name, n, len(body), s.Outcome, s.Reason)
				}
			}
		}
	}
}

func TestDialectOutcomes(t *testing.T) {
	r1 := steps(rstart(), rdelta("output_text", "a"))
	g1 := G(part("a"), "", 1, 0)
	o1 := func(more ...any) []step { return steps(ndHead(), ltok("a"), steps(more...)) }
	a1 := steps(role(), tok("a"))
	json := "Content-Type: application/json"
	for _, c := range []struct {
		name, protocol string
		script         []step
		want           Outcome
		reason         string
		flags          []Flag
	}{
		{"B82 failed", "openai-responses", steps(r1, R(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}`), end()), StreamError, "boom", nil},
		{"B82 failed by overload", "openai-responses", steps(r1, R(`{"type":"response.failed","response":{"error":{"code":"server_is_overloaded","message":"m"}}}`), end()), Overloaded, "", nil},
		{"B82 failed without a word", "openai-responses", steps(r1, R(`{"type":"response.failed"}`), end()), StreamError, "failed", nil},
		{"B82 incomplete", "openai-responses", steps(r1, R(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), end()), OKLength, "", nil},
		{"B82 incomplete, filtered", "openai-responses", steps(r1, R(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), end()), ContentFilter, "", nil},
		{"B82 incomplete for no reason", "openai-responses", steps(r1, R(`{"type":"response.incomplete","response":{}}`), end()), OKLength, "", nil},
		{"B83 incomplete without a token", "openai-responses", steps(rstart(), R(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), end()), Empty, ReasonBudgetEaten, nil},
		{"B82 error", "openai-responses", steps(r1, R(`{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}`), end()), RateLimited, "slow", nil},
		{"error without event names", "openai-responses", steps(rstart(), E(`{"type":"error","code":"ERR","message":"boom"}`), end()), StreamError, "boom", nil},
		{"cut", "openai-responses", steps(r1, end()), Truncated, "terminal marker", nil},
		{"done and item.done are no terminal", "openai-responses", steps(r1, R(`{"type":"response.output_text.done","text":"a"}`), R(`{"type":"response.output_item.done","item":{"type":"message"}}`), end()), Truncated, "", nil},
		{"[DONE] behind", "openai-responses", steps(r1, R(`{"type":"response.completed","response":{}}`), done(), end()), OK, "", nil},
		{"[DONE] alone", "openai-responses", steps(r1, done(), end()), OK, "", []Flag{NoFinish}},
		{"stays open behind", "openai-responses", steps(r1, R(`{"type":"response.completed","response":{}}`), sleep(time.Hour)), OK, "", nil},
		{"completed, unterminated", "openai-responses", steps(r1, raw(`data: {"type":"response.completed","response":{}}`), end()), OK, "", []Flag{Unterminated}},
		{"a whole answer", "openai-responses", answer(200, `{"object":"response","status":"completed","error":null,"usage":{"input_tokens":9,"output_tokens":5}}`, json), NotSSE, "ignores stream", nil},
		{"200 with an error", "openai-responses", answer(200, `{"error":{"message":"no"}}`, json), StreamError, "no", nil},
		{"400", "openai-responses", answer(400, `{"error":{"message":"bad","param":"max_output_tokens"}}`, json), BadRequest, "bad", nil},

		{"STOP", "gemini", steps(g1, G(part(""), "STOP", 2, 0), end()), OK, "", nil},
		{"stays open behind STOP", "gemini", steps(g1, G(part(""), "STOP", 2, 0), sleep(time.Hour)), OK, "", nil},
		{"MAX_TOKENS", "gemini", steps(g1, G(part("b"), "MAX_TOKENS", 2, 0), end()), OKLength, "", nil},
		{"B83 thoughts ate the cap", "gemini", steps(G(``, "MAX_TOKENS", 0, 64), end()), Empty, ReasonBudgetEaten, nil},
		{"SAFETY", "gemini", steps(g1, E(`{"candidates":[{"finishReason":"SAFETY","index":0}]}`), end()), ContentFilter, "SAFETY", nil},
		{"RECITATION", "gemini", steps(g1, G(part("b"), "RECITATION", 2, 0), end()), ContentFilter, "", nil},
		{"prompt blocked", "gemini", steps(E(`{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":9}}`), end()), ContentFilter, "OTHER", nil},
		{"malformed call", "gemini", steps(g1, G(part("b"), "MALFORMED_FUNCTION_CALL", 2, 0), end()), StreamError, "", nil},
		{"unknown reason", "gemini", steps(g1, G(part("b"), "BRAND_NEW", 2, 0), end()), OK, "", nil},
		{"cut", "gemini", steps(g1, end()), Truncated, "", nil},
		{"error inside", "gemini", steps(g1, E(`{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`), end()), Overloaded, "", nil},
		{"error in an array", "gemini", answer(429, `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, json), RateLimited, "slow", nil},
		{"B34 array for a stream", "gemini", answer(200, `[{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":10}}]`, json), NotSSE, "", nil},
		{"400 for a bad key", "gemini", answer(400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}`, json), BadRequest, "API key", nil},
		{"403", "gemini", answer(403, `{"error":{"code":403,"message":"m","status":"PERMISSION_DENIED"}}`, json), Auth, "", nil},
		{"404", "gemini", answer(404, `{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}`, json), NotFound, "models/x", nil},

		{"done", "ollama", o1(lend("stop", ms, 1)), OK, "", nil},
		{"length", "ollama", o1(lend("length", ms, 1)), OKLength, "", nil},
		{"no done_reason", "ollama", o1(raw(`{"message":{"content":""},"done":true,"eval_count":1}`+"\n"), end()), OK, "", []Flag{NoFinish}},
		{"done without LF", "ollama", o1(raw(`{"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":1}`), end()), OK, "", []Flag{Unterminated}},
		{"loaded only", "ollama", steps(ndHead(), raw(`{"model":"m","message":{"content":""},"done":true,"done_reason":"load"}`+"\n"), end()), Empty, "", nil},
		{"cut", "ollama", o1(end()), Truncated, "", nil},
		{"cut within a line", "ollama", o1(raw(`{"message":{"content":"b"`), end()), Truncated, "", nil},
		{"error inside", "ollama", o1(raw(`{"error":"CUDA error: out of memory"}`+"\n"), end()), StreamError, "out of memory", nil},
		{"200 with an error", "ollama", steps(head(200, true, json), raw(`{"error":"no"}`), end()), StreamError, "no", []Flag{Unterminated}},
		{"error without LF", "ollama", o1(raw(`{"error":"gone"}`), end()), StreamError, "gone", []Flag{Unterminated}},
		{"not JSON", "ollama", o1(raw("{\"message\":}\n"), end()), Protocol, "event 2", nil},
		{"keep-alive words", "ollama", o1(raw(": ping\n\nhm\n"), lend("stop", ms, 1)), OK, "", []Flag{SkippedEvents}},
		{"re-wrapped as events", "ollama", steps(head(200, true, "Content-Type: text/event-stream"), raw("data: {\"message\":{\"content\":\"a\"},\"done\":false}\n\ndata: {\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":1}\n\n"), end()), OK, "", nil},
		{"B34 a whole answer", "ollama", answer(200, `{"message":{"role":"assistant","content":"all"},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":5}`, json), NotSSE, "ignores stream", []Flag{Unterminated}},
		{"HTML", "ollama", answer(200, "<html>Ollama</html>", "Content-Type: text/html"), NotSSE, "Ollama", nil},
		{"no events", "ollama", steps(ndHead(), end()), Truncated, "no_events", nil},
		{"empty body", "ollama", steps(head(200, true), end()), NotSSE, "", nil},
		{"404", "ollama", answer(404, `{"error":"model 'x' not found"}`, json), NotFound, "not found", nil},

		{"output filtered, closed", "azure-openai", steps(a1, fin("content_filter"), end()), ContentFilter, "", []Flag{NoDone}},
		{"prompt filtered", "azure-openai", answer(400, `{"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, json), ContentFilter, "filtered", nil},
		{"prompt filtered, said inside only", "azure-openai", answer(400, `{"error":{"message":"filtered","code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, json), ContentFilter, "", nil},
		{"no deployment", "azure-openai", answer(404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, json), NotFound, "deployment", nil},
		{"401", "azure-openai", answer(401, `{"statusCode":401,"message":"Access denied due to invalid subscription key."}`, json), Auth, "Access denied", nil},
	} {
		t.Run(c.protocol+" "+c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(c.script), speak(c.protocol))
			wantOutcome(t, s, c.want, c.reason)
			for _, f := range c.flags {
				if !s.Has(f) {
					t.Errorf("flags %v, want %s", s.Flags, f)
				}
			}
			if len(c.flags) == 0 && (s.Has(NoFinish) || s.Has(NoDone) || s.Has(Unterminated) || s.Has(SkippedEvents)) {
				t.Errorf("flags %v", s.Flags)
			}
			if s.Outcome == NotSSE && s.TTFT.Known {
				t.Errorf("ttft %v of what is no stream", s.TTFT)
			}
		})
	}
}

func TestDialectInstants(t *testing.T) {
	item := func(s string) step {
		return R(`{"type":"response.output_item.added","output_index":0,"item":` + s + `}`)
	}
	for _, c := range []struct {
		name, protocol string
		script         []step
		ttft, ttfa     time.Duration
		tpot           time.Duration
		kind, reason   string
	}{
		{"B03 created is no token", "openai-responses", steps(rstart(), sleep(300*ms), rdelta("output_text", "a"), sleep(10*ms), rdelta("output_text", "b"), rend(2, 0)), 300 * ms, 300 * ms, 10 * ms, "text", ""},
		{"empty delta", "openai-responses", steps(rstart(), rdelta("output_text", ""), sleep(10*ms), rdelta("output_text", "\n"), sleep(10*ms), rdelta("output_text", "b"), rend(2, 0)), 10 * ms, 10 * ms, 10 * ms, "text", ""},
		{"a summary is a token, not the tokens", "openai-responses", steps(item(`{"type":"reasoning","summary":[]}`), sleep(100*ms), rdelta("reasoning_summary_text", "s"), sleep(100*ms), rdelta("output_text", "a"), sleep(30*ms), rdelta("output_text", "b c d"), rend(68, 64)), 100 * ms, 200 * ms, 10 * ms, "reasoning", ""},
		{"reasoning in sight", "openai-responses", steps(sleep(10*ms), rdelta("reasoning_text", "s"), sleep(10*ms), rdelta("output_text", "a"), rend(2, 1)), 10 * ms, 20 * ms, 10 * ms, "reasoning", ""},
		{"reasoning item, no split", "openai-responses", steps(item(`{"type":"reasoning"}`), rdelta("output_text", "a"), sleep(10*ms), rdelta("output_text", "b"), R(`{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":70}}}`), end()), 0, 0, none, "text", "hidden_reasoning"},
		{"name of a call", "openai-responses", steps(sleep(5*ms), item(`{"type":"function_call","name":"f","arguments":""}`), sleep(10*ms), rdelta("function_call_arguments", "{}"), rend(2, 0)), 5 * ms, none, 10 * ms, "tool", ""},
		{"refusal", "openai-responses", steps(sleep(5*ms), rdelta("refusal", "no"), sleep(10*ms), rdelta("refusal", "."), rend(2, 0)), 5 * ms, 5 * ms, 10 * ms, "refusal", ""},

		{"thoughts are a summary", "gemini", steps(sleep(100*ms), G(`{"text":"t","thought":true}`, "", 0, 21), sleep(100*ms), G(part("a"), "", 1, 40), sleep(30*ms), G(part("b c d"), "STOP", 4, 40), end()), 100 * ms, 200 * ms, 10 * ms, "reasoning", ""},
		{"thoughts unseen", "gemini", steps(sleep(100*ms), G(part("a"), "", 1, 40), sleep(10*ms), G(part("b"), "STOP", 2, 40), end()), 100 * ms, 100 * ms, 10 * ms, "text", ""},
		{"signature alone", "gemini", steps(sleep(5*ms), E(`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"x"}]}}]}`), sleep(5*ms), E(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`), sleep(10*ms),
			E(`{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`), end()), 10 * ms, 10 * ms, none, "text", "hidden_reasoning"},
		{"candidate without content", "gemini", steps(E(`{"candidates":[{"index":0}]}`), sleep(10*ms), G(part("a"), "", 1, 0), sleep(10*ms), G(part("b"), "STOP", 2, 0), end()), 10 * ms, 10 * ms, 10 * ms, "text", ""},
		{"call", "gemini", steps(sleep(5*ms), G(`{"functionCall":{"name":"f","args":{}}}`, "STOP", 8, 0), end()), 5 * ms, none, none, "tool", "one_read"},
		{"two candidates", "gemini", steps(G(part("a"), "", 1, 0), sleep(10*ms), E(`{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}}]}`), G(part("c"), "STOP", 2, 0), end()), 0, 0, none, "text", "choices"},
		{"finish on the last text", "gemini", steps(G(part("a"), "", 1, 0), sleep(20*ms), G(part("b c"), "STOP", 3, 0), end()), 0, 0, 10 * ms, "text", ""},

		{"thinking", "ollama", steps(ndHead(), sleep(10*ms), L(`"content":"","thinking":"Hm"`), sleep(10*ms), ltok("a"), lend("stop", ms, 2)), 10 * ms, 20 * ms, 10 * ms, "reasoning", ""},
		{"empty content", "ollama", steps(ndHead(), ltok(""), sleep(10*ms), ltok("a"), sleep(10*ms), ltok("b"), lend("stop", ms, 2)), 10 * ms, 10 * ms, 10 * ms, "text", ""},
		{"call", "ollama", steps(ndHead(), sleep(10*ms), L(`"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]`), lend("stop", ms, 12)), 10 * ms, none, none, "tool", "one_read"},

		{"B64 B65 filters are no tokens", "azure-openai", steps(E(`{"choices":[],"prompt_filter_results":[{}]}`), role(), sleep(10*ms), E(`{"choices":[{"index":0,"content_filter_offsets":{}}]}`), sleep(10*ms), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2)), 20 * ms, 20 * ms, 10 * ms, "text", ""},
	} {
		t.Run(c.protocol+" "+c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(c.script), speak(c.protocol))
			wantOutcome(t, s, OK, "")
			wantSpan(t, "ttft", s.TTFT, c.ttft)
			wantSpan(t, "ttfa", s.TTFA, c.ttfa)
			wantSpan(t, "tpot", s.TPOT, c.tpot)
			if s.FirstKind != c.kind || s.TPOTReason != c.reason {
				t.Errorf("first %q, tpot_reason %q; want %q, %q", s.FirstKind, s.TPOTReason, c.kind, c.reason)
			}
		})
	}
}

func TestB22ColdLoad(t *testing.T) {
	f := func(load time.Duration, cold bool) {
		t.Helper()
		s := probeOnce(t, scripted(steps(ndHead(), sleep(3*time.Second), ltok("a"), sleep(10*ms), ltok("b"), lend("stop", load, 2))), speak("ollama"))
		wantOutcome(t, s, OK, "")
		wantSpan(t, "ttft", s.TTFT, 3*time.Second)
		wantSpan(t, "load", s.Load, load)
		if s.Has(ColdStart) != cold {
			t.Errorf("load of %v: flags %v", load, s.Flags)
		}
	}
	f(3*time.Second, true)
	f(time.Second, false)
	f(11*ms, false)
}

func TestB95PromptCountMissing(t *testing.T) {
	s := probeOnce(t, scripted(steps(ndHead(), ltok("a"), sleep(10*ms), ltok("b"), raw(`{"done":true,"done_reason":"stop","eval_count":2}`+"\n"), end())), speak("ollama"))
	wantOutcome(t, s, OK, "")
	wantSpan(t, "tpot", s.TPOT, 10*ms)
	if s.InputTokens.Known || s.OutputTokens != Some[int64](2) || s.CostUSD.Known {
		t.Errorf("in %v, out %v, cost %v", s.InputTokens, s.OutputTokens, s.CostUSD)
	}
}

// TestB92B93SameCallSameCost: 100 tokens in, 80 of them cached, 7 visible and 20 of reasoning out.
func TestB92B93SameCallSameCost(t *testing.T) {
	chat := func(u string) []step {
		return steps(role(), tok("a"), sleep(ms), tok("b"), fin("stop"), E(`{"choices":[],"usage":`+u+`}`), done(), end())
	}
	const want = (20*2.0 + 80*0.5 + 27*10.0) / 1e6
	for _, c := range []struct {
		name, protocol string
		script         []step
		odd            bool
	}{
		{"OpenAI chat", "openai-chat", chat(`{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}`), false},
		{"xAI", "openai-chat", chat(`{"prompt_tokens":100,"completion_tokens":7,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}`), true},
		{"DeepSeek", "openai-chat", chat(`{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20,"completion_tokens_details":{"reasoning_tokens":20}}`), false},
		{"Azure", "azure-openai", chat(`{"prompt_tokens":100,"completion_tokens":27,"total_tokens":127,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}`), false},
		{"Responses", "openai-responses", steps(rstart(), rdelta("output_text", "a"), sleep(ms), rdelta("output_text", "b"), R(`{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80},"output_tokens":27,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":127}}}`), end()), false},
		{"Anthropic", "anthropic", steps(start(`{"input_tokens":20,"cache_read_input_tokens":80,"cache_creation_input_tokens":0,"output_tokens":1}`), text("a"), stop("end_turn", `{"output_tokens":27}`)), false},
		{"Gemini", "gemini", steps(E(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":80,"candidatesTokenCount":7,"thoughtsTokenCount":20,"totalTokenCount":127}}`), end()), false},
		{"Gemini, a total that does not add up", "gemini", steps(E(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":80,"candidatesTokenCount":7,"thoughtsTokenCount":20,"totalTokenCount":140}}`), end()), true},
		{"Ollama", "ollama", steps(ndHead(), ltok("a"), raw(`{"done":true,"done_reason":"stop","prompt_eval_count":100,"prompt_eval_cached_count":80,"eval_count":27}`+"\n"), end()), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			canary := speak(c.protocol)
			canary.Target.Prices = []Price{{Input: Some(2.0), CachedInput: Some(0.5), CacheWrite: Some(2.5), Output: Some(10.0)}}
			s := probeOnce(t, scripted(c.script), canary)
			wantOutcome(t, s, OK, "")
			if s.InputTokens.V != 100 || s.CachedInputTokens.V != 80 || s.OutputTokens.V != 27 || !s.CostUSD.Known || math.Abs(s.CostUSD.V-want) > 1e-12 {
				t.Errorf("in %v, cached %v, out %v, cost %v; want %v", s.InputTokens, s.CachedInputTokens, s.OutputTokens, s.CostUSD, want)
			}
			if s.Has(UsageOdd) != c.odd {
				t.Errorf("flags %v, want odd %v", s.Flags, c.odd)
			}
		})
	}
}

func TestDialectRequests(t *testing.T) {
	f := func(protocol, key string, change func(*Target), path string, body ...string) {
		t.Helper()
		c := speak(protocol)
		secret, err := secret.FromValue("test", "sk-secret")
		if err != nil {
			t.Fatal(err)
		}
		c.Target.APIKey = secret
		change(c.Target)
		srv := scripted(normal(protocol))
		s := probeOnce(t, srv, c)
		wantOutcome(t, s, OK, "")
		req := srv.requests[0]
		if req.URL.RequestURI() != path || !strings.Contains(req.Header.Get(key), "sk-secret") {
			t.Errorf("%s: %s, %s %q", protocol, req.URL.RequestURI(), key, req.Header.Get(key))
		}
		for _, part := range body {
			if !strings.Contains(srv.bodies[0], part) {
				t.Errorf("%s: no %s in %s", protocol, part, srv.bodies[0])
			}
		}
		if !strings.Contains(strings.Join(body, ""), "low") && (strings.Contains(srv.bodies[0], "effort") || strings.Contains(srv.bodies[0], "think")) {
			t.Errorf("%s: effort was not asked for: %s", protocol, srv.bodies[0])
		}
	}
	plain := func(*Target) {}
	reason := func(t *Target) { t.Reasoning = true }
	low := func(t *Target) { t.ReasoningEffort = "low" }
	f("openai-chat", "Authorization", plain, "/v1/chat/completions", `"max_tokens":4096`)
	f("openai-chat", "Authorization", reason, "/v1/chat/completions", `"max_completion_tokens":4096`)
	f("openai-chat", "Authorization", low, "/v1/chat/completions", `"reasoning_effort":"low"`)
	f("openai-responses", "Authorization", reason, "/v1/responses", `"max_output_tokens":4096`)
	f("openai-responses", "Authorization", low, "/v1/responses", `"reasoning":{"effort":"low"}`)
	f("anthropic", "X-Api-Key", reason, "/v1/messages", `"max_tokens":4096`)
	f("gemini", "X-Goog-Api-Key", reason, "/v1beta/models/m:streamGenerateContent?alt=sse", `"maxOutputTokens":4096`)
	f("gemini", "X-Goog-Api-Key", low, "/v1beta/models/m:streamGenerateContent?alt=sse", `"thinkingLevel":"low"`)
	f("ollama", "Authorization", reason, "/api/chat", `"num_predict":4096`)
	f("ollama", "Authorization", low, "/api/chat", `"think":"low"`)
	f("azure-openai", "Api-Key", reason, "/openai/deployments/m/chat/completions?api-version=2024-10-21", `"max_completion_tokens":4096`)
	f("azure-openai", "Api-Key", func(t *Target) { t.BaseURL = "http://gw.test/openai/v1" }, "/openai/v1/chat/completions", `"model":"m"`)
}

// TestReasoningCapIsLearnedBack: an endpoint that knows only the older name of the cap is asked so from then on.
func TestReasoningCapIsLearnedBack(t *testing.T) {
	c := testCanary()
	c.Target.Reasoning = true
	srv := scripted(picky(func(body map[string]any) (int, string) {
		if has(body, "max_tokens") {
			return 0, ""
		}
		return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`
	}))
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		for i, want := range []Outcome{BadRequest, OK, OK} {
			s, err := p.Do(t.Context(), Shot{Canary: c})
			if err != nil || s.Outcome != want {
				t.Errorf("attempt %d: %s %q, %v", i+1, s.Outcome, s.Reason, err)
			}
		}
	})
}

func TestAzureRetryAfterMilliseconds(t *testing.T) {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		s := probeOnce(t, scripted(answer(429, `{"error":{"code":"429","message":"slow"}}`, "Content-Type: application/json", name+": 1500", "Retry-After: 9")), speak("azure-openai"))
		wantOutcome(t, s, RateLimited, "slow")
		if s.RetryAfter != 1500*ms {
			t.Errorf("%s: %v", name, s.RetryAfter)
		}
	}
	s := probeOnce(t, scripted(answer(429, `{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}`)), speak("gemini"))
	wantOutcome(t, s, RateLimited, "slow")
	if s.RetryAfter != 17*time.Second {
		t.Errorf("RetryInfo: %v", s.RetryAfter)
	}
}

func TestModelsOfEveryProtocol(t *testing.T) {
	f := func(protocol, uri, body, want, problem string) {
		t.Helper()
		srv := scripted(answer(http.StatusOK, body, "Content-Type: application/json"))
		synctest.Test(t, func(t *testing.T) {
			defer srv.stop()
			p := New(Options{Dial: srv.dial})
			defer p.Close()
			names, err := p.Models(t.Context(), speak(protocol).Target)
			if problem != "" {
				if err == nil || !strings.Contains(err.Error(), problem) || srv.count() > 0 {
					t.Errorf("%s: %v, %v", protocol, names, err)
				}
				return
			}
			if err != nil || strings.Join(names, " ") != want || srv.requests[0].URL.RequestURI() != uri {
				t.Errorf("%s: %v, %v", protocol, names, err)
			}
		})
	}
	f("openai-chat", "/v1/models", `{"object":"list","data":[{"id":"a"},{"id":"b"}]}`, "a b", "")
	f("openai-chat", "/v1/models", `{"models":[{"name":"a","model":"a"}],"object":"list","data":[{"id":"a"}]}`, "a", "")
	f("openai-responses", "/v1/models", `{"data":[{"id":"a"}]}`, "a", "")
	f("anthropic", "/v1/models", `{"data":[{"type":"model","id":"a"}],"has_more":false}`, "a", "")
	f("gemini", "/v1beta/models?pageSize=1000", `{"models":[{"name":"models/g-2","displayName":"G"},{"name":"models/g-3"}]}`, "g-2 g-3", "")
	f("ollama", "/api/tags", `{"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]}`, "qwen3:8b", "")
	f("azure-openai", "", "", "", "azure-openai has no list of models")
}

func TestEffortIsPartOfTheSpec(t *testing.T) {
	a, b := testCanary(), testCanary()
	b.Target.ReasoningEffort = "high"
	if Spec(a) == Spec(b) {
		t.Error("samples of two efforts would share a band")
	}
}
