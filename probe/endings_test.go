package probe

import (
	"fmt"
	"testing"
	"time"
)

// TestFinishReasons: what a finish reason says is a failure is one, whatever came before it.
func TestFinishReasons(t *testing.T) {
	full := steps(role(), tok("a"), times(9, sleep(10*ms), tok("b")))
	f := func(reason string, want Outcome) {
		t.Helper()
		s := probeOnce(t, scripted(steps(full, tail(reason, 10))), testCanary())
		wantOutcome(t, s, want, "")
		if s.FinishReason != reason || s.Has(FinishUnknown) {
			t.Errorf("%s: finish_reason %q, flags %v", reason, s.FinishReason, s.Flags)
		}
	}
	for _, reason := range []string{"abort", "aborted", "cancelled", "network_error", "timeout", "MALFORMED_FUNCTION_CALL", "OTHER", "failed"} {
		f(reason, StreamError)
	}
	for _, reason := range []string{"sensitive", "SAFETY", "LANGUAGE", "guardrail_intervened", "ERROR_TOXIC"} {
		f(reason, ContentFilter)
	}
	for _, reason := range []string{"eos_token", "model_length", "stop_sequence", "end_turn", "STOP", "COMPLETE", "eosFound"} {
		f(reason, OK)
	}
	for _, reason := range []string{"max_tokens", "MAX_TOKENS", "model_context_window_exceeded"} {
		f(reason, OKLength)
	}
	s := probeOnce(t, scripted(steps(role(), fin("network_error"), usage(0), done(), end())), testCanary())
	wantOutcome(t, s, StreamError, "network_error")
	s = probeOnce(t, scripted(steps(full, fin("null"), tail("stop", 10))), testCanary())
	wantOutcome(t, s, OK, "")
	if s.FinishReason != "stop" {
		t.Errorf(`"null" counted: %q`, s.FinishReason)
	}
}

