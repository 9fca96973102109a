package probe

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"serin/probe/wire"
)

func TestStamp(t *testing.T) {
	base := time.Now()
	prev := reading{seq: 3, at: base, back: base}
	now := base.Add(100 * ms)
	wall := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	f := func(name string, wall int64, at time.Time, kernel bool) {
		t.Helper()
		r := stamp(prev, now, wall)
		if !r.at.Equal(at) || r.kernel != kernel || r.seq != 4 || r.lag != now.Sub(at) && r.kernel {
			t.Errorf("%s: %+v, want at %v, kernel %v", name, r, at, kernel)
		}
	}
	f("none", 0, now, false)
	f("3 ms ago", wall(3*ms), now.Add(-3*ms), true)
	f("a little before the read before", wall(105*ms), base, true)
	f("clock stepped on", wall(-2*time.Second), now, false)
	f("clock stepped back", wall(time.Hour), now, false)
}

func TestClientSuspect(t *testing.T) {
	base := time.Now()
	at := func(seq int, d, lag time.Duration, kernel bool) reading {
		return reading{seq: seq, at: base.Add(d), back: base.Add(d + lag), kernel: kernel, lag: lag}
	}
	token := &wire.Piece{Kind: wire.Text, Structure: true}
	f := func(name string, want bool, meter *lagMeter, reads ...reading) {
		t.Helper()
		var f fold
		for _, r := range reads {
			f.lagged(r)
			f.add(token, r, false)
		}
		s := &Sample{TTFT: since(base, f.token)}
		f.stampOf(s, meter)
		if s.Has(ClientSuspect) != want {
			t.Errorf("%s: flags %v, lag %v", name, s.Flags, s.Lag)
		}
	}
	calm := &lagMeter{}
	f("kernel, late alone", false, calm, at(1, 100*ms, 50*ms, true), at(2, 200*ms, 50*ms, true))
	f("kernel, late together", true, calm, at(1, 100*ms, 0, true), at(2, 200*ms, 6*ms, true), at(2, 200*ms, 6*ms, true))
	f("kernel, a little late together", false, calm, at(1, 100*ms, 0, true), at(2, 200*ms, 4*ms, true), at(2, 200*ms, 4*ms, true))
	f("2 % of a long TTFT", false, calm, at(1, 10*time.Second, 150*ms, true), at(1, 10*time.Second, 150*ms, true), at(2, 11*time.Second, 0, true))
	f("read, calm", false, calm, at(1, 100*ms, 0, false), at(2, 200*ms, 0, false))
	busy := &lagMeter{late: []lateTick{{base.Add(80 * ms), base.Add(110 * ms)}}}
	f("read, busy at the first token", true, busy, at(1, 100*ms, 0, false), at(2, 200*ms, 0, false))
	both := []reading{at(1, 80*ms, 0, true), at(1, 80*ms, 0, true), at(2, 200*ms, 0, true)}
	f("kernel, busy while the first tokens lay there together", true, busy, both...)
	f("kernel, busy while the first token came alone", false, busy, at(1, 100*ms, 0, true), at(2, 200*ms, 0, true))
	f("kernel, calm, the server sent two together", false, calm, both...)
	together := []reading{at(1, 100*ms, 0, true), at(1, 100*ms, 0, true)}
	f("kernel, first tokens together, reads late soon after", true, calm, append(together[:2:2], at(2, 300*ms, 20*ms, true))...)
	f("kernel, first tokens together, reads late long after", false, calm, append(together[:2:2], at(2, 1200*ms, 20*ms, true))...)
	f("kernel, first token alone, reads late soon after", false, calm, at(1, 100*ms, 0, true), at(2, 300*ms, 20*ms, true))
	f("read, busy at another time", false, busy, at(1, 150*ms, 0, false), at(2, 200*ms, 0, false))
}

func TestLagMeterSeesADelay(t *testing.T) {
	m := &lagMeter{}
	m.acquire()
	m.acquire()
	m.release()
	m.release()
	m.note(lateTick{time.Unix(1, 0), time.Unix(1, 0).Add(20 * ms)})
	if got := m.lateAt(time.Unix(1, 0).Add(10 * ms)); got != 20*ms {
		t.Errorf("late %v", got)
	}
	for i := range 2 * lagKept {
		m.note(lateTick{time.Unix(int64(i), 0), time.Unix(int64(i), 0).Add(2 * ms)})
	}
	if len(m.late) != lagKept {
		t.Errorf("%d delays kept", len(m.late))
	}
}

// TestB37IdentityForAnyStream: ttft + tpot·(N−1) = e2e, and a few chunks for many tokens do not break it.
func TestB37IdentityForAnyStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Now()
		at := time.Duration(0)
		var f fold
		for i := range rapid.IntRange(2, 50).Draw(t, "chunks") {
			at += time.Duration(rapid.Int64Range(int64(ms), int64(time.Second)).Draw(t, "gap"))
			f.add(&wire.Piece{Kind: wire.Text}, reading{seq: i + 1, at: base.Add(at)}, false)
		}
		n := rapid.Int64Range(int64(f.chunks), int64(4*f.chunks)).Draw(t, "tokens")
		s := &Sample{Outcome: OK, OutputTokens: Some(n)}
		f.measure(s, base, &timeline{}, testCanary(), base.Add(at))
		if !s.TPOT.Known {
			t.Fatalf("no tpot: %s", s.TPOTReason)
		}
		rest := s.E2E.D - s.TTFT.D - s.TPOT.D*time.Duration(n-1)
		if rest < 0 || rest >= time.Duration(n-1) { // whole nanoseconds
			t.Fatalf("ttft %v + %d·tpot %v is off e2e %v by %v", s.TTFT.D, n-1, s.TPOT.D, s.E2E.D, rest)
		}
	})
}

func TestB17EightyPercent(t *testing.T) {
	base := time.Now()
	f := func(want string, n int64, seqs ...int) {
		t.Helper()
		var f fold
		for _, seq := range seqs {
			f.add(&wire.Piece{Kind: wire.Text}, reading{seq: seq, at: base.Add(time.Duration(seq) * 10 * ms)}, false)
		}
		s := &Sample{Outcome: OK, OutputTokens: Some(n)}
		f.pace(s, testCanary())
		if s.TPOTReason != want || s.TPOT.Known != (want == "") || slices.Contains(s.Flags, BufferedSuspect) != (want == "buffered") {
			t.Errorf("%v: tpot %v, reason %q, flags %v", seqs, s.TPOT, s.TPOTReason, s.Flags)
		}
	}
	f("buffered", 10, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3)
	f("", 10, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3)
	f("one_read", 7, 1, 1, 1, 1, 1, 1, 1)
	f("buffered", 8, 1, 1, 1, 1, 1, 1, 1, 1)
	f("one_token", 1, 1, 2)
	f("buffered", 1000, 1, 2, 3)
}
