package probe

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestMessageInsteadOfDelta: an event of the shape that an answer has without a stream is the answer in one piece; beside
// deltas it repeats them.
func TestMessageInsteadOfDelta(t *testing.T) {
	const use = `,"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}`
	f := func(name string, chunks int, ttft time.Duration, text string, script ...step) {
		t.Helper()
		srv := scripted(append(script, done(), end()))
		c := testCanary()
		s, d := probeDiary(t, srv, c)
		wantOutcome(t, s, OK, "")
		if s.Chunks != chunks || d.Text != text || s.OutputTokens.V != 5 || s.TTFT.D != ttft {
			t.Errorf("%s: %d chunks, text %q, %d tokens, TTFT %v; want %d, %q, 5, %v", name, s.Chunks, d.Text, s.OutputTokens.V, s.TTFT.D, chunks, text, ttft)
		}
	}
	f("one piece", 1, 300*ms, "all of it", role(), sleep(300*ms), E(`{"choices":[{"index":0,"message":{"role":"assistant","content":"all of it"},"finish_reason":"stop"}]`+use+`}`))
	f("beside deltas", 2, 100*ms, "ab", sleep(100*ms),
		E(`{"choices":[{"index":0,"delta":{"content":"a"},"message":{"role":"assistant","content":"a"}}]}`), sleep(100*ms),
		E(`{"choices":[{"index":0,"delta":{"content":"b"},"message":{"role":"assistant","content":"ab"}}]}`), sleep(100*ms),
		E(`{"choices":[{"index":0,"delta":{"content":""},"message":{"role":"assistant","content":"ab"},"finish_reason":"stop"}]`+use+`}`))
}

// TestLogLeavesOutTheUnknown: a probe without a token has no TTFT, rather than one of 0.
func TestLogLeavesOutTheUnknown(t *testing.T) {
	f := func(script []step, want, never string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			srv := scripted(script)
			defer srv.stop()
			var out strings.Builder
			p := New(Options{Dial: srv.dial, Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			defer p.Close()
			if _, err := p.Do(context.Background(), Shot{Canary: testCanary()}); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, never) {
				t.Errorf("log %q: want %q and not %q", got, want, never)
			}
		})
	}
	f(answer(500, ""), "outcome=http_5xx", "ttft_ms")
	f(okScript(), "ttft_ms=", "reason")
}
