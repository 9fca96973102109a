package baseline

import (
	"encoding/json"
	"math"
	"slices"
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

// A new canary: the message tells which day it is and how many samples there are; nothing is judged before the third
// day with enough, and the first bands know no residual statistics.
func TestLearning(t *testing.T) {
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	list := made(utc(3, 2, 9, 0), five, 2880, .4, .3, .2)
	type seen struct {
		why     string
		state   string
		n, days int
		sw      bool
	}
	at := map[time.Time]seen{
		utc(3, 2, 9, 0):   {why: "learning", state: "learning", n: 0, days: 1},
		utc(3, 2, 12, 0):  {why: "learning", state: "learning", n: 36, days: 1},
		utc(3, 3, 0, 0):   {why: "learning", state: "learning", n: 180, days: 2},
		utc(3, 4, 12, 0):  {why: "learning", state: "learning", n: 612, days: 3},
		utc(3, 5, 8, 25):  {why: "learning", state: "learning", n: 857, days: 4},
		utc(3, 5, 8, 30):  {state: "ready", n: 42, days: 3}, // on the first date from 09:00 only
		utc(3, 5, 23, 55): {state: "ready", n: 54, days: 3}, // at noon there were 42 residuals
		utc(3, 6, 0, 0):   {state: "ready", n: 54, days: 3, sw: true},
	}
	for _, p := range list {
		v := s.Judge(p.At, seconds(math.Exp(p.Y)))
		p.Res = v.Res
		if want, ok := at[p.At]; ok {
			got := seen{why: v.Why, state: v.Band.State, n: v.Band.N, days: v.Band.Days, sw: v.Band.SW > 0}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p.At, diff)
			}
		}
		if p.Res.Judged != (v.Call != NotJudged) {
			t.Fatalf("%s: %s with residual %+v", p.At, v.Call, v.Res)
		}
		s.Add(p)
	}
}

func TestBandBeforeResidualsTellTheScatter(t *testing.T) {
	at := utc(3, 5, 12, 0)
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	for _, p := range before(made(utc(3, 2, 0, 2), five, 2880, .4, .3, .2), at) {
		if p.At.Before(utc(3, 5, 8, 0)) {
			s.Add(p)
			continue
		}
		p.Res = s.Judge(p.At, seconds(math.Exp(p.Y)*1.1)).Res
		s.Add(p)
	}
	v := s.Judge(at, time.Second)
	b := v.Band
	if b.SW != 0 || b.SL != 0 || b.Offset != 0 || v.Res.O < .05 {
		t.Errorf("sw %v, sL %v, offset %v, and o for the history %v; want 0, 0, 0 and what today shows", b.SW, b.SL, b.Offset, v.Res.O)
	}
	lv := s.levelAt(at.UnixNano())
	near(t, "sigma", b.Sigma, lv.WSD)
	near(t, "line", b.Line, 2*b.Kappa*lv.WSD)
	near(t, "mean", b.Mean, math.Exp(lv.Mu))
	near(t, "ratio", v.Ratio, 1/b.Mean)
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

// offsets is a series whose E in the last hours are those given, five minutes apart, the last one 30 minutes before at.
func offsets(interval time.Duration, at time.Time, lag time.Duration, es ...float64) *Series {
	s := NewSeries(Key{Interval: interval}, DefaultOptions(), DefaultThreshold())
	for i, e := range es {
		back := lag + time.Duration(len(es)-1-i)*interval
		s.Add(Point{At: at.Add(-back), Regular: true, Res: Residual{E: e, R: e, Judged: true}})
	}
	return s
}

func TestTodaysOffset(t *testing.T) {
	at := utc(3, 12, 12, 0)
	f := func(what string, s *Series, want float64) {
		t.Helper()
		if got := s.todaysOffset(at.UnixNano()); math.Abs(got-want) > 1e-7 {
			t.Errorf("%s: o = %v, want %v", what, got, want)
		}
	}
	const lag = 30 * time.Minute
	eight := []float64{.9, .05, .06, .07, .08, -.9, .01, .10} // sorted -.9 .01 .05 .06 .07 .08 .10 .9: positions 2 to 5
	f("eight values", offsets(five, at, lag, eight...), .8*.065)
	f("seven values", offsets(five, at, lag, eight[1:]...), 0)
	f("the newest is 29 minutes old", offsets(five, at, 29*time.Minute, eight...), 0)
	f("above the cap", offsets(five, at, lag, slices.Repeat([]float64{.5}, 10)...), math.Log(1.15))
	f("below the cap", offsets(five, at, lag, slices.Repeat([]float64{-.5}, 10)...), -math.Log(1.15))
	f("only three hours count", offsets(five, at, lag, slices.Concat(slices.Repeat([]float64{.1}, 50), slices.Repeat([]float64{.02}, 31))...), .8*.02)
	f("the oldest is three hours old", offsets(five, at, 145*time.Minute, eight...), .8*.065)
	f("the oldest is older", offsets(five, at, 145*time.Minute+time.Second, eight...), 0)
	f("15 minutes is not slower than that", offsets(15*time.Minute, at, lag, eight...), .8*.065)
	f("hourly", offsets(time.Hour, at, time.Hour, eight...), .8*.065)
	f("hourly, the newest too new", offsets(time.Hour, at, 59*time.Minute, eight...), 0)
	f("hourly, twelve hours back", offsets(time.Hour, at, 5*time.Hour, eight...), .8*.065)
	f("hourly, twelve hours and a minute back", offsets(time.Hour, at, 5*time.Hour+time.Minute, eight...), 0)

	s := offsets(five, at, lag, eight...)
	s.Exclude(at.Add(-3*time.Hour), at, true)
	f("excluded ones count", s, .8*.065)
	s = offsets(five, at, lag, eight...)
	s.Add(Point{At: at.Add(-40*time.Minute + time.Second), Y: 1, Regular: true})
	f("a value without a band does not", s, .8*.065)
	s.Add(Point{At: at.Add(-40*time.Minute + 2*time.Second), Res: Residual{E: 1, R: 1, Judged: true}})
	f("a re-probe does not", s, .8*.065)
}

func TestOffsetIsHeldWhileFiring(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	feed := func(times float64, until time.Time) (v Verdict) {
		for ; at.Before(until); at = at.Add(five) {
			v = s.Judge(at, seconds(times*s.Band(at).Mean))
			s.Add(Point{At: at, Y: math.Log(v.Value), Regular: true, Res: v.Res})
		}
		return v
	}
	held := feed(1, utc(3, 12, 13, 0)).Band.Offset
	s.Freeze(true)
	s.Freeze(true)
	if got := feed(1.5, utc(3, 12, 18, 0)); got.Band.Offset != held || got.Res.O != held {
		t.Errorf("offset while firing = %v, in the residual %v, want %v", got.Band.Offset, got.Res.O, held)
	}
	st := roundTrip(t, s.State())
	again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold())
	again.Load(s.Points(), &st, at)
	if got := again.Judge(at, time.Second).Band.Offset; got != held {
		t.Errorf("offset after a restart while firing = %v, want %v", got, held)
	}
	s.Freeze(false)
	near(t, "offset afterwards", feed(1.5, utc(3, 12, 18, 5)).Band.Offset, math.Log(1.15))
}

