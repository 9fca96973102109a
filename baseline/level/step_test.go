package level

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// likelihood is ln of the density of values (but for a constant) of a normal law with a covariance, by Cholesky.
func likelihood(x []float64, cov [][]float64) (sum float64) {
	n := len(x)
	l := make([][]float64, n)
	y := make([]float64, n)
	for i := range n {
		l[i] = make([]float64, n)
		for j := range i + 1 {
			s := cov[i][j]
			for k := range j {
				s -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(s)
				sum -= math.Log(l[i][i])
			} else {
				l[i][j] = s / l[j][j]
			}
		}
		y[i] = x[i]
		for k := range i {
			y[i] -= l[i][k] * y[k]
		}
		y[i] /= l[i][i]
		sum -= y[i] * y[i] / 2
	}
	return sum
}

// TestScoreIsTheLikelihoodRatio holds scores against the densities of normal laws of all observations together, worked out another way:
// where no observation is loud they are the same.
func TestScoreIsTheLikelihoodRatio(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	w := Model{.01, .004, .02, .006}
	for range 50 {
		at := utc(3, 12, 12, 0)
		var all []Measurement
		for range 14 {
			at = at.Add(time.Duration(30+draw.IntN(600)) * time.Second)
			all = append(all, Measurement{At: at, E: .1 * draw.NormFloat64(), ProbeSD: .3 + .2*draw.Float64(), MayStart: true})
		}
		cov := make([][]float64, len(all))
		for i := range all {
			cov[i] = make([]float64, len(all))
			for j := range all {
				for p, left := range decay(all[i].At.Sub(all[j].At).Abs()) {
					cov[i][j] += w[p] * left
				}
			}
			cov[i][i] += all[i].ProbeSD * all[i].ProbeSD
		}
		stepped := func(k int, by float64) []float64 {
			var x []float64
			for i := range all {
				x = append(x, all[i].E)
				if i >= k {
					x[i] -= by
				}
			}
			return x
		}
		flat := likelihood(stepped(len(all), 0), cov)
		cut := draw.IntN(len(all) - 6) // so many have been followed before
		var state KalmanState
		for _, x := range all[:cut] {
			state = w.Follow(state, []Measurement{x})
		}
		best, sure := math.Inf(-1), math.Inf(-1)
		for k := cut; k < len(all); k++ {
			s := likelihood(stepped(k, stepSizes[0]), cov) - flat // no value is so far out that the greater step fits better
			best = max(best, s)
			if len(all)-k >= 6 {
				sure = max(sure, s)
			}
		}
		got := w.ScanForStep(state, all[cut:], 6, 3)
		if math.Abs(got.Best.LLR-best) > 1e-9 || math.Abs(got.Sure.LLR-sure) > 1e-9 || got.Sure.N < 6 {
			t.Fatalf("%+v, want %v and %v", got, best, sure)
		}
	}
}

// TestScanFindsTheStep: its beginning, its size, and nothing where there is none.
func TestScanFindsTheStep(t *testing.T) {
	w := Model{.0004, .0004, .0004, .0004}
	f := func(what string, by float64, from int, wantBy float64) {
		t.Helper()
		draw := rand.New(rand.NewPCG(2, 9))
		var list []Measurement
		for i := range 15 {
			x := Measurement{At: utc(3, 12, 12, 5*i), E: .05 * draw.NormFloat64(), ProbeSD: .05, MayStart: true}
			if i >= from {
				x.E += by
			}
			list = append(list, x)
		}
		got := w.ScanForStep(KalmanState{}, list, 6, 1.15)
		if by == 0 {
			if got.Best.LLR > 0 {
				t.Errorf("%s: %+v", what, got)
			}
			return
		}
		if got.Sure.LLR < 10 || got.Sure.N != 15-from || got.Sure.Size != wantBy {
			t.Errorf("%s: %+v, want %d of them, up by %v", what, got, 15-from, wantBy)
		}
	}
	f("calm", 0, 15, 0)
	f("half as much again", math.Log(1.5), 8, stepSizes[0])
	f("three times", math.Log(3), 7, stepSizes[1])
	f("from the first on", math.Log(1.5), 0, stepSizes[0])
}

// TestInnovationsAreClipped: however far out one observation is, it moves a level no more than one that is 1.2 deviations out.
func TestInnovationsAreClipped(t *testing.T) {
	w := Model{.01, .01, .01, .01}
	at := utc(3, 12, 12, 0)
	sd := math.Hypot(w.SD(), .3)
	if a, b := w.Follow(KalmanState{}, []Measurement{{At: at, E: 1.2 * sd, ProbeSD: .3}}), w.Follow(KalmanState{}, []Measurement{{At: at, E: 50, ProbeSD: .3}}); a.Cov != b.Cov || math.Abs(a.Mean[0]-b.Mean[0]) > 1e-12 {
		t.Errorf("%v and %v", a, b)
	}
	far := w.ScanForStep(KalmanState{}, []Measurement{{At: at, E: 50, ProbeSD: .3, MayStart: true}}, 6, 1.15)
	if most := huberUp * stepSizes[1] / sd; math.Abs(far.Best.LLR-most) > 1e-9 || !math.IsInf(far.Sure.LLR, -1) {
		t.Errorf("%+v, want %v", far, most)
	}
}

// TestKalmanStateReturnsToUsual: through JSON to the last bit, and with time to usual; a clock that was set back moves nothing.
func TestKalmanStateReturnsToUsual(t *testing.T) {
	w := Model{.01, .003, .02, .006}
	at := utc(3, 12, 12, 0)
	var state KalmanState
	for i := range 100 {
		state = w.Follow(state, []Measurement{{At: at.Add(time.Duration(i) * five), E: .4, ProbeSD: .1}})
	}
	if m := sum(&state.Mean); m < .3 || m > .4 {
		t.Errorf("after 100 checks at .4 the level is believed at %.3f", m)
	}
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var again KalmanState
	if err := json.Unmarshal(text, &again); err != nil || again != state {
		t.Errorf("%v: %+v, want %+v", err, again, state)
	}
	old := w.Follow(state, []Measurement{{At: state.At.Add(20 * 24 * time.Hour), E: 0, ProbeSD: 1e6}})
	if m := math.Abs(sum(&old.Mean)); m > 1e-6 || math.Abs(old.Cov[0]-w[0]) > 1e-6 {
		t.Errorf("20 days later: %+v", old)
	}
	back := w.Follow(state, []Measurement{{At: at, E: .4, ProbeSD: 1e6}})
	if math.Abs(sum(&back.Mean)-sum(&state.Mean)) > 1e-6 {
		t.Errorf("an hour back: %+v, was %+v", back, state)
	}
}

// BenchmarkScanForStep is an hour and a quarter of five-minute runs, and of such with 27 re-probes among them.
func BenchmarkScanForStep(b *testing.B) {
	w := Model{.01, .003, .02, .006}
	f := func(name string, again int) {
		var list []Measurement
		for i := range 16 {
			at := utc(3, 12, 12, 5*i)
			list = append(list, Measurement{At: at, ProbeSD: .1, MayStart: true})
			for k := range again {
				list = append(list, Measurement{At: at.Add(time.Duration(30*(k+1)) * time.Second), ProbeSD: .1})
			}
		}
		list = list[:min(len(list), 64)]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.ScanForStep(KalmanState{}, list, 6, 1.15)
			}
		})
	}
	f("regular", 0)
	f("again", 2)
}
