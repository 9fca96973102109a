package baseline

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/probe"
)

const five = 5 * time.Minute

// steady is a series with ten days of history until at.
func steady(t *testing.T, th Threshold, at time.Time) *Series {
	t.Helper()
	return loaded(t, "UTC", th, made(at.AddDate(0, 0, -10), five, 2880, .4, .3, .2), at)
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

func TestCallsAtTheirEdges(t *testing.T) {
	at := utc(3, 12, 12, 2)
	f := func(change func(*Threshold), value func(Band) float64, want Call) {
		t.Helper()
		th := DefaultThreshold()
		change(&th)
		s := steady(t, th, at)
		v := s.Judge(at, seconds(value(s.Band(at))))
		if v.Call != want {
			t.Errorf("%v is %s, want %s (limit %v, z %v)", v.Value, v.Call, want, v.Limit, v.Z)
		}
	}
	keep := func(*Threshold) {}
	times := func(share float64) func(Band) float64 {
		return func(b Band) float64 { return b.Mean * math.Exp(share*b.Line) }
	}
	f(keep, times(1.0001), Breach)
	f(keep, times(.9999), Neither)
	f(keep, times(.5001), Neither)
	f(keep, times(.4999), Calm)
	f(keep, times(-3), Calm)
	// half the line is a ratio of 1.17 here; a resolve ratio above that makes more calm, never a breach
	f(func(th *Threshold) { th.ResolveRatio = 1.2 }, func(b Band) float64 { return 1.1999 * b.Mean }, Calm)
	f(func(th *Threshold) { th.ResolveRatio = 1.2 }, func(b Band) float64 { return 1.2001 * b.Mean }, Neither)
	f(func(th *Threshold) { th.ResolveRatio = 9 }, times(1.0001), Breach)
	// far beyond the line, but not by the 300 ms asked for
	f(func(th *Threshold) { th.MinAbs = 300 * time.Millisecond }, func(b Band) float64 { return b.Mean + .299 }, Neither)
	f(func(th *Threshold) { th.MinAbs = 300 * time.Millisecond }, func(b Band) float64 { return b.Mean + .301 }, Breach)
	f(func(th *Threshold) { th.MinAbs = time.Millisecond }, times(1.0001), Breach)
	f(keep, func(Band) float64 { return 0 }, NotJudged)
	f(keep, func(Band) float64 { return -1 }, NotJudged)
}

func TestVerdictSaysWhatItSaw(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	v := s.Judge(at, time.Second)
	b := v.Band
	near(t, "value", v.Value, 1)
	near(t, "mean", v.Mean, math.Exp(b.Mu+b.Offset))
	near(t, "limit", v.Limit, v.Mean*math.Exp(b.Line))
	near(t, "ratio", v.Ratio, 1/v.Mean)
	near(t, "z", v.Z, 2*math.Log(v.Ratio)/b.Line)
	near(t, "r", v.Res.R, v.Res.E-v.Res.O)
	near(t, "r and the ratio", v.Res.R, math.Log(v.Ratio))
	if b.Threshold != DefaultThreshold().Hash() || b.Canary != "c" || b.Metric != probe.TTFT || !b.Slot.Equal(utc(3, 12, 12, 0)) {
		t.Errorf("band is stamped %q %q %q %s", b.Threshold, b.Canary, b.Metric, b.Slot)
	}
	if got := s.Judge(at, 0); got.Why != "missing" || got.Res.Judged {
		t.Errorf("no value: %+v, want missing", got)
	}
}

func TestLevelIsFrozenWithinItsSlot(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	first := *s.Judge(at, time.Second).Band
	if n := s.Exclude(utc(3, 11, 0, 0), utc(3, 11, 23, 59), true); n != 288 {
		t.Errorf("excluded %d, want 288", n)
	}
	s.Add(Point{At: utc(3, 10, 12, 1), Y: 9, Regular: true})
	if got := *s.Judge(at.Add(20*time.Minute), time.Second).Band; got.Mu != first.Mu || got.N != first.N || got.SW != first.SW {
		t.Errorf("within the slot mu went from %v to %v, n from %d to %d", first.Mu, got.Mu, first.N, got.N)
	}
	// a longer answer of this slot is judged after one of the next
	s.Judge(at.Add(30*time.Minute), time.Second)
	if got := *s.Judge(at.Add(27*time.Minute), time.Second).Band; got.Mu != first.Mu {
		t.Errorf("late value: mu %v, want %v", got.Mu, first.Mu)
	}
	// and one of long before, which leaves the newest slot's level alone
	newest := *s.Judge(at.Add(31*time.Minute), time.Second).Band
	if got := s.Judge(at.Add(-5*time.Hour), time.Second).Band; !got.Slot.Equal(utc(3, 12, 7, 0)) || got.State != "ready" {
		t.Errorf("a value of 07:02 was held against %s, %s", got.Slot, got.State)
	}
	s.Exclude(utc(3, 10, 0, 0), utc(3, 10, 23, 59), true)
	if got := *s.Judge(at.Add(32*time.Minute), time.Second).Band; got.Mu != newest.Mu {
		t.Errorf("the newest slot's mu went from %v to %v", newest.Mu, got.Mu)
	}
	s.Exclude(utc(3, 10, 0, 0), utc(3, 10, 23, 59), false)
	s.Recompute()
	got := *s.Judge(at.Add(27*time.Minute), time.Second).Band
	if got.Mu == first.Mu || got.Days != 6 || got.LeftOut["excluded"] != 18 {
		t.Errorf("recomputed: mu %v on %d days, left out %v; want another mu on 6, 18 excluded", got.Mu, got.Days, got.LeftOut)
	}
}

func TestNoiseIsRenewedTwiceADay(t *testing.T) {
	tokyo := zone(t, "Asia/Tokyo") // noon there is 03:00 here
	at := utc(3, 12, 2, 50)
	s := NewSeries(Key{Zone: tokyo, Interval: five}, DefaultOptions(), DefaultThreshold())
	s.Load(before(made(utc(2, 25, 0, 0), five, 6000, .4, .3, .2), at), nil, at)
	var renewed []time.Time
	last := 0.
	for ; at.Before(utc(3, 13, 20, 0)); at = at.Add(five) {
		v := s.Judge(at, seconds(.3+.1*float64(at.Minute()%7)))
		if v.Band.SW != last {
			renewed = append(renewed, at)
		}
		last = v.Band.SW
		s.Add(Point{At: at, Y: math.Log(v.Value), Regular: true, Res: v.Res})
	}
	want := []time.Time{utc(3, 12, 2, 50), utc(3, 12, 3, 0), utc(3, 12, 15, 0), utc(3, 13, 3, 0), utc(3, 13, 15, 0)}
	if diff := cmp.Diff(want, renewed); diff != "" {
		t.Errorf("sw changed at (-want +got):\n%s", diff)
	}
}

// What was renewed at noon knows nothing of what came after noon, whenever it is first asked.
func TestNoiseIsThatOfTheHour(t *testing.T) {
	at := utc(3, 12, 11, 57)
	one, two := steady(t, DefaultThreshold(), at), steady(t, DefaultThreshold(), at)
	one.Judge(at, time.Second)
	two.Judge(at, time.Second)
	a := one.Judge(utc(3, 12, 12, 2), time.Second)
	for m := range 60 {
		two.Add(Point{At: utc(3, 12, 12, 1+m/10).Add(time.Duration(m) * time.Second), Regular: true, Res: Residual{E: 5, R: 5, Judged: true}})
	}
	b := two.Judge(utc(3, 12, 18, 0), time.Second)
	if a.Band.SW != b.Band.SW || a.Band.SL != b.Band.SL {
		t.Errorf("sw, sL = %v, %v, and asked late %v, %v", a.Band.SW, a.Band.SL, b.Band.SW, b.Band.SL)
	}
}

func roundTrip(t *testing.T, st State) (out State) {
	t.Helper()
	body, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAddKeepsOrderAndIgnoresWhatItMust(t *testing.T) {
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	add := func(at time.Time, y float64) { s.Add(Point{At: at, Y: y, Regular: true}) }
	add(utc(3, 12, 12, 0), 1)
	add(utc(3, 12, 11, 0), 2)
	add(utc(3, 12, 11, 30), 3)
	add(utc(3, 12, 11, 30), 4) // a duplicate
	add(utc(3, 12, 11, 40), math.NaN())
	add(utc(3, 12, 11, 41), math.Inf(-1))
	add(utc(3, 1, 0, 0), 5) // too old to matter
	s.Add(Point{At: utc(3, 12, 11, 50), Y: 6})
	var got []float64
	for _, p := range s.Points() {
		got = append(got, p.Y)
	}
	if diff := cmp.Diff([]float64{2, 3, 1}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestHistoryStaysBounded(t *testing.T) {
	s := NewSeries(Key{Interval: time.Minute}, DefaultOptions(), DefaultThreshold())
	at := utc(3, 1, 0, 0)
	for range 40 * 1440 {
		s.Add(Point{At: at, Regular: true})
		s.Miss(at.Add(time.Second), "failed")
		at = at.Add(time.Minute)
	}
	const need = (7*24 + 26) * 60
	if n := cap(s.pts); n > need*9/8+16 {
		t.Errorf("room for %d points, want at most an eighth over %d", n, need)
	}
	if n := len(s.misses); n > need+1 {
		t.Errorf("%d misses kept, want at most %d", n, need)
	}
	if first := s.Points()[0].At; first.After(at.Add(-8 * 24 * time.Hour)) {
		t.Errorf("history begins %s, too late for the whole of a day a week ago", first)
	}
}

func TestExcludeGoesBothWays(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	want := s.Band(at)
	from, to := s.Points()[1000].At, s.Points()[1011].At
	for _, n := range []int{12, 0} {
		if got := s.Exclude(from, to, true); got != n {
			t.Errorf("excluded %d, want %d", got, n)
		}
	}
	if p := s.Points(); p[999].Excluded || !p[1000].Excluded || !p[1011].Excluded || p[1012].Excluded {
		t.Error("both ends belong to what is excluded, their neighbours do not")
	}
	if got := s.Exclude(from, to, false); got != 12 {
		t.Errorf("took back %d, want 12", got)
	}
	s.Recompute()
	if diff := cmp.Diff(want, s.Band(at)); diff != "" {
		t.Errorf("band after taking back (-want +got):\n%s", diff)
	}
}

func TestBandAheadFreezesNothing(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s, other := steady(t, DefaultThreshold(), at), steady(t, DefaultThreshold(), at)
	s.Judge(at, time.Second)
	other.Judge(at, time.Second)
	before := s.State()
	for h := range 24 {
		if b := s.Band(at.Add(time.Duration(h) * time.Hour)); b.State != "ready" {
			t.Errorf("band %d h ahead is %s", h, b.State)
		}
	}
	if diff := cmp.Diff(before, s.State()); diff != "" {
		t.Errorf("state after asking (-before +after):\n%s", diff)
	}
	add := func(s *Series) Band {
		for m := range 120 {
			s.Add(Point{At: at.Add(time.Duration(m) * time.Minute), Y: 1, Regular: true, Res: Residual{Judged: true, E: 1, R: 1}})
		}
		return *s.Judge(at.Add(26*time.Hour), time.Second).Band
	}
	if diff := cmp.Diff(add(other), add(s)); diff != "" {
		t.Errorf("a later band after asking ahead (-not asked +asked):\n%s", diff)
	}
}

func TestRespec(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	s.Respec("b", true)
	if b := s.Band(at); b.State != "ready" || b.Spec != "b" {
		t.Errorf("kept: %s of spec %q", b.State, b.Spec)
	}
	s.Respec("c", false)
	if b := s.Judge(at, time.Second).Band; b.State != "learning" || b.Spec != "c" || b.N != 0 || b.Days != 1 {
		t.Errorf("relearn: %+v", b)
	}
}

func TestThresholdHash(t *testing.T) {
	a, b := DefaultThreshold(), DefaultThreshold()
	if a.Hash() != b.Hash() || len(a.Hash()) != 8 {
		t.Errorf("hashes of equal thresholds: %q, %q", a.Hash(), b.Hash())
	}
	for _, change := range []func(*Threshold){
		func(t *Threshold) { t.Literal = true }, func(t *Threshold) { t.Sigma = 3 }, func(t *Threshold) { t.Kappa = 1 },
		func(t *Threshold) { t.MinRatio = 1 }, func(t *Threshold) { t.MinAbs = 1 }, func(t *Threshold) { t.OffsetCap = 1 },
		func(t *Threshold) { t.ResolveRatio = 1 },
	} {
		b := DefaultThreshold()
		change(&b)
		if a.Hash() == b.Hash() {
			t.Errorf("%+v has the hash of the default", b)
		}
	}
}

// TestScatterBetweenRunAndHalfHour: a level that is up for 20 minutes and down for 20 is hardly in the steps from run to run, nor in
// the means of half hours, but in the scatter of all: half of its values are a above usual, half below.
func TestScatterBetweenRunAndHalfHour(t *testing.T) {
	const a = .1
	at := utc(3, 12, 12, 20)
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	var list []Point
	for i := range 8 * 288 {
		y := a
		if (i/4+i/288)%2 == 1 { // not at the same time each day
			y = -a
		}
		list = append(list, Point{At: at.Add(time.Duration(i-8*288) * five), Y: y, Regular: true})
	}
	s.Load(list, nil, at)
	b := s.Band(at)
	if apart := math.Hypot(b.SW, b.SL); apart > a || math.Abs(b.Sigma-1.2139*a) > .04*a { // usual follows it a little
		t.Errorf("σ %.4f, of runs and half hours %.4f, want %.4f", b.Sigma, apart, 1.2139*a)
	}
}
