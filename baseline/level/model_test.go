package level

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const five = 5 * time.Minute

func utc(month time.Month, day, hour, minute int) time.Time {
	return time.Date(2026, month, day, hour, minute, 0, 0, time.UTC)
}

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
			w := Fit(cells, five, .2)
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
	if w := Fit(make([]float64, 20), five, .1); w.Known() {
		t.Errorf("twenty cells tell %v", w)
	}
	if w := Fit(nil, five, .1); w.Known() {
		t.Errorf("no cells tell %v", w)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	cells := make([]float64, 168)
	for i := range cells {
		cells[i] = .3 * draw.NormFloat64()
	}
	if w := Fit(cells, time.Hour, .3); w[0] < .1*.3*.3 {
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
			if w := Fit(cells, every, .3); w.SD() > .3 {
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
	if w := Fit(cells, five, .1); math.Abs(w.SD()-.1) > .03 {
		t.Errorf("moves by %.3f, want .1", w.SD())
	}
}
