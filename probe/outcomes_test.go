package probe

import (
	"testing"
	"time"
)

const errBoom = `{"error":{"message":"boom"}}`

type outcomeCase struct {
	name   string
	script []step
	want   Outcome
	reason string // contained in the sample's
	flags  []Flag // all of them
}

func outcomeCases() []outcomeCase {
	sse := "Content-Type: text/event-stream"
	json := "Content-Type: application/json"
	html := "Content-Type: text/html"
	one := steps(role(), tok("a"))
	full := steps(role(), okTokens())
	return []outcomeCase{
		{"B05 no token", steps(role(), fin("stop"), usage(0), done(), end()), Empty, "without a token", nil},
		{"B83 eaten by reasoning", steps(role(), fin("length"), usageReasoning(64, 64), done(), end()), Empty, ReasonBudgetEaten, nil},
		{"B27 503", answer(503, "busy"), HTTP5xx, "busy", nil},
		{"B34 JSON for a stream", answer(200, `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`, json), NotSSE, "ignores stream", nil},
		{"B40 error in the stream", steps(one, E(errBoom), done(), end()), StreamError, "boom", nil},
		{"B55 no content type, a stream", steps(head(200, true), full, tail("stop", 10)), OK, "", nil},
		{"B55 no content type, JSON", answer(200, `{"id":"x"}`), NotSSE, "", nil},
		{"B59 event: error", steps(one, raw("event: error\ndata: {\"message\":\"x\"}\n\n"), end()), StreamError, "x", nil},
		{"B59 event: error as text", steps(one, raw("event: error\ndata: upstream gone\n\n"), end()), StreamError, "upstream gone", nil},
		{"B60 [DONE] unspaced", steps(full, fin("stop"), usage(10), raw("data:[DONE]\n\n"), end()), OK, "", nil},
		{"B60 [DONE] space behind", steps(full, fin("stop"), usage(10), raw("data: [DONE] \n\n"), end()), OK, "", nil},
		{"B60 [DONE] CR behind", steps(full, fin("stop"), usage(10), raw("data: [DONE]\r\n\r\n"), end()), OK, "", nil},
		{"B61 200 with an error", answer(200, `{"error":{"message":"no"}}`, json), StreamError, "no", nil},
		{"B61 and the connection stays open", steps(head(200, true, json), raw(`{"error":{"message":"no"}}`), sleep(time.Hour)), StreamError, "no", nil},
		{"B62 502 HTML", answer(502, "<html><body><h1>Bad gateway</h1></body></html>", html), HTTP5xx, "Bad gateway", nil},
		{"B62 B100 200 HTML", answer(200, "<html><title>Log in</title></html>", html), NotSSE, "Log in", nil},
		{"B63 no events", steps(head(200, true, sse), end()), Truncated, "no_events", nil},
		{"empty body, no content type", steps(head(200, true), end()), NotSSE, "", nil},
		{"B64 Azure's first event", steps(E(`{"choices":[],"prompt_filter_results":[{}]}`), okScript()), OK, "", nil},
		{"B65 a choice without delta", steps(E(`{"choices":[{"index":0,"content_filter_offsets":{}}]}`), okScript()), OK, "", nil},
		{"B66 usage without choices", steps(full, fin("stop"), E(`{"usage":{"prompt_tokens":9,"completion_tokens":10}}`), done(), end()), OK, "", nil},
		{"B66 choices null", steps(full, fin("stop"), E(`{"choices":null,"usage":{"prompt_tokens":9,"completion_tokens":10}}`), done(), end()), OK, "", nil},
		{"B68 no DONE", steps(full, fin("stop"), usage(10), end()), OK, "", []Flag{NoDone}},
		{"B69 DONE alone", steps(full, usage(10), done(), end()), OK, "", []Flag{NoFinish}},
		{"B69 neither", steps(full, usage(10), end()), Truncated, "terminal marker", nil},
		{"B70 close-delimited", steps(head(200, false, sse), role(), times(3, tok("a")), end()), Truncated, "after 3 token", nil},
		{"B70 chunked, cut", steps(role(), times(3, tok("a")), cutOff()), Truncated, "unexpected EOF after 3", nil},
		{"B70 reset", steps(role(), times(3, tok("a")), rst()), Truncated, "reset", nil},
		{"B72 prompt filtered", answer(400, `{"error":{"code":"content_filter","message":"m"}}`, json), ContentFilter, "", nil},
		{"B72 output filtered", steps(one, tail("content_filter", 1)), ContentFilter, "", nil},
		{"B77 error string", steps(one, E(`{"error":"kaputt"}`), end()), StreamError, "kaputt", nil},
		{"B77 detail", steps(one, E(`{"detail":"kaputt"}`), end()), StreamError, "kaputt", nil},
		{"B77 object error", steps(one, E(`{"message":"kaputt","object":"error","code":500}`), end()), StreamError, "kaputt", nil},
		{"B77 error without a blank line", steps(one, raw("data: {\"error\":\"kaputt\"}"), end()), StreamError, "kaputt", []Flag{Unterminated}},
		{"B78 code 429 inside", steps(one, E(`{"error":{"code":429,"message":"slow"}}`), end()), RateLimited, "slow", nil},
		{"B78 code string inside", steps(E(`{"error":{"code":"rate_limit_exceeded","message":"slow"}}`), end()), RateLimited, "", nil},
		{"B78 quota inside", steps(E(`{"error":{"code":"insufficient_quota","message":"pay"}}`), end()), Quota, "", nil},
		{"an error that says nothing", steps(one, E(`{"error":{}}`), done(), end()), StreamError, "an error without a word", nil},
		{"no error beside a piece", steps(full, E(`{"error":{},"choices":[{"delta":{"content":""}}]}`), tail("stop", 10)), OK, "", nil},
		{"B80 529", answer(529, ""), Overloaded, "", nil},
		{"B80 529 with a body", answer(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, json), Overloaded, "Overloaded", nil},
		{"503 overloaded", answer(503, `{"error":{"code":"engine_overloaded"}}`, json), Overloaded, "", nil},
		{"500", answer(500, `{"error":{"message":"oops"}}`, json), HTTP5xx, "oops", nil},
		{"B98 429 quota", answer(429, `{"error":{"code":"insufficient_quota","message":"pay"}}`, json), Quota, "pay", nil},
		{"B98 402", answer(402, `{"error":{"message":"Insufficient Balance"}}`, json), Quota, "", nil},
		{"429", answer(429, `{"error":{"message":"slow"}}`, json, "Retry-After: 7"), RateLimited, "slow", nil},
		{"429 for a day", answer(429, "", "Retry-After: 86400"), Quota, "", nil},
		{"401", answer(401, `{"error":{"code":"invalid_api_key","message":"bad key"}}`, json), Auth, "bad key", nil},
		{"403", answer(403, ""), Auth, "", nil},
		{"B100 404 HTML", answer(404, "<html>404 page not found</html>", html), NotFound, "404 page not found", nil},
		{"400", answer(400, `{"error":{"message":"bad","param":"temperature"}}`, json), BadRequest, "bad", nil},
		{"413", answer(413, ""), HTTP4xx, "", nil},
		{"204", steps(head(204, false), end()), NotSSE, "", nil},
		{"finish error", steps(one, tail("error", 1)), StreamError, "", nil},
		{"finish refusal", steps(one, tail("refusal", 1)), Refused, "", nil},
		{"finish out of resources", steps(one, tail("insufficient_system_resource", 1)), Overloaded, "", nil},
		{"finish length", steps(full, tail("length", 10)), OKLength, "", nil},
		{"finish unknown", steps(full, tail("brand_new", 10)), OK, "", []Flag{FinishUnknown}},
		{"finish empty, then stop", steps(full, fin(""), tail("stop", 10)), OK, "", nil},
		{"finish twice", steps(full, fin("stop"), tail("length", 10)), OKLength, "", nil},
		{"not JSON", steps(one, E(`{"choices":[`), end()), Protocol, "event 3", nil},
		{"B50 re-wrapped comment", steps(full, E("OPENROUTER PROCESSING"), tail("stop", 10)), OK, "", []Flag{SkippedEvents}},
		{"data: data:", steps(full, raw("data: data: {\"choices\":[]}\n\n"), tail("stop", 10)), OK, "", nil},
		{"B113 reset before the head", steps(rst()), Reset, "reset", nil},
		{"B113 close before the head", steps(cutOff()), Reset, "", nil},
		{"B113 reset after a token", steps(one, rst()), Truncated, "reset", nil},
		{"B113 reset after the head", steps(role(), rst()), Reset, "", nil},
		{"events without a token", steps(role(), end()), Truncated, "no_tokens", nil},
		{"malformed head", steps(func(s *side) error { _, err := s.conn.Write([]byte("SSH-2.0-x\r\n\r\n")); return err }, cutOff()), Protocol, "", nil},
		{"gzip", steps(head(200, true, sse, "Content-Encoding: gzip"), raw("\x1f\x8b\x08\x00"), end()), NotSSE, "compressed", []Flag{Gzip}},
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range outcomeCases() {
		t.Run(c.name, func(t *testing.T) {
			srv := scripted(c.script)
			s := probeOnce(t, srv, testCanary())
			wantOutcome(t, s, c.want, c.reason)
			if s.Family != c.want.Family() || s.Side != c.want.Side(s.Reason) {
				t.Errorf("family %s, side %s", s.Family, s.Side)
			}
			for _, f := range c.flags {
				if !s.Has(f) {
					t.Errorf("flags %v, want %s", s.Flags, f)
				}
			}
			if len(s.Flags) != len(c.flags) && s.Outcome == OK {
				t.Errorf("flags %v, want %v", s.Flags, c.flags)
			}
			if !s.Outcome.Success() && (s.E2E.Known || s.TPOT.Known || s.Measure(TTFT).Known) {
				t.Errorf("a failure gave a latency: %+v", s)
			}
			if srv.count() != 1 {
				t.Errorf("%d requests, want 1", srv.count())
			}
		})
	}
}

func TestB34TokensAreKnown(t *testing.T) {
	s := probeOnce(t, scripted(answer(200, `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`)), testCanary())
	if s.OutputTokens != Some[int64](5) || s.TTFT.Known {
		t.Errorf("output %v, ttft %v", s.OutputTokens, s.TTFT)
	}
}
