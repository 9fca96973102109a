package probe

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// A writes one event of the Anthropic protocol.
func A(data string) step {
	name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return raw("event: " + name + "\ndata: " + data + "\n\n")
}

func text(s string) step {
	return A(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, s))
}

func start(usage string) []step {
	return steps(A(`{"type":"message_start","message":{"id":"m1","model":"claude-x","role":"assistant","content":[],"stop_reason":null,"usage":`+usage+`}}`),
		A(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`), A(`{"type":"ping"}`))
}

func stop(reason, usage string) []step {
	return steps(A(`{"type":"content_block_stop","index":0}`),
		A(fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":%s}`, reason, usage)),
		A(`{"type":"message_stop"}`), end())
}

func anthropicCanary() *Canary {
	c := testCanary()
	c.Target.Protocol, c.Target.BaseURL = "anthropic", "http://gw.test"
	return c
}

func TestAnthropicNormal(t *testing.T) {
	srv := scripted(steps(start(`{"input_tokens":9,"output_tokens":1}`), sleep(50*ms), text("a"), times(9, sleep(10*ms), text("b")), stop("end_turn", `{"output_tokens":10}`)))
	s, d := probeDiary(t, srv, anthropicCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "ttft", s.TTFT, 50*ms)
	wantSpan(t, "ttfe", s.TTFE, 0)
	wantSpan(t, "e2e", s.E2E, 140*ms)
	wantSpan(t, "tpot", s.TPOT, 10*ms)
	if d.Text != "abbbbbbbbb" || s.ReturnedModel != "claude-x" || len(s.Flags) > 0 || s.FinishReason != "end_turn" {
		t.Errorf("text %q, model %q, flags %v, finish %q", d.Text, s.ReturnedModel, s.Flags, s.FinishReason)
	}
	req := srv.requests[0]
	if req.URL.Path != "/v1/messages" || req.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("path %s, version %q", req.URL.Path, req.Header.Get("Anthropic-Version"))
	}
}

func TestAnthropicOutcomes(t *testing.T) {
	begin := start(`{"input_tokens":9,"output_tokens":1}`)
	one := steps(begin, text("a"))
	u := `{"output_tokens":5}`
	for _, c := range []struct {
		name   string
		script []step
		want   Outcome
		reason string
		flag   Flag
	}{
		{"B79 overloaded", steps(begin, A(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_9"}`), end()), Overloaded, "Overloaded", ""},
		{"B79 after a token", steps(one, A(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), end()), Overloaded, "", ""},
		{"api_error", steps(one, A(`{"type":"error","error":{"type":"api_error","message":"oops"}}`), end()), StreamError, "oops", ""},
		{"rate limit inside", steps(one, A(`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), end()), RateLimited, "", ""},
		{"error without event name", steps(one, E(`{"type":"error","error":{"type":"overloaded_error"}}`), end()), Overloaded, "", ""},
		{"error of a proxy", steps(one, E(`{"error":{"message":"gone","code":502}}`), end()), StreamError, "gone", ""},
		{"B68 stop reason, no message_stop", steps(one, A(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`), end()), OK, "", NoDone},
		{"B69 message_stop alone", steps(one, A(`{"type":"message_stop"}`), end()), OK, "", NoFinish},
		{"B70 cut", steps(one, end()), Truncated, "terminal marker", ""},
		{"max_tokens", steps(one, stop("max_tokens", u)), OKLength, "", ""},
		{"context window", steps(one, stop("model_context_window_exceeded", u)), OKLength, "", ""},
		{"refusal", steps(one, stop("refusal", u)), Refused, "", ""},
		{"tool_use", steps(one, stop("tool_use", u)), OK, "", ""},
		{"pause_turn", steps(one, stop("pause_turn", u)), OK, "", ""},
		{"B05 empty", steps(begin, stop("end_turn", u)), Empty, "", ""},
		{"unknown event", steps(one, A(`{"type":"brand_new","x":1}`), stop("end_turn", u)), OK, "", ""},
		{"pings only, then EOF", steps(A(`{"type":"ping"}`), end()), Truncated, "no_tokens", ""},
		{"401", answer(401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`), Auth, "invalid x-api-key", ""},
		{"402", answer(402, `{"type":"error","error":{"type":"billing_error","message":"pay"}}`), Quota, "", ""},
		{"404", answer(404, `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`), NotFound, "model: x", ""},
		{"429", answer(429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), RateLimited, "", ""},
		{"B80 529", answer(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), Overloaded, "", ""},
		{"message as a whole", answer(200, `{"type":"message","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":5}}`), NotSSE, "", ""},
		{"hangs open after message_stop", steps(one, A(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`), A(`{"type":"message_stop"}`), sleep(time.Hour)), OK, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(c.script), anthropicCanary())
			wantOutcome(t, s, c.want, c.reason)
			if c.flag != "" && !s.Has(c.flag) {
				t.Errorf("flags %v, want %s", s.Flags, c.flag)
			}
		})
	}
}