func TestFreezeBeforeAnythingWasJudged(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	want := s.Band(at).Offset
	s.Freeze(true)
	s.Judge(at, time.Second)
	if got := s.Judge(at.Add(5*time.Hour), time.Second).Band.Offset; got != want || want == 0 {
		t.Errorf("held offset = %v, want that of the first value judged, %v", got, want)
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

func TestBandsTellWhatTheyLeftOut(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	s.Miss(utc(3, 11, 12, 3), "failed")
	s.Miss(utc(3, 11, 12, 3), "failed") // told twice
	s.Miss(utc(3, 10, 12, 3), "failed")
	s.Miss(utc(3, 10, 11, 31), "first")
	s.Miss(utc(3, 10, 11, 29), "client_suspect") // outside of the window
	s.Exclude(utc(3, 9, 12, 0), utc(3, 9, 12, 9), true)
	want := map[string]int{"failed": 2, "first": 1, "excluded": 2}
	if diff := cmp.Diff(want, s.Band(at).LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestValuesThatAreMissing(t *testing.T) {
	f := func(change func(*probe.Sample), v time.Duration, missing string) {
		t.Helper()
		s := &probe.Sample{Outcome: probe.OK, TTFT: probe.Known(time.Second)}
		change(s)
		got, why := Value(s, probe.TTFT)
		if got != v || why != missing {
			t.Errorf("%v, %q, want %v, %q", got, why, v, missing)
		}
	}
	f(func(*probe.Sample) {}, time.Second, "")
	f(func(s *probe.Sample) { s.Outcome = probe.OKLength }, time.Second, "")
	f(func(s *probe.Sample) { s.Outcome = probe.Truncated }, 0, "failed")
	f(func(s *probe.Sample) { s.First = true }, 0, "first")
	f(func(s *probe.Sample) { s.Flags = []probe.Flag{probe.ClientSuspect} }, 0, "client_suspect")
	f(func(s *probe.Sample) { s.TTFT = probe.Span{} }, 0, "absent")
	f(func(s *probe.Sample) { s.TTFT = probe.Known(0) }, 0, "absent")
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
