package baseline

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/probe"
)

// live runs a series from nothing over the list, and returns what judging left.
func live(s *Series, list []Point) []Point {
	out := make([]Point, 0, len(list))
	for _, p := range list {
		p.Res = s.Judge(p.At, seconds(math.Exp(p.Y))).Res
		s.Add(p)
		out = append(out, p)
	}
	return out
}

func berlin(t *testing.T) Key {
	return Key{Canary: "c", Metric: probe.TTFT, Zone: zone(t, "Europe/Berlin"), Interval: five}
}

// An import of what a running daemon would have measured gives the residuals that it would have made.
func TestReplayMakesTheResidualsOfALiveRun(t *testing.T) {
	list := made(utc(3, 20, 0, 3), five, 14*288, .4, .3, .2)
	for i := range list { // as a Point would have it
		list[i].Y = math.Log(seconds(math.Exp(list[i].Y)).Seconds())
	}
	want := live(NewSeries(berlin(t), DefaultOptions(), DefaultThreshold()), list)
	now := list[len(list)-1].At.Add(time.Minute)
	shuffled := slices.Clone(list)
	for i := range shuffled { // any order
		j := (i * 7919) % len(shuffled)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	s := NewSeries(berlin(t), DefaultOptions(), DefaultThreshold())
	made := s.Load(shuffled, nil, now)
	want = slices.DeleteFunc(want, func(p Point) bool { return !p.Res.Judged })
	if len(made) != len(want) || len(made) < 10*288 {
		t.Fatalf("replay made %d residuals, the live run %d", len(made), len(want))
	}
	for i := range made {
		got, want := made[i], want[i]
		if !got.At.Equal(want.At) || math.Abs(got.Res.E-want.Res.E) > 1e-7 || math.Abs(got.Res.O-want.Res.O) > 1e-7 {
			t.Fatalf("replayed %+v, live %+v", got, want)
		}
	}
	if first := s.Points()[0].At; first.Before(now.Add(-9 * 24 * time.Hour)) {
		t.Errorf("history kept since %s, far more than the rule needs", first)
	}
}

// Stored and loaded again, a replayed history needs no second replay.
func TestReplayHappensOnce(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	if again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold()).Load(s.Points(), nil, at); len(again) != 0 {
		t.Errorf("%d points were replayed again", len(again))
	}
}

func TestReplayLeavesJudgedPointsAlone(t *testing.T) {
	at := utc(3, 12, 12, 2)
	list := before(made(utc(3, 2, 0, 2), five, 4000, .4, .3, .2), at)
	kept := Residual{E: .25, O: .125, R: .125, Judged: true}
	list[2000].Res = kept
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	for _, p := range s.Load(list, nil, at) {
		if p.At.Equal(list[2000].At) {
			t.Error("a judged point was replayed")
		}
	}
	for _, p := range s.Points() {
		if p.At.Equal(list[2000].At) && p.Res != kept {
			t.Errorf("a judged point's residual became %+v", p.Res)
		}
	}
}

// Stopped in the middle of a slot and started again, a series says the same of every later value.
func TestRestartChangesNothing(t *testing.T) {
	list := made(utc(3, 15, 0, 3), five, 16*288, .4, .3, .2)
	f := func(stop time.Time) {
		t.Helper()
		s := NewSeries(berlin(t), DefaultOptions(), DefaultThreshold())
		old := before(list, stop)
		live(s, old)
		st := roundTrip(t, s.State())
		again := NewSeries(berlin(t), DefaultOptions(), DefaultThreshold())
		again.Load(s.Points(), &st, stop)
		for _, p := range list[len(old):min(len(old)+300, len(list))] {
			a, b := s.Judge(p.At, seconds(math.Exp(p.Y))), again.Judge(p.At, seconds(math.Exp(p.Y)))
			if diff := cmp.Diff(a, b); diff != "" {
				t.Fatalf("stopped %s, at %s (-running +restarted):\n%s", stop, p.At, diff)
			}
			p.Res = a.Res
			s.Add(p)
			again.Add(p)
		}
	}
	f(utc(3, 16, 9, 40))  // learning
	f(utc(3, 18, 9, 40))  // first bands, no residual statistics
	f(utc(3, 21, 10, 59)) // just before they are renewed in Berlin
	f(utc(3, 29, 0, 59))  // before the clock goes forward
	f(utc(3, 29, 1, 40))
}

// A level frozen before a restart stays, also where the points would say something else by now.
func TestRestartKeepsWhatIsFrozen(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	want := *s.Judge(at, time.Second).Band
	s.Exclude(utc(3, 11, 0, 0), utc(3, 11, 23, 59), true)
	st := roundTrip(t, s.State())
	f := func(th Threshold, opt Options, k Key, same bool) {
		t.Helper()
		again := NewSeries(k, opt, th)
		again.Load(s.Points(), &st, at.Add(time.Minute))
		if got := *again.Judge(at.Add(time.Minute), time.Second).Band; (got.Mu == want.Mu && got.SW == want.SW) != same {
			t.Errorf("mu %v, sw %v; frozen %v, %v; want the same: %t", got.Mu, got.SW, want.Mu, want.SW, same)
		}
	}
	th, opt := DefaultThreshold(), DefaultOptions()
	f(th, opt, s.Key(), true)
	th.Sigma = 3
	f(th, opt, s.Key(), true) // the limit moves, what is usual does not
	wider := opt
	wider.Slot = time.Hour
	f(th, wider, s.Key(), false)
	k := s.Key()
	k.Zone = zone(t, "Asia/Tokyo")
	f(th, opt, k, false)
	k = s.Key()
	k.Interval = time.Minute
	f(th, opt, k, false)
}

// An import while the daemon was down: residuals come about, and nothing that was frozen before it counts.
func TestLoadAfterAnImport(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	s.Judge(at, time.Second)
	st := roundTrip(t, s.State())
	again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold())
	replayed := again.Load(before(made(utc(3, 5, 12, 2), five, 4000, .4, .3, .2), at), &st, at.Add(time.Minute))
	if len(replayed) < 4*288 {
		t.Errorf("seven days gave %d residuals", len(replayed))
	}
	b := again.Judge(at.Add(time.Minute), time.Second).Band
	if b.State != "ready" || b.Days != 7 || b.SW == 0 || b.SL == 0 {
		t.Errorf("band after the import: %+v", b)
	}
}

func TestLoadIgnoresWhatLiesAhead(t *testing.T) {
	at := utc(3, 12, 12, 2)
	list := before(made(utc(3, 2, 0, 2), five, 4000, .4, .3, .2), at)
	want := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	want.Load(list, nil, at)
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	s.Load(append(slices.Clone(list), Point{At: at.AddDate(1, 0, 0), Y: 1, Regular: true}), nil, at)
	if diff := cmp.Diff(want.Points(), s.Points()); diff != "" {
		t.Errorf("history with a point a year ahead (-without +with):\n%s", diff)
	}
}

// After the literal preset, which leaves no residuals, the balanced one finds them by replay.
func TestLeavingTheLiteralPreset(t *testing.T) {
	at := utc(3, 12, 12, 2)
	th := DefaultThreshold()
	th.Literal = true
	s := steady(t, th, at)
	st := s.State()
	again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold())
	if n := len(again.Load(s.Points(), &st, at)); n == 0 {
		t.Error("nothing was replayed")
	}
	if b := again.Judge(at, time.Second).Band; b.State != "ready" || b.SW == 0 {
		t.Errorf("band: %+v", b)
	}
}
