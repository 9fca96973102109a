package probe

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// none stands for a span that must be unknown.
const none = -1 * time.Nanosecond

type instants struct {
	ttft, ttfa, ttfe, e2e, tpot, gap, trailer time.Duration
}

func reasoning(field, s string) step {
	return E(fmt.Sprintf(`{"choices":[{"index":0,"delta":{%q:%q}}]}`, field, s))
}

func usageReasoning(out, thought int) step {
	return E(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`, out, thought))
}

func tail(reason string, n int) []step { return steps(fin(reason), usage(n), done(), end()) }

func thinking(field string) []step {
	return steps(role(), times(3, sleep(100*ms), reasoning(field, "x")), sleep(500*ms), tok("a"), sleep(10*ms), tok("b"), tail("stop", 5))
}

func TestInstants(t *testing.T) {
	tool := fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":%q}}]}}]}`, strings.Repeat("x", 300))
	for _, c := range []struct {
		name   string
		script []step
		want   instants
		kind   string
		reason string // of a missing tpot
	}{
		{"B01 role is no token", steps(role(), sleep(400*ms), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2)),
			instants{400 * ms, 400 * ms, 0, 410 * ms, 10 * ms, 10 * ms, 0}, "text", ""},
		{"B02 comment and ping are no token", steps(raw(": hi\n\n"), sleep(300*ms), okScript()),
			instants{350 * ms, 350 * ms, 300 * ms, 440 * ms, 10 * ms, 10 * ms, 0}, "text", ""},
		{"B06 B07 B08 four tokens a chunk", steps(role(), times(5, sleep(40*ms), tok("a b c d")), tail("stop", 20)),
			instants{40 * ms, 40 * ms, 0, 200 * ms, 160 * ms / 19, 40 * ms, 0}, "text", ""},
		{"B12 reasoning", thinking("reasoning"), instants{100 * ms, 800 * ms, 0, 810 * ms, 710 * ms / 4, 500 * ms, 0}, "reasoning", ""},
		{"B12 reasoning_content", thinking("reasoning_content"), instants{100 * ms, 800 * ms, 0, 810 * ms, 710 * ms / 4, 500 * ms, 0}, "reasoning", ""},
		{"B13 reasoning only", steps(role(), sleep(100*ms), reasoning("reasoning", "x"), sleep(10*ms), reasoning("reasoning", "y"), tail("length", 2)),
			instants{100 * ms, none, 0, 110 * ms, 10 * ms, 10 * ms, 0}, "reasoning", ""},
		{"B14 hidden reasoning with its count", steps(role(), sleep(2*time.Second), tok("a"), times(9, sleep(20*ms), tok("b")), fin("stop"), usageReasoning(1010, 1000), done(), end()),
			instants{2 * time.Second, 2 * time.Second, 0, 2180 * ms, 20 * ms, 20 * ms, 0}, "text", ""},
		{"B15 first gap is no gap", steps(role(), sleep(time.Second), tok("a"), times(2, sleep(10*ms), tok("b")), tail("stop", 3)),
			instants{time.Second, time.Second, 0, 1020 * ms, 10 * ms, 10 * ms, 0}, "text", ""},
		{"B18 a tool call held back", steps(role(), sleep(time.Second), E(tool), tail("tool_calls", 80)),
			instants{time.Second, none, 0, time.Second, none, none, 0}, "tool", "one_read"},
		{"B20 slow trailer", steps(role(), okTokens(), fin("stop"), sleep(time.Second), usage(10), done(), end()),
			instants{50 * ms, 50 * ms, 0, 140 * ms, 10 * ms, 10 * ms, time.Second}, "text", ""},
		{"B23 created in the future", steps(E(`{"created":4102444800,"choices":[{"index":0,"delta":{"role":"assistant"}}]}`), okTokens(), tail("stop", 10)),
			instants{50 * ms, 50 * ms, 0, 140 * ms, 10 * ms, 10 * ms, 0}, "text", ""},
		{"B38 one token", steps(role(), sleep(50*ms), tok("a"), tail("length", 1)),
			instants{50 * ms, 50 * ms, 0, 50 * ms, none, none, 0}, "text", "one_token"},
		{"B10 no usage, no count", steps(role(), okTokens(), fin("stop"), done(), end()),
			instants{50 * ms, 50 * ms, 0, 140 * ms, none, 10 * ms, 0}, "text", "no_usage"},
		{"two choices", steps(role(), tok("a"), sleep(10*ms), E(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`), tail("stop", 2)),
			instants{0, 0, 0, 10 * ms, none, 10 * ms, 0}, "text", "choices"},
		{"white space is a token", steps(role(), sleep(10*ms), tok("\n"), sleep(10*ms), tok("a"), tail("stop", 2)),
			instants{10 * ms, 10 * ms, 0, 20 * ms, 10 * ms, 10 * ms, 0}, "text", ""},
		{"refusal is an answer", steps(role(), sleep(10*ms), E(`{"choices":[{"delta":{"refusal":"no"}}]}`), tail("stop", 1)),
			instants{10 * ms, 10 * ms, 0, 10 * ms, none, none, 0}, "refusal", "one_token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(c.script), testCanary())
			if !s.Outcome.Success() {
				t.Fatalf("outcome %s %q", s.Outcome, s.Reason)
			}
			wantSpan(t, "ttft", s.TTFT, c.want.ttft)
			wantSpan(t, "ttfa", s.TTFA, c.want.ttfa)
			wantSpan(t, "ttfe", s.TTFE, c.want.ttfe)
			wantSpan(t, "e2e", s.E2E, c.want.e2e)
			wantSpan(t, "tpot", s.TPOT, c.want.tpot)
			wantSpan(t, "max_gap", s.MaxGap, c.want.gap)
			wantSpan(t, "trailer", s.Trailer, c.want.trailer)
			if s.FirstKind != c.kind || s.TPOTReason != c.reason {
				t.Errorf("first %q, tpot_reason %q; want %q, %q", s.FirstKind, s.TPOTReason, c.kind, c.reason)
			}
		})
	}
}

func TestB07TokensAndChunksAreTwo(t *testing.T) {
	s := probeOnce(t, scripted(steps(role(), times(5, sleep(40*ms), tok("a b c d")), tail("stop", 20))), testCanary())
	if s.OutputTokens != Some[int64](20) || s.Chunks != 5 || s.TokensSource != "usage" {
		t.Errorf("tokens %v, chunks %d, source %q", s.OutputTokens, s.Chunks, s.TokensSource)
	}
}

func TestB37Identity(t *testing.T) {
	s := probeOnce(t, scripted(okScript()), testCanary())
	if sum := s.TTFT.D + s.TPOT.D*time.Duration(s.OutputTokens.V-1); sum != s.E2E.D {
		t.Errorf("ttft + tpot·(N−1) = %v, e2e = %v", sum, s.E2E.D)
	}
	s = probeOnce(t, scripted(steps(role(), sleep(2*time.Second), tok("a"), times(9, sleep(20*ms), tok("b")), fin("stop"), usageReasoning(1010, 1000), done(), end())), testCanary())
	visible := s.OutputTokens.V - s.ReasoningTokens.V
	if sum := s.TTFA.D + s.TPOT.D*time.Duration(visible-1); sum != s.E2E.D {
		t.Errorf("ttfa + tpot·(Nvisible−1) = %v, e2e = %v", sum, s.E2E.D)
	}
}

// bufferedConn holds writes back until 4 KiB are there or it is closed.
type bufferedConn struct {
	net.Conn
	out *bufio.Writer
}

func (c *bufferedConn) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c *bufferedConn) Close() error {
	_ = c.out.Flush()
	return c.Conn.Close()
}

func TestB17B29Buffered(t *testing.T) {
	srv := scripted(steps(okScript(), cutOff()))
	srv.wrap = func(c net.Conn) net.Conn { return &bufferedConn{c, bufio.NewWriterSize(c, 64<<10)} }
	s := probeOnce(t, srv, testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "ttft", s.TTFT, 140*ms)
	wantSpan(t, "tpot", s.TPOT, none)
	if !s.Has(BufferedSuspect) || s.TPOTReason != "buffered" {
		t.Errorf("flags %v, tpot_reason %q", s.Flags, s.TPOTReason)
	}
}

func TestB21ParsingIsNotCharged(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	s := probeOnce(t, scripted(steps(role(), sleep(50*ms), tok(big), sleep(10*ms), tok("b"), tail("stop", 2))), testCanary())
	wantSpan(t, "ttft", s.TTFT, 50*ms)
	wantSpan(t, "e2e", s.E2E, 60*ms)
}

func TestB22FromT0(t *testing.T) {
	srv := scripted(steps(sleep(3*time.Second), okScript()))
	srv.delay = 100 * ms
	s := probeOnce(t, srv, testCanary())
	wantSpan(t, "ttft", s.TTFT, 3150*ms)
	wantSpan(t, "ttft_warm", s.TTFTWarm, 3050*ms)
	wantSpan(t, "sent", s.Sent, 100*ms)
	wantSpan(t, "ttfb", s.TTFB, 3100*ms)
	wantSpan(t, "connect", s.Connect, 100*ms)
}

func TestTrailerWait(t *testing.T) {
	s := probeOnce(t, scripted(steps(role(), okTokens(), fin("stop"), usage(10), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "stream_total", s.StreamTotal, 140*ms)
	if !s.Has(NoDone) {
		t.Errorf("flags %v", s.Flags)
	}
}

func TestDrainAfterDone(t *testing.T) {
	s := probeOnce(t, scripted(steps(role(), okTokens(), fin("stop"), done(), sleep(100*ms), usage(10), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "stream_total", s.StreamTotal, 140*ms)
	wantSpan(t, "tpot", s.TPOT, 10*ms)
	if len(s.Flags) > 0 {
		t.Errorf("flags %v", s.Flags)
	}
}

func TestHiddenReasoningWithoutSplit(t *testing.T) {
	c := testCanary()
	c.Target.Reasoning = true
	s := probeOnce(t, scripted(okScript()), c)
	if s.TPOT.Known || s.TPOTReason != "hidden_reasoning" {
		t.Errorf("tpot %v, reason %q", s.TPOT, s.TPOTReason)
	}
}
