package baseline

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"serin/probe"
)

// stepped is a series of 9 days of five-minute values around 1 s, ending at now, the last ones of which are slower.
func stepped(t *testing.T, now time.Time, slow time.Duration, factor float64) *Series {
	t.Helper()
	s := NewSeries(Key{Canary: "gw/chat/short", Metric: probe.TTFT, Interval: 5 * time.Minute}, DefaultOptions(), DefaultThreshold())
	i := 0
	for at := now.AddDate(0, 0, -9); at.Before(now); at = at.Add(5 * time.Minute) {
		y := .05 * math.Sin(float64(i*i))
		if !at.Before(now.Add(-slow)) {
			y += math.Log(factor)
		}
		v := s.Judge(at, time.Duration(math.Exp(y)*float64(time.Second)))
		s.Add(Point{At: at, Y: y, Regular: true, Res: v.Res})
		i++
	}
	return s
}

// TestRescaleSurvivesARestart compares a rescaled series with one that is loaded from its points and state: band and
// noise are the same to the last bit, and taking the shift back gives the old level.
func TestRescaleSurvivesARestart(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	s := stepped(t, now, 12*time.Hour, 1.5)
	first := now.Add(-12 * time.Hour)
	gap, n := s.Gap(first, now)
	if n != 144 || math.Abs(gap-math.Log(1.5)) > .03 {
		t.Fatalf("gap %.3f of %d values", gap, n)
	}
	s.Rescale(first, now, gap)
	if b := s.Band(now); math.Abs(b.Mean-1.5) > .03 || math.Abs(b.Offset) > .03 || b.SL > .05 {
		t.Errorf("mean %.3f, offset %.3f, sL %.3f: the step stands in them", b.Mean, b.Offset, b.SL)
	}
	next := now.Add(30 * time.Minute)
	v := s.Judge(next, 1500*time.Millisecond)
	again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold())
	st := s.State()
	body, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var stored State
	if err := json.Unmarshal(body, &stored); err != nil {
		t.Fatal(err)
	}
	again.Load(s.Points(), &stored, next)
	if got := again.Judge(next, 1500*time.Millisecond); got.Limit != v.Limit || got.Mean != v.Mean || got.Z != v.Z || got.Res != v.Res {
		t.Errorf("after a restart %+v, before %+v", got, v)
	}
	again.Recompute()
	s.Recompute()
	if a, b := again.Judge(next, time.Second), s.Judge(next, time.Second); a.Limit != b.Limit || a.Z != b.Z {
		t.Errorf("computed anew: %v and %v", a.Limit, b.Limit)
	}
	if !again.Unscale(first, now, next) || again.Unscale(first, now, next) {
		t.Error("a shift is taken back once")
	}
	if b := again.Band(next); math.Abs(b.Mu) > .1 {
		t.Errorf("mu %.3f after the undo, want about 0", b.Mu)
	}
}

// TestGroupLineComesDown makes rounds of three and of nine series: more shares, a lower line, never below 4 sL or the
// least ratio.
func TestGroupLineComesDown(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	s := stepped(t, now, 0, 1)
	series := []*Series{s, s, s}
	z := func(n int) float64 {
		g := NewGroup(5*time.Minute, DefaultThreshold(), GroupState{})
		var shares []Share
		for range n {
			shares = append(shares, Share{E: .5, SW: .3})
		}
		v := g.Judge(now, series, shares)
		if v.Call != Breach || v.Value != 0 || v.Limit != 0 || math.Abs(v.Ratio-math.Exp(.5)) > .03 {
			t.Errorf("%d: %+v", n, v)
		}
		again := NewGroup(5*time.Minute, DefaultThreshold(), g.State())
		if w := again.Judge(now, series, shares); w != v {
			t.Errorf("%d: after a restart %+v, before %+v", n, w, v)
		}
		return v.Z
	}
	want := func(n int, sl float64) float64 {
		return 2 * .5 / max(2*math.Sqrt(sl*sl+1.35/(float64(n)/(.3*.3))), 4*sl, math.Log(1.25))
	}
	g := NewGroup(5*time.Minute, DefaultThreshold(), GroupState{})
	g.Judge(now, series, []Share{{0, .3}})
	for _, n := range []int{2, 3, 9, 200} {
		if got, w := z(n), want(n, g.State().LevelSD); math.Abs(got-w) > .05*w {
			t.Errorf("%d shares: z %.3f, want %.3f", n, got, w)
		}
	}
	if v := g.Judge(now, series, nil); v.Call != NotJudged {
		t.Errorf("no shares: %s", v.Call)
	}
}

// TestFellIsNoMissedGap: what Gap puts below a level, Fell never passes over, and calm values it does.
func TestFellIsNoMissedGap(t *testing.T) {
	s, at := month(five)
	from := at.Add(-72 * time.Hour)
	gap, n := s.Gap(from, at)
	if n == 0 {
		t.Fatal("no values")
	}
	for _, d := range []float64{1e-9, .01, .05} {
		if !s.Fell(from, at, gap+d) {
			t.Errorf("median %v: passed over below %v", gap, gap+d)
		}
	}
	if s.Fell(from, at, gap-.3) || s.Fell(at, at.Add(time.Hour), 1) {
		t.Error("fell to where it never was, or without values")
	}
}
