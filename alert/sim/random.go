package sim

import "math"

// source is one splitmix64 stream.
type source struct{ state uint64 }

// newSource returns the stream of a key.
func newSource(parts ...uint64) *source {
	s := source{0x9E3779B97F4A7C15}
	for _, p := range parts {
		s.state ^= p * 0xBF58476D1CE4E5B9
		s.next()
	}
	return &s
}

func (s *source) next() uint64 {
	s.state += 0x9E3779B97F4A7C15
	z := s.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// uniform is in [0, 1).
func (s *source) uniform() float64 { return float64(s.next()>>11) / (1 << 53) }

// between is uniform in [lo, hi).
func (s *source) between(lo, hi float64) float64 { return lo + (hi-lo)*s.uniform() }

// exp has mean 1.
func (s *source) exp() float64 { return -math.Log(1 - s.uniform()) }

// normal has mean 0 and standard deviation 1: Box and Muller, the cosine branch.
func (s *source) normal() float64 {
	radius := math.Sqrt(-2 * math.Log(1-s.uniform()))
	return radius * math.Cos(2*math.Pi*s.uniform())
}

// order returns the numbers 0 to n−1 shuffled by Fisher and Yates.
func (s *source) order(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(s.uniform() * float64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// wander is an autoregressive process whose steps are a minute.
type wander struct{ x, phi, sd float64 }

// newWander starts it in its own long-run distribution.
func newWander(phi, sd float64, s *source) wander {
	return wander{x: sd * s.normal(), phi: phi, sd: sd}
}

func (w *wander) step(s *source) float64 {
	w.x = w.phi*w.x + w.sd*math.Sqrt(1-w.phi*w.phi)*s.normal()
	return w.x
}
