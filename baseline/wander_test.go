package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// process draws one that forgets itself in a time, with a standard deviation.
func process(draw *rand.Rand, n int, every, forgets time.Duration, sd float64) []float64 {
	list := make([]float64, n)
	left := math.Exp(-float64(every) / float64(forgets))
	x := sd * draw.NormFloat64()
	for i := range list {
		list[i] = x
		x = left*x + sd*math.Sqrt(1-left*left)*draw.NormFloat64()
	}
	return list
}

// TestWanderFindsWhatMoves draws levels that move in half an hour, in hours, or not at all, under probes that scatter by .2: the
// variance that is found is the level's, and where its speed says.
func TestWanderFindsWhatMoves(t *testing.T) {
	f := func(what string, forgets time.Duration, sd, gross, fast float64) {
		t.Helper()
		var total, quick float64
		const worlds = 20
		for seed := range uint64(worlds) {
			draw := rand.New(rand.NewPCG(seed, 5))
			cells := process(draw, 2016, five, forgets, sd)
			for i := range cells {
				cells[i] += .2 * draw.NormFloat64()
				if draw.IntN(50) == 0 {
					cells[i] += 2 // one in fifty is far out
				}
				if draw.IntN(30) == 0 {
					cells[i] = math.NaN()
				}
			}
			w := wanderOf(cells, five, .2)
			total += w.SD() / worlds
			quick += (w[0] + w[1]) / (w.SD() * w.SD()) / worlds
		}
		if math.Abs(total-sd) > gross {
			t.Errorf("%s: moves by %.3f, want %.3f", what, total, sd)
		}
		if math.Abs(quick-fast) > .35 {
			t.Errorf("%s: %.2f of it are fast, want %.2f", what, quick, fast)
		}
	}
	f("half an hour", 30*time.Minute, .1, .02, 1)
	f("nine hours", 9*time.Hour, .1, .03, 0)
	f("nothing moves", time.Hour, 0, .04, .5)
}

// TestWanderIsNotKnown: of few values nothing is said; of slow schedules that what moves between two runs may be the level.
func TestWanderIsNotKnown(t *testing.T) {
	if w := wanderOf(make([]float64, 20), five, .1); w.Known() {
		t.Errorf("twenty cells tell %v", w)
	}
	if w := wanderOf(nil, five, .1); w.Known() {
		t.Errorf("no cells tell %v", w)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	cells := make([]float64, 168)
	for i := range cells {
		cells[i] = .3 * draw.NormFloat64()
	}
	if w := wanderOf(cells, time.Hour, .3); w[0] < .1*.3*.3 {
		t.Errorf("hourly runs hide no fast moves: %v", w)
	}
}

// TestSlowSchedulesKeepQuietOfWhatTheyCannotSee: of probes that only scatter, however rare, nothing is said to move further than
// they do: a process that has forgotten itself at the shortest lag is no reason for what chance makes there.
func TestSlowSchedulesKeepQuietOfWhatTheyCannotSee(t *testing.T) {
	for _, every := range []time.Duration{20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour} {
		for seed := range uint64(40) {
			draw := rand.New(rand.NewPCG(seed, 3))
			cells := make([]float64, 7*24*time.Hour/every)
			for i := range cells {
				cells[i] = .3 * draw.NormFloat64()
			}
			if w := wanderOf(cells, every, .3); w.SD() > .3 {
				t.Errorf("every %s, seed %d: moves by %.3f: %v", every, seed, w.SD(), w)
			}
		}
	}
}

// TestWanderOfMixedSchedules: where rounds come at every third interval only, there are lags enough.
func TestWanderOfMixedSchedules(t *testing.T) {
	draw := rand.New(rand.NewPCG(4, 4))
	cells := process(draw, 2016, five, 30*time.Minute, .1)
	for i := range cells {
		if i%3 != 0 {
			cells[i] = math.NaN()
		}
	}
	if w := wanderOf(cells, five, .1); math.Abs(w.SD()-.1) > .03 {
		t.Errorf("moves by %.3f, want .1", w.SD())
	}
}

// TestWanderIsWiderOfFewDays: three days hide more than seven.
func TestWanderIsWiderOfFewDays(t *testing.T) {
	w := Wander{1, 2, 3, 4}
	k := kappa(presetKappa, 3) / presetKappa
	if got := w.widened(3); k < 1.5 || math.Abs(got[3]-4*k*k) > 1e-12 {
		t.Errorf("%v, widened by %v", got, k)
	}
	if got := w.widened(7); got != w {
		t.Errorf("of seven days: %v", got)
	}
}

// TestSeriesMeasuresItsWander: with a sharp threshold only, without excluded values, and the same after a restart.
func TestSeriesMeasuresItsWander(t *testing.T) {
	at := utc(3, 12, 12, 2)
	draw := rand.New(rand.NewPCG(3, 4))
	list := made(at.AddDate(0, 0, -15), five, 15*288, .4, 0, 0)
	for i := range list {
		list[i].Y = math.Log(.4) + .1*draw.NormFloat64()
		if h := list[i].At.Hour(); h == 9 {
			list[i].Y++
			list[i].Excluded = true
		}
	}
	th := DefaultThreshold()
	if s := loaded(t, "UTC", th, list, at); s.Band(at).State != "ready" || s.Wander().Known() {
		t.Errorf("balanced: %v", s.Wander())
	}
	th.Sharp = true
	s := loaded(t, "UTC", th, list, at)
	s.Band(at)
	if sd := s.Wander().SD(); sd < leastSL || sd > .04 {
		t.Errorf("moves by %.3f: excluded values are no moves", sd)
	}
	st := s.State()
	again := NewSeries(s.Key(), DefaultOptions(), th)
	again.Load(s.Points(), &st, at)
	if again.Wander() != s.Wander() {
		t.Errorf("after a restart %v, before %v", again.Wander(), s.Wander())
	}
	balanced := loaded(t, "UTC", DefaultThreshold(), list, at)
	balanced.Band(at)
	st = balanced.State()
	again.Load(s.Points(), &st, at)
	again.Band(at)
	if again.Wander() != s.Wander() {
		t.Errorf("after a restart that made it sharp %v, want %v", again.Wander(), s.Wander())
	}
}

// TestGroupMeasuresItsWander: what three series have in common is the level's, what each has for itself is not.
func TestGroupMeasuresItsWander(t *testing.T) {
	at := utc(3, 12, 12, 0)
	draw := rand.New(rand.NewPCG(6, 7))
	const n = 10 * 288
	level := process(draw, n, five, 30*time.Minute, .1)
	series := make([]*Series, 3)
	for k := range series {
		list := made(at.AddDate(0, 0, -10), five, n, .4, 0, 0)
		for i := range list {
			list[i].Y = math.Log(.4) + level[i] + .1*draw.NormFloat64()
		}
		series[k] = loaded(t, "UTC", DefaultThreshold(), list, at)
		series[k].Band(at)
	}
	g := NewGroup(five, DefaultThreshold(), GroupState{})
	shares := []Share{{E: .3, SW: .1}, {E: .4, SW: .1}, {E: .2, SW: .1}}
	v := g.Judge(at, series, shares)
	if sd := v.Wander.SD(); math.Abs(sd-.1) > .03 {
		t.Errorf("moves by %.3f, want .1", sd)
	}
	if want := math.Exp(.3); math.Abs(v.Ratio-want) > .1 {
		t.Errorf("×%v, want about ×%v", v.Ratio, want)
	}
	if w := NewGroup(five, DefaultThreshold(), g.State()).Judge(at, series, shares); w != v {
		t.Errorf("after a restart %+v, before %+v", w, v)
	}
}
