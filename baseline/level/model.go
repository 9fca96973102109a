package level

import (
	"math"
	"slices"
	"time"
)

// processes is the number of Ornstein-Uhlenbeck processes in a level.
const processes = 4

// timeConstants are the times after which 1/e of each process is left, the fastest first.
var timeConstants = [processes]time.Duration{15 * time.Minute, time.Hour, 4 * time.Hour, 16 * time.Hour}

// Model holds the variances (ln²) of the processes of a level, the fastest first. The zero Model is not known.
type Model [processes]float64

// Known reports whether the level has been measured.
func (m Model) Known() bool { return m != (Model{}) }

// SD is the standard deviation of the level, ln.
func (m Model) SD() float64 {
	var sum float64
	for _, v := range m {
		sum += v
	}
	return math.Sqrt(sum)
}

// Scaled multiplies the standard deviation of each process by k.
func (m Model) Scaled(k float64) Model {
	for i := range m {
		m[i] *= k * k
	}
	return m
}

// decay is the part of each process that is left after a while.
func decay(dt time.Duration) (left [processes]float64) {
	for i, t := range timeConstants {
		left[i] = math.Exp(-float64(dt) / float64(t))
	}
	return left
}

// MinSD is the least standard deviation that a level is given, ln.
const MinSD = .015

const (
	maxLag      = 12 * time.Hour
	minPairs    = 20     // pairs that one lag needs
	minLags     = 4      // lags that a fit needs
	clipFactor  = 1.5625 // turns the covariance of values clipped at their 10th and 90th percentiles into that of a normal law
	minFastPart = .1     // of a probe's variance: what a slow schedule cannot tell from it
	minLeft     = .25    // least part of a process at the shortest lag for its variance to be fitted
)

// Fit measures a model from residuals in cells of one interval (NaN: none). probeSD is the scatter of what measured them.
// The result is zero where too little is known.
func Fit(cells []float64, interval time.Duration, probeSD float64) (m Model) {
	lags, covariances := autocovariance(winsorized(cells), interval)
	if len(lags) < minLags {
		return m
	}
	m = fitLevel(lags, covariances)
	if interval > timeConstants[0] {
		m[0] = max(m[0], minFastPart*probeSD*probeSD)
	}
	if sd := m.SD(); sd < MinSD {
		m[0] += MinSD*MinSD - sd*sd
	}
	return m
}

// autocovariance returns the covariance of cells with themselves at lags of growing length. Each lag is a quarter longer than the
// one before, or the next one with enough pairs: rounds of mixed schedules come less often than the fastest of them runs.
func autocovariance(cells []float64, interval time.Duration) (lags []time.Duration, covariances []float64) {
	last := int(maxLag / interval)
	for l := 1; l <= last; {
		next := max(l+1, int(math.Round(1.25*float64(l))))
		for k := l; k < min(next, last+1); k++ {
			if c, n := covariance(cells, k); n >= minPairs {
				lags, covariances = append(lags, time.Duration(k)*interval), append(covariances, clipFactor*c)
				break
			}
		}
		l = next
	}
	return lags, covariances
}

// winsorized returns a copy of cells with the values clipped at their 10th and 90th percentiles.
func winsorized(cells []float64) []float64 {
	known := slices.DeleteFunc(slices.Clone(cells), math.IsNaN)
	if len(known) == 0 {
		return nil
	}
	slices.Sort(known)
	lo, hi := quantile(known, .1), quantile(known, .9)
	out := make([]float64, len(cells))
	for i, e := range cells {
		out[i] = min(max(e, lo), hi) // NaN stays
	}
	return out
}

// quantile interpolates between the sorted values at positions q·(n−1).
func quantile(sorted []float64, q float64) float64 {
	pos := q * float64(len(sorted)-1)
	i := int(pos)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// covariance is the mean product of values some cells apart, about 0, and the number of pairs.
func covariance(cells []float64, lag int) (c float64, n int) {
	for i := lag; i < len(cells); i++ {
		if p := cells[i] * cells[i-lag]; !math.IsNaN(p) {
			c += p
			n++
		}
	}
	return c / float64(max(n, 1)), n
}

// fitLevel finds the variances, none negative, whose autocovariance comes nearest to the given one (least squares by coordinate
// descent). The shortest lag comes first.
func fitLevel(lags []time.Duration, covariances []float64) (m Model) {
	shape := make([][processes]float64, len(lags))
	for j, l := range lags {
		shape[j] = decay(l)
	}
	rest := slices.Clone(covariances)
	norm := squares(shape)
	for range 300 {
		for i := range m {
			descend(&m[i], i, norm[i], shape, rest)
		}
	}
	return m
}

// squares is the squared norm of each process's shape; 0 for a process that the shortest lag hardly shows: it stays part of the
// probes' own scatter.
func squares(shape [][processes]float64) (norm [processes]float64) {
	for _, s := range shape {
		for i := range s {
			if shape[0][i] >= minLeft {
				norm[i] += s[i] * s[i]
			}
		}
	}
	return norm
}

// descend moves the variance v of process i to its best value, the others held, and keeps rest what remains unexplained.
func descend(v *float64, i int, norm float64, shape [][processes]float64, rest []float64) {
	var along float64
	for j := range rest {
		along += shape[j][i] * rest[j]
	}
	next := 0.0
	if norm > 0 {
		next = max(0, *v+along/norm)
	}
	for j := range rest {
		rest[j] -= shape[j][i] * (next - *v)
	}
	*v = next
}
