package sim

import (
	"math"
	"slices"
	"testing"
)

func TestSplitmix64(t *testing.T) {
	s := &source{}
	for i, want := range []uint64{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F} {
		if got := s.next(); got != want {
			t.Errorf("draw %d of state 0: %#x, want %#x", i, got, want)
		}
	}
}

func TestStreamsHaveTheirOwnKey(t *testing.T) {
	seen := map[uint64][]uint64{}
	for _, key := range [][]uint64{{1}, {2}, {1, 0}, {1, 1}, {0, 1}, {1, 1, 10}, {1, 1, 11}} {
		first := newSource(key...).next()
		if other := seen[first]; other != nil {
			t.Errorf("streams %v and %v begin alike", key, other)
		}
		seen[first] = key
		if again := newSource(key...).next(); again != first {
			t.Errorf("stream %v began with %#x, then with %#x", key, first, again)
		}
	}
}

// TestLaws holds the draws against mean and standard deviation; 200 000 of them leave about 0.005 of either to chance.
func TestLaws(t *testing.T) {
	f := func(name string, draw func(s *source) float64, mean, sd float64) {
		t.Helper()
		s := newSource(5)
		const n = 200_000
		var sum, squares float64
		for range n {
			x := draw(s)
			sum += x
			squares += x * x
		}
		m := sum / n
		if got := math.Sqrt(squares/n - m*m); math.Abs(m-mean) > .01 || math.Abs(got-sd) > .01 {
			t.Errorf("%s: mean %.4f, sd %.4f; want %.4f, %.4f", name, m, got, mean, sd)
		}
	}
	f("uniform", (*source).uniform, .5, math.Sqrt(1./12))
	f("exp", (*source).exp, 1, 1)
	f("normal", (*source).normal, 0, 1)
	w := newWander(.96, .07, newSource(6))
	f("wander", w.step, 0, .07)
}

func TestOrderIsAShuffle(t *testing.T) {
	a, b := newSource(1).order(10), newSource(2).order(10)
	if slices.Equal(a, b) {
		t.Errorf("two keys shuffle alike: %v", a)
	}
	slices.Sort(a)
	if !slices.Equal(a, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("not every number once: %v", a)
	}
}
