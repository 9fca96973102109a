package baseline

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

// TestWeighIsTheLikelihood holds scores against the densities of normal laws of all observations together, worked out another way:
// where no observation is loud they are the same.
func TestWeighIsTheLikelihood(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	w := Wander{.01, .004, .02, .006}
	for range 50 {
		at := utc(3, 12, 12, 0)
		var all []Seen
		for range 14 {
			at = at.Add(time.Duration(30+draw.IntN(600)) * time.Second)
			all = append(all, Seen{At: at, Share: Share{.1 * draw.NormFloat64(), .3 + .2*draw.Float64()}, Start: true})
		}
		cov := make([][]float64, len(all))
		for i := range all {
			cov[i] = make([]float64, len(all))
			for j := range all {
				for p, left := range fade(all[i].At.Sub(all[j].At).Abs()) {
					cov[i][j] += w[p] * left
				}
			}
			cov[i][i] += all[i].SW * all[i].SW
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
		var track Track
		for _, x := range all[:cut] {
			track = w.Follow(track, []Seen{x})
		}
		best, sure := math.Inf(-1), math.Inf(-1)
		for k := cut; k < len(all); k++ {
			s := likelihood(stepped(k, steps[0]), cov) - flat // no value is so far out that the greater step fits better
			best = max(best, s)
			if len(all)-k >= 6 {
				sure = max(sure, s)
			}
		}
		got := w.Weigh(track, all[cut:], 6, 3)
		if math.Abs(got.Best.Score-best) > 1e-9 || math.Abs(got.Sure.Score-sure) > 1e-9 || got.Sure.N < 6 {
			t.Fatalf("%+v, want %v and %v", got, best, sure)
		}
	}
}

// TestWeighFindsTheStep: its beginning, its size, and nothing where there is none.
func TestWeighFindsTheStep(t *testing.T) {
	w := Wander{.0004, .0004, .0004, .0004}
	f := func(what string, by float64, from int, wantBy float64) {
		t.Helper()
		draw := rand.New(rand.NewPCG(2, 9))
		var list []Seen
		for i := range 15 {
			x := Seen{At: utc(3, 12, 12, 5*i), Share: Share{.05 * draw.NormFloat64(), .05}, Start: true}
			if i >= from {
				x.E += by
			}
			list = append(list, x)
		}
		got := w.Weigh(Track{}, list, 6, 1.15)
		if by == 0 {
			if got.Best.Score > 0 {
				t.Errorf("%s: %+v", what, got)
			}
			return
		}
		if got.Sure.Score < 10 || got.Sure.N != 15-from || got.Sure.By != wantBy {
			t.Errorf("%s: %+v, want %d of them, up by %v", what, got, 15-from, wantBy)
		}
	}
	f("calm", 0, 15, 0)
	f("half as much again", math.Log(1.5), 8, steps[0])
	f("three times", math.Log(3), 7, steps[1])
	f("from the first on", math.Log(1.5), 0, steps[0])
}

// TestOneIsNotLoud: however far out one observation is, it moves a level no more than one that is 1.2 deviations out.
func TestOneIsNotLoud(t *testing.T) {
	w := Wander{.01, .01, .01, .01}
	at := utc(3, 12, 12, 0)
	sd := math.Hypot(w.SD(), .3)
	if a, b := w.Follow(Track{}, []Seen{Seen{At: at, Share: Share{1.2 * sd, .3}}}), w.Follow(Track{}, []Seen{Seen{At: at, Share: Share{50, .3}}}); a.Cov != b.Cov || math.Abs(a.Mean[0]-b.Mean[0]) > 1e-12 {
		t.Errorf("%v and %v", a, b)
	}
	far := w.Weigh(Track{}, []Seen{{At: at, Share: Share{50, .3}, Start: true}}, 6, 1.15)
	if most := loudUp * steps[1] / sd; math.Abs(far.Best.Score-most) > 1e-9 || !math.IsInf(far.Sure.Score, -1) {
		t.Errorf("%+v, want %v", far, most)
	}
}

// TestTrackComesBack: through JSON to the last bit, and with time to usual; a clock that was set back moves nothing.
func TestTrackComesBack(t *testing.T) {
	w := Wander{.01, .003, .02, .006}
	at := utc(3, 12, 12, 0)
	var track Track
	for i := range 100 {
		track = w.Follow(track, []Seen{Seen{At: at.Add(time.Duration(i) * five), Share: Share{.4, .1}}})
	}
	if m := level(&track.Mean); m < .3 || m > .4 {
		t.Errorf("after 100 checks at .4 the level is believed at %.3f", m)
	}
	text, err := json.Marshal(track)
	if err != nil {
		t.Fatal(err)
	}
	var again Track
	if err := json.Unmarshal(text, &again); err != nil || again != track {
		t.Errorf("%v: %+v, want %+v", err, again, track)
	}
	old := w.Follow(track, []Seen{Seen{At: track.At.Add(20 * 24 * time.Hour), Share: Share{0, 1e6}}})
	if m := math.Abs(level(&old.Mean)); m > 1e-6 || math.Abs(old.Cov[0]-w[0]) > 1e-6 {
		t.Errorf("20 days later: %+v", old)
	}
	back := w.Follow(track, []Seen{Seen{At: at, Share: Share{.4, 1e6}}})
	if math.Abs(level(&back.Mean)-level(&track.Mean)) > 1e-6 {
		t.Errorf("an hour back: %+v, was %+v", back, track)
	}
}

// BenchmarkWeigh is an hour and a quarter of five-minute runs, and of such with 27 re-probes among them.
func BenchmarkWeigh(b *testing.B) {
	w := Wander{.01, .003, .02, .006}
	f := func(name string, again int) {
		var list []Seen
		for i := range 16 {
			at := utc(3, 12, 12, 5*i)
			list = append(list, Seen{At: at, Share: Share{SW: .1}, Start: true})
			for k := range again {
				list = append(list, Seen{At: at.Add(time.Duration(30*(k+1)) * time.Second), Share: Share{SW: .1}})
			}
		}
		list = list[:min(len(list), 64)]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.Weigh(Track{}, list, 6, 1.15)
			}
		})
	}
	f("regular", 0)
	f("again", 2)
}