func TestAnthropicKinds(t *testing.T) {
	delta := func(d string) step { return A(`{"type":"content_block_delta","index":0,"delta":` + d + `}`) }
	block := func(b string) step { return A(`{"type":"content_block_start","index":0,"content_block":` + b + `}`) }
	u := `{"output_tokens":20}`
	for _, c := range []struct {
		name       string
		script     []step
		kind       string
		ttft, ttfa time.Duration
		reason     string
	}{
		{"thinking", steps(block(`{"type":"thinking","thinking":""}`), sleep(10*ms), delta(`{"type":"thinking_delta","thinking":"t"}`), sleep(10*ms), text("a"), sleep(10*ms), text("b")), "reasoning", 10 * ms, 20 * ms, "hidden_reasoning"},
		{"thinking left out", steps(block(`{"type":"thinking","thinking":""}`), sleep(10*ms), delta(`{"type":"signature_delta","signature":"s"}`), sleep(10*ms), text("a"), sleep(10*ms), text("b")), "text", 20 * ms, 20 * ms, "hidden_reasoning"},
		{"redacted", steps(sleep(5*ms), block(`{"type":"redacted_thinking","data":"x"}`), sleep(10*ms), text("a"), sleep(10*ms), text("b")), "redacted", 5 * ms, 15 * ms, "hidden_reasoning"},
		{"tool name", steps(sleep(5*ms), block(`{"type":"tool_use","name":"f","input":{}}`), sleep(10*ms), delta(`{"type":"input_json_delta","partial_json":"{}"}`)), "tool", 5 * ms, none, ""},
		{"empty argument", steps(delta(`{"type":"input_json_delta","partial_json":""}`), sleep(10*ms), text("a"), sleep(10*ms), text("b")), "text", 10 * ms, 10 * ms, ""},
		{"citation", steps(delta(`{"type":"citations_delta","citation":{"type":"char_location"}}`), sleep(10*ms), text("a"), sleep(10*ms), text("b")), "text", 10 * ms, 10 * ms, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(steps(start(`{"input_tokens":9,"output_tokens":1}`), c.script, stop("end_turn", u))), anthropicCanary())
			wantOutcome(t, s, OK, "")
			wantSpan(t, "ttft", s.TTFT, c.ttft)
			wantSpan(t, "ttfa", s.TTFA, c.ttfa)
			if s.FirstKind != c.kind || s.TPOTReason != c.reason {
				t.Errorf("first %q, tpot_reason %q", s.FirstKind, s.TPOTReason)
			}
		})
	}
}

