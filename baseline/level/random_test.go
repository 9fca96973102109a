package level

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const minProbeSD = .02

// uniform draws from [0, 1).
func uniform(state *uint64) float64 {
	*state = *state*6364136223846793005 + 1442695040888963407
	return float64(*state>>11) / (1 << 53)
}

// smallest is the least eigenvalue of a symmetric matrix, by Jacobi's rotations.
func smallest(a [processes][processes]float64) float64 {
	for range 50 {
		for p := range processes {
			for q := p + 1; q < processes; q++ {
				if a[p][q] == 0 {
					continue
				}
				th := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := math.Copysign(1, th) / (math.Abs(th) + math.Sqrt(th*th+1))
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for k := range processes {
					a[k][p], a[k][q] = c*a[k][p]-s*a[k][q], s*a[k][p]+c*a[k][q]
				}
				for k := range processes {
					a[p][k], a[q][k] = c*a[p][k]-s*a[q][k], s*a[p][k]+c*a[q][k]
				}
			}
		}
	}
	least := a[0][0]
	for i := range processes {
		least = min(least, a[i][i])
	}
	return least
}

// drawModel draws moves of every size, with processes that do not move among them.
func drawModel(rt *rapid.T) (w Model) {
	for i := range w {
		w[i] = rapid.SampledFrom([]float64{0, 0, 1e-12, 2.25e-4, 1e-3, .01, .3, 5, 100}).Draw(rt, "w")
	}
	if !w.Known() {
		w[0] = MinSD * MinSD
	}
	return w
}

// drawMeasurements draws observations at times that stand still, go back by hours and leave out days, of values from far below usual to far
// beyond, a few of them at one time.
func drawMeasurements(rt *rapid.T, n int) (list []Measurement) {
	at := utc(3, 12, 12, 0)
	seconds := rapid.SampledFrom([]int{0, 0, 1, 30, 60, 300, 300, 300, 900, 3600, 86400, 40 * 86400, -30, -3600, -7200})
	e := rapid.OneOf(rapid.Float64Range(-.3, .3), rapid.Float64Range(-25, 25))
	sw := rapid.SampledFrom([]float64{minProbeSD, minProbeSD, .05, .3, 2})
	for len(list) < n {
		at = at.Add(time.Duration(seconds.Draw(rt, "seconds")) * time.Second)
		start := rapid.Bool().Draw(rt, "start")
		for i := range rapid.IntRange(1, 4).Draw(rt, "together") {
			list = append(list, Measurement{At: at, E: e.Draw(rt, "e"), ProbeSD: sw.Draw(rt, "sw"), MayStart: start && i == 0, Also: i > 0})
		}
	}
	return list
}

func finite(list ...float64) bool {
	for _, v := range list {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// sound says what is wrong with a state, "" if nothing is.
func sound(t KalmanState, w Model, e float64) string {
	var total float64
	for _, v := range w {
		total += v
	}
	b := t.decode(w)
	switch {
	case !finite(t.Mean[:]...) || !finite(t.Cov[:]...):
		return "not finite"
	case smallest(b.cov) < -1e-12*(1+total):
		return "a combination of the processes has a negative variance"
	case math.Abs(sum(&t.Mean)) > e+1e-9:
		return "the level is beyond all that was seen"
	}
	for i := range w {
		if b.cov[i][i] > w[i]*(1+1e-9)+1e-15 {
			return "a process is known worse than without any observation"
		}
	}
	return ""
}

// TestKalmanStateStaysSound after whatever came, in whatever pieces: finite, its covariance one of a normal law, and no further out than
// what was seen. Nothing that is weighed beside it is NaN.
func TestKalmanStateStaysSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, list := drawModel(rt), drawMeasurements(rt, rapid.IntRange(1, 80).Draw(rt, "n"))
		var whole, parts KalmanState
		for i := 0; i < len(list); {
			k := i + rapid.IntRange(1, len(list)-i).Draw(rt, "piece")
			parts = w.Follow(parts, list[i:k])
			i = k
		}
		if whole = w.Follow(whole, list); whole != parts {
			rt.Fatalf("in one %+v, in pieces %+v", whole, parts)
		}
		var far float64
		for _, x := range list {
			far = max(far, math.Abs(x.E))
		}
		if why := sound(whole, w, far); why != "" {
			rt.Fatalf("%s: %+v", why, whole)
		}
		got := w.ScanForStep(whole, list, 6, 1.15)
		for _, s := range []Step{got.Best, got.Sure} {
			if math.IsNaN(s.LLR) || math.IsInf(s.LLR, 1) {
				rt.Fatalf("%+v", got)
			}
		}
		if !finite(got.SlowExcess(), got.SlowLevel, got.SlowBound, got.Best.Before, got.Sure.Before) || got.Best.LLR < got.Sure.LLR || got.Sure.N != 0 && got.Sure.N < 6 {
			rt.Fatalf("%+v", got)
		}
	})
}

// TestKalmanStateStaysSoundForLong: a month of minutes at the least scatter, some of them all at one time.
func TestKalmanStateStaysSoundForLong(t *testing.T) {
	for _, w := range []Model{{MinSD * MinSD}, {0, 0, 0, 9}, {1e-12, 1e-12, 1e-12, 1e-12}, {100, 100, 100, 100}, {5, 1e-9, 0, 1e-9}} {
		for _, every := range []time.Duration{0, time.Microsecond, time.Minute} {
			var state KalmanState
			seed := uint64(7)
			at := utc(3, 12, 12, 0)
			for range 40000 {
				at = at.Add(every)
				state = w.Follow(state, []Measurement{{At: at, E: 4*uniform(&seed) - 2, ProbeSD: minProbeSD}})
			}
			if why := sound(state, w, 2); why != "" {
				t.Errorf("%v every %s: %s: %+v", w, every, why, state)
			}
		}
	}
}
