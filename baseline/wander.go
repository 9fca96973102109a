package baseline

import (
	"math"
	"time"
)

// processes is how many a level is taken for the sum of.
const processes = 4

// forgetting is the time in which each of them forgets itself, to 1/e.
var forgetting = [processes]time.Duration{15 * time.Minute, time.Hour, 4 * time.Hour, 16 * time.Hour}

// Wander says how a level moves by itself: the variances (ln²) of the processes that it is the sum of, the fastest first.
// Each is an Ornstein-Uhlenbeck process around usual. Zeros: not known.
type Wander [processes]float64

// Known reports whether the level's moves have been measured.
func (w Wander) Known() bool { return w != (Wander{}) }

// SD is the standard deviation of the level, ln.
func (w Wander) SD() float64 {
	var sum float64
	for _, v := range w {
		sum += v
	}
	return math.Sqrt(sum)
}

// fade is what is left of each process after a while.
func fade(dt time.Duration) (left [processes]float64) {
	for i, t := range forgetting {
		left[i] = math.Exp(-float64(dt) / float64(t))
	}
	return left
}

const (
	lagMost    = 12 * time.Hour
	lagPairs   = 20     // that one lag needs
	lagsLeast  = 4      // lags that can be told
	clippedCov = 1.5625 // makes the covariance of values clipped at their 10th and 90th percentiles that of a normal law
	fastLeast  = .1     // of a probe's variance: what a slow schedule cannot tell from it
	leftLeast  = .25    // what is left of a process at the shortest lag: of less, chance makes any variance
)

// wanderOf fits a level's moves to how e, in cells of one interval (NaN = nothing), resembles itself later. sw is the scatter
// of what saw it. Zeros where too little is known.
func wanderOf(cells []float64, interval time.Duration, sw float64) (w Wander) {
	lags, covariances := resemblance(clippedCells(cells), interval)
	if len(lags) < lagsLeast {
		return w
	}
	w = fit(lags, covariances)
	if interval > 15*time.Minute { // what moves between two runs is in sw, and re-probes do not average it away
		w[0] = max(w[0], fastLeast*sw*sw)
	}
	if sd := w.SD(); sd < leastSL {
		w[0] += leastSL*leastSL - sd*sd
	}
	return w
}

// resemblance is how cells go with themselves later: at each of some lags (nanoseconds), each a quarter longer than the one before,
// or the next that has pairs: rounds of mixed schedules come less often than the fastest of them runs.
func resemblance(cells []float64, interval time.Duration) (lags, covariances []float64) {
	most := int(lagMost / interval)
	for l := 1; l <= most; {
		next := max(l+1, int(math.Round(1.25*float64(l))))
		for k := l; k < min(next, most+1); k++ {
			if c, n := covariance(cells, k); n >= lagPairs {
				lags, covariances = append(lags, float64(k)*float64(interval)), append(covariances, clippedCov*c)
				break
			}
		}
		l = next
	}
	return lags, covariances
}

// clippedCells clips the values at their 10th and 90th percentiles, in a copy.
func clippedCells(cells []float64) []float64 {
	known := make([]float64, 0, len(cells))
	for _, e := range cells {
		if !math.IsNaN(e) {
			known = append(known, e)
		}
	}
	if len(known) == 0 {
		return nil
	}
	lo, hi := quantile(known, .1), quantile(known, .9)
	out := make([]float64, len(cells))
	for i, e := range cells {
		out[i] = min(max(e, lo), hi) // NaN stays
	}
	return out
}

// covariance is the mean product of values some cells apart, about 0, and of how many pairs.
func covariance(cells []float64, lag int) (c float64, n int) {
	for i := lag; i < len(cells); i++ {
		if p := cells[i] * cells[i-lag]; !math.IsNaN(p) {
			c += p
			n++
		}
	}
	return c / float64(max(n, 1)), n
}

// fit finds the variances, none negative, whose processes come nearest to the covariances (least squares, by coordinate
// descent). Lags are nanoseconds, the shortest first. A process that has forgotten itself at all of them is 0: it cannot be told from
// the probes' own scatter, and is in that.
func fit(lags, covariances []float64) (w Wander) {
	shape := make([][processes]float64, len(lags))
	var norm [processes]float64
	for j, l := range lags {
		shape[j] = fade(time.Duration(l))
		for i, s := range shape[j] {
			if shape[0][i] >= leftLeast {
				norm[i] += s * s
			}
		}
	}
	rest := append([]float64(nil), covariances...)
	for range 300 {
		for i := range w {
			var along float64
			for j := range rest {
				along += shape[j][i] * rest[j]
			}
			next := 0.0
			if norm[i] > 0 {
				next = max(0, w[i]+along/norm[i])
			}
			for j := range rest {
				rest[j] -= shape[j][i] * (next - w[i])
			}
			w[i] = next
		}
	}
	return w
}

// widened makes a level's moves those that so few days may have hidden.
func (w Wander) widened(days int) Wander {
	k := kappa(presetKappa, days) / presetKappa
	for i := range w {
		w[i] *= k * k
	}
	return w
}

// wander measures the moves of the series' level over the points of a window.
func (s *Series) wander(past points, asOf int64, sw float64) Wander {
	cells := newCells(asOf, s.days, s.key.Interval)
	for i := range past.cells {
		if past.cells[i].counts() {
			e, _ := s.eAt(past, i)
			cells.put(past.at(i), e)
		}
	}
	return wanderOf(cells.e, s.key.Interval, sw).widened(cells.days())
}

// cells are the values of a window by time, one for each interval.
type cells struct {
	from, length int64
	e            []float64
}

func newCells(asOf int64, days int, interval time.Duration) cells {
	length := max(int64(interval), 1)
	c := cells{from: asOf - int64(days)*day, length: length, e: make([]float64, int64(days)*day/length+1)}
	for i := range c.e {
		c.e[i] = math.NaN()
	}
	return c
}

func (c cells) put(at int64, e float64) {
	c.e[min(max((at-c.from)/c.length, 0), int64(len(c.e)-1))] = e
}

// days is how many days back the values reach.
func (c cells) days() int {
	for i, e := range c.e {
		if !math.IsNaN(e) {
			return int(math.Round(float64(int64(len(c.e)-i)*c.length) / float64(day)))
		}
	}
	return 0
}
