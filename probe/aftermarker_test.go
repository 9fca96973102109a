package probe

import (
	"testing"
	"time"
)

// TestAfterTheMarker: what comes behind the last marker is no part of the answer, but for usage.
func TestAfterTheMarker(t *testing.T) {
	for _, c := range []struct {
		name  string
		after []step
		out   int64
	}{
		{"usage", steps(usage(7), end()), 7},
		{"a token", steps(tok("late"), end()), 2},
		{"an error", steps(E(`{"error":{"message":"late"}}`), end()), 2},
		{"an error event", steps(raw("event: error\ndata: late\n\n"), end()), 2},
		{"a finish reason", steps(fin("content_filter"), end()), 2},
		{"no JSON", steps(E("{"), end()), 2},
		{"an event over the cap", steps(raw("data: {"), times(5, raw(string(make([]byte, 1<<20)))), end()), 2},
		{"a reset", steps(rst()), 2},
		{"silence", steps(sleep(time.Hour)), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, d := probeDiary(t, scripted(steps(tok("a"), sleep(10*ms), tok("b"), fin("stop"), usage(2), done(), sleep(ms), c.after)), testCanary())
			wantOutcome(t, s, OK, "")
			wantSpan(t, "e2e", s.E2E, 10*ms)
			wantSpan(t, "stream_total", s.StreamTotal, 10*ms)
			if d.Text != "ab" || s.Chunks != 2 || s.OutputTokens != Some(c.out) || s.FinishReason != "stop" {
				t.Errorf("text %q, %d chunks, %v tokens, finish %q", d.Text, s.Chunks, s.OutputTokens, s.FinishReason)
			}
		})
	}
}

// TestFirstByteBehindInterimAnswers: a 1xx is no first byte, and takes none away.
func TestFirstByteBehindInterimAnswers(t *testing.T) {
	interim := func(lines string) step {
		return func(s *side) error {
			_, err := s.conn.Write([]byte("HTTP/1.1 " + lines + "\r\n\r\n"))
			return err
		}
	}
	for _, c := range []struct {
		name   string
		before []step
		want   time.Duration
	}{
		{"none", steps(sleep(30 * ms)), 30 * ms},
		{"100", steps(sleep(10*ms), interim("100 Continue"), sleep(20*ms)), 30 * ms},
		{"103 twice", steps(interim("103 Early Hints\r\nLink: x"), sleep(10*ms), interim("103 Early Hints\r\nLink: y"), sleep(20*ms)), 30 * ms},
	} {
		s := probeOnce(t, scripted(steps(c.before, role(), sleep(10*ms), tok("a"), tail("stop", 1))), testCanary())
		wantOutcome(t, s, OK, "")
		wantSpan(t, c.name+": ttfb", s.TTFB, c.want)
		wantSpan(t, c.name+": ttft", s.TTFT, c.want+10*ms)
	}
}