func TestUsageAndCost(t *testing.T) {
	price := &Price{Input: Some(2.0), CachedInput: Some(0.5), CacheWrite: Some(2.5), Output: Some(10.0)}
	chatUsage := func(u string) []step {
		return steps(role(), tok("a"), sleep(ms), tok("b"), fin("stop"), E(`{"choices":[],"usage":`+u+`}`), done(), end())
	}
	const cost100 = (20*2.0 + 80*0.5 + 7*10.0) / 1e6
	for _, c := range []struct {
		name                  string
		canary                *Canary
		script                []step
		input, cached, output Count
		cost                  float64 // negative = unknown
		odd                   bool
	}{
		{"B88 cumulative", testCanary(), steps(role(), E(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`), sleep(ms),
			E(`{"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":10}}`), fin("stop"), done(), end()), Some[int64](9), Count{}, Some[int64](10), (9*2.0 + 10*10.0) / 1e6, false},
		{"B90 on the finish chunk", testCanary(), steps(tok("a"), E(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`), done(), end()), Some[int64](9), Count{}, Some[int64](1), 28.0 / 1e6, false},
		{"B90 after a gap without DONE", testCanary(), steps(tok("a"), fin("stop"), sleep(200*ms), usage(1), end()), Some[int64](9), Count{}, Some[int64](1), 28.0 / 1e6, false},
		{"x_groq", testCanary(), steps(tok("a"), E(`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":1}}}`), done(), end()), Some[int64](9), Count{}, Some[int64](1), 28.0 / 1e6, false},
		{"B91 zero does not overwrite", anthropicCanary(), steps(start(`{"input_tokens":100,"output_tokens":1}`), text("a"), stop("end_turn", `{"input_tokens":0,"output_tokens":7}`)), Some[int64](100), Count{}, Some[int64](7), (200 + 70) / 1e6, false},
		{"B92 cached, chat", testCanary(), chatUsage(`{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":80}}`), Some[int64](100), Some[int64](80), Some[int64](7), cost100, false},
		{"B92 cached, anthropic", anthropicCanary(), steps(start(`{"input_tokens":20,"cache_read_input_tokens":80,"cache_creation_input_tokens":0,"output_tokens":1}`), text("a"), stop("end_turn", `{"output_tokens":7}`)), Some[int64](100), Some[int64](80), Some[int64](7), cost100, false},
		{"B92 cache hits as DeepSeek says them", testCanary(), chatUsage(`{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":80,"prompt_cache_miss_tokens":20}`), Some[int64](100), Some[int64](80), Some[int64](7), cost100, false},
		{"B93 reasoning outside", testCanary(), chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`), Some[int64](10), Count{}, Some[int64](25), (20 + 250) / 1e6, true},
		{"B93 reasoning inside", testCanary(), chatUsage(`{"prompt_tokens":10,"completion_tokens":25,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`), Some[int64](10), Count{}, Some[int64](25), (20 + 250) / 1e6, false},
		{"B93 a remainder is no split", testCanary(), chatUsage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35}`), Some[int64](10), Count{}, Some[int64](5), (20 + 50) / 1e6, true},
		{"usage null", testCanary(), steps(tok("a"), E(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}`), done(), end()), Count{}, Count{}, Count{}, -1, false},
		{"B95 prompt count missing", testCanary(), chatUsage(`{"completion_tokens":2}`), Count{}, Count{}, Some[int64](2), -1, false},
		{"downwards", testCanary(), steps(role(), E(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`), fin("stop"), usage(1), done(), end()), Some[int64](9), Count{}, Some[int64](1), 28.0 / 1e6, true},
		{"more chunks than tokens", testCanary(), chatUsage(`{"prompt_tokens":9,"completion_tokens":1}`), Some[int64](9), Count{}, Some[int64](1), 28.0 / 1e6, true},
		{"truncated costs, but not what", testCanary(), steps(E(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`), end()), Some[int64](9), Count{}, Some[int64](1), -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.canary.Target.Prices = []Price{*price}
			s := probeOnce(t, scripted(c.script), c.canary)
			if s.InputTokens != c.input || s.CachedInputTokens.V != c.cached.V || s.OutputTokens != c.output {
				t.Errorf("input %v, cached %v, output %v (%s %q)", s.InputTokens, s.CachedInputTokens, s.OutputTokens, s.Outcome, s.Reason)
			}
			if s.CostUSD.Known != (c.cost >= 0) || s.CostUSD.Known && math.Abs(s.CostUSD.V-c.cost) > 1e-12 {
				t.Errorf("cost %v, want %v", s.CostUSD, c.cost)
			}
			if s.Has(UsageOdd) != c.odd {
				t.Errorf("flags %v, want odd %v", s.Flags, c.odd)
			}
		})
	}
}

func TestCostNeedsEveryPrice(t *testing.T) {
	s := &Sample{InputTokens: Some[int64](100), CachedInputTokens: Some[int64](80), OutputTokens: Some[int64](7)}
	if got := cost(s, &Price{Input: Some(2.0), Output: Some(10.0)}); got.Known {
		t.Errorf("cost %v without the price of cached input", got)
	}
	s.CachedInputTokens = Count{}
	if got := cost(s, &Price{Input: Some(2.0), Output: Some(10.0)}); !got.Known {
		t.Error("no cost although nothing was cached")
	}
}