// TestErrorsInAnyChunk: an error object decides over any finish reason, in whichever field it stands.
func TestErrorsInAnyChunk(t *testing.T) {
	one := steps(role(), tok("a"), sleep(10*ms), tok("b"))
	f := func(chunk string, want Outcome, reason string) {
		t.Helper()
		wantOutcome(t, probeOnce(t, scripted(steps(one, E(chunk), tail("stop", 2))), testCanary()), want, reason)
	}
	f(`{"id":"c","choices":[],"x_groq":{"id":"r","error":"over_capacity"}}`, Overloaded, "over_capacity")
	f(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"error":{"code":502,"message":"upstream died"}}`, StreamError, "upstream died")
	f(`{"choices":[],"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, Quota, "insufficient balance")
	f(`{"error":"Model is overloaded","error_type":"overloaded"}`, Overloaded, "Model is overloaded")
	f(`{"error_code":18,"error_msg":"Open api qps request limit reached"}`, StreamError, "qps")
	f(`{"choices":[],"base_resp":{"status_code":0,"status_msg":""}}`, OK, "")
	f(`{"choices":[],"x_groq":{"id":"r","error":null}}`, OK, "")
}

// TestEarlyFinishReasons: a finish reason that tokens follow meant nothing; the stream is read to its end.
func TestEarlyFinishReasons(t *testing.T) {
	both := func(field, text, reason string) step {
		return E(fmt.Sprintf(`{"choices":[{"index":0,"delta":{%q:%q},"finish_reason":%q}]}`, field, text, reason))
	}
	s := probeOnce(t, scripted(steps(role(), sleep(100*ms), times(5, both("reasoning_content", "hm", "stop"), sleep(50*ms)), times(24, tok("w"), sleep(300*ms)), tail("stop", 29))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 7250*ms)
	if s.Chunks != 29 || s.OutputTokens != Some(int64(29)) || len(s.Flags) > 0 {
		t.Errorf("%d chunks, %v tokens, flags %v", s.Chunks, s.OutputTokens, s.Flags)
	}
	s = probeOnce(t, scripted(steps(E(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`), sleep(6500*ms), times(10, tok("w"), sleep(20*ms)), tail("stop", 10))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "ttft", s.TTFT, 6500*ms)
	if s.Chunks != 10 {
		t.Errorf("%d chunks", s.Chunks)
	}
	// On all chunks, with a long pause: what comes behind it counts, and silence ends it.
	s = probeOnce(t, scripted(steps(both("content", "a", "stop"), sleep(300*ms), both("content", "b", "stop"), sleep(5600*ms), both("content", "c", "stop"), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 5900*ms)
	// An early one, then tokens, then nothing: the answer was never complete.
	s = probeOnce(t, scripted(steps(both("content", "a", "stop"), sleep(300*ms), tok("b"), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, TimeoutStall, "idle")
	s = probeOnce(t, scripted(steps(both("content", "a", "stop"), sleep(300*ms), tok("b"), rst())), testCanary())
	wantOutcome(t, s, Truncated, "reset")
	// Tokens for ever behind a finish reason: the total limit holds.
	s = probeOnce(t, scripted(steps(fin("stop"), times(700, tok("a"), sleep(time.Second)))), testCanary())
	wantOutcome(t, s, TimeoutTotal, "")
	// Without a token the first-token limit holds.
	s = probeOnce(t, scripted(steps(fin("stop"), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, TimeoutFirstToken, "")
	s = probeOnce(t, scripted(steps(fin("content_filter"), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, ContentFilter, "")
}

func TestGeminiStopOnAllChunks(t *testing.T) {
	g := func(text string) step {
		return E(`{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}}`)
	}
	s := probeOnce(t, scripted(steps(g("a "), sleep(5600*ms), g("b "), sleep(300*ms), g("c "), sleep(100*ms), g("d"), end())), speak("gemini"))
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 6*time.Second)
	if s.Chunks != 4 {
		t.Errorf("%d chunks", s.Chunks)
	}
}

// TestEmptyChunksAreNoProgress: after the first token nothing but tokens shows that the answer goes on.
func TestEmptyChunksAreNoProgress(t *testing.T) {
	for _, beat := range []string{`{"id":"c","choices":[]}`, `{"choices":[{"index":0,"delta":{}}]}`, `{"choices":[{"index":0,"delta":{"content":""}}]}`} {
		c := testCanary()
		c.Target.StallTimeout = time.Second
		s := probeOnce(t, scripted(steps(role(), times(3, sleep(50*ms), tok("a")), times(100, sleep(300*ms), E(beat)))), c)
		wantOutcome(t, s, TimeoutStall, "no_progress")
		if s.Chunks != 3 {
			t.Errorf("%s: %d chunks", beat, s.Chunks)
		}
	}
	c := testCanary() // before the first token they are
	c.Target.StallTimeout = time.Second
	s := probeOnce(t, scripted(steps(times(20, sleep(300*ms), E(`{"id":"c","choices":[]}`)), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2))), c)
	wantOutcome(t, s, OK, "")
}

// TestSummarisedThinking: text in a thinking block proves nothing about the tokens that it stands for.
func TestSummarisedThinking(t *testing.T) {
	f := func(name string, seen bool, details string, tpot time.Duration, reason string) {
		t.Helper()
		thinking := steps(A(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`), sleep(1500*ms))
		if seen {
			thinking = steps(thinking, times(20, A(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"short words"}}`), sleep(10*ms)))
		}
		thinking = steps(thinking, A(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`))
		script := steps(start(`{"input_tokens":20,"output_tokens":3}`), thinking, times(10, text("word "), sleep(20*ms)), stop("end_turn", `{"output_tokens":1010`+details+`}`))
		s := probeOnce(t, scripted(script), anthropicCanary())
		wantOutcome(t, s, OK, "")
		if s.TPOTReason != reason || s.TPOT.D != tpot || s.ReasoningTokens.Known != (details != "") {
			t.Errorf("%s: tpot %v %q, reasoning %v", name, s.TPOT, s.TPOTReason, s.ReasoningTokens)
		}
	}
	const split = `,"output_tokens_details":{"thinking_tokens":1000}`
	f("summary and split", true, split, 20*ms, "")
	f("signature alone and split", false, split, 20*ms, "")
	f("summary, no split", true, "", 0, "hidden_reasoning")

	// The same through gateways that speak chat.
	chat := func(name, delta string) {
		t.Helper()
		s := probeOnce(t, scripted(steps(role(), times(20, E(`{"choices":[{"index":0,"delta":`+delta+`}]}`), sleep(10*ms)), times(10, tok("w"), sleep(20*ms)), tail("stop", 1010))), testCanary())
		if wantOutcome(t, s, OK, ""); s.TPOTReason != "hidden_reasoning" {
			t.Errorf("%s: tpot %v %q", name, s.TPOT, s.TPOTReason)
		}
	}
	chat("summary beside text", `{"reasoning":"words","reasoning_details":[{"type":"reasoning.summary","summary":"words"}]}`)
	chat("thinking blocks", `{"reasoning_content":"words","thinking_blocks":[{"type":"thinking","thinking":"words"}]}`)
	chat("a signature", `{"reasoning":"words","reasoning_details":[{"type":"reasoning.text","text":"words","signature":"abc"}]}`)
}

// TestWordsBeatTheStatus: a machine-readable reason says more than the status that it came with.
func TestWordsBeatTheStatus(t *testing.T) {
	f := func(status int, body string, want Outcome) {
		t.Helper()
		wantOutcome(t, probeOnce(t, scripted(answer(status, body, "Content-Type: application/json")), testCanary()), want, "")
	}
	f(429, `{"error":{"http_code":"429","message":"insufficient balance (1008)","type":"insufficient_balance_error"},"request_id":"x"}`, Quota)
	f(429, `{"error":{"code":"1113","message":"x"}}`, Quota)
	f(401, `{"message":"See billing","type":"CreditsError","param":"","code":null}`, Quota)
	f(403, `{"code":30011,"message":"paid balance is insufficient","data":null}`, Quota)
	f(400, `{"error":{"message":"spent","type":"budget_exceeded","param":null,"code":"400"}}`, Quota)
	f(429, `{"error":{"message":"spent","type":"budget_exceeded","param":null,"code":"429"}}`, Quota)
	f(403, `{"error":{"message":"used up","type":"AllocationQuota.FreeTierOnly","code":"AllocationQuota.FreeTierOnly"}}`, Quota)
	f(400, `{"error":{"message":"bad standing","type":"Arrearage","code":"Arrearage"}}`, Quota)
	f(429, `{"error":"Model is overloaded","error_type":"overloaded"}`, Overloaded)
	f(400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"x","reason":"API_KEY_INVALID"}]}}`, Auth)
	f(403, `{"error":{"code":403,"message":"x","status":"PERMISSION_DENIED","details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}`, RateLimited)
	f(429, `{"code":"Throttling.RateQuota","message":"x"}`, RateLimited)
	// Words that only say that something is wrong leave it to the status.
	f(401, `{"error":{"message":"no key","type":"invalid_request_error","code":null}}`, Auth)
	f(404, `{"error":{"message":"x","type":"invalid_request_error"}}`, NotFound)
	f(503, `{"error":{"message":"x","type":"server_error"}}`, HTTP5xx)
}
