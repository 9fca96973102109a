package baseline

import (
	"math"
	"time"
)

const (
	minPairs  = 60
	minBlocks = 20
	minBlock  = 3 // values in a block
	leastSW   = .02
	leastSL   = .015
	half      = 12 * hour // sw and sL are renewed twice a day
)

// Noise is what residuals say about a series: SW, the scatter of one probe, and SL, that of a half hour's level, both
// in ln units. It is part of State.
type Noise struct {
	Renewed int64   `json:"renewed,omitempty"` // Unix nanoseconds; 0 = never
	Ready   bool    `json:"ready,omitempty"`
	SW      float64 `json:"sw,omitempty"`
	SL      float64 `json:"sl,omitempty"`
	Wander  Wander  `json:"wander,omitzero"` // with a sharp threshold: how the level moves by itself
}

// renew computes the noise anew where it never was, or 00:00 or 12:00 of the zone has passed since.
func (s *Series) renew(at int64) {
	if s.th.Literal {
		return
	}
	asOf := at
	if s.noise.Renewed != 0 && s.noise.Renewed <= at+ahead {
		asOf = s.clock.start(at, half)
		if s.noise.Renewed >= asOf {
			return
		}
	}
	s.noise = s.measureNoise(asOf)
}

func (s *Series) measureNoise(asOf int64) Noise {
	n := Noise{Renewed: asOf}
	past := s.pts.in(span{asOf - int64(s.days)*day, asOf})
	steps := s.steps(past)
	if len(steps) < minPairs {
		return n
	}
	sw := max(leastSW, wsd(steps)/math.Sqrt2)
	means, share := s.blocks(past)
	if len(means) < minBlocks {
		return n
	}
	v := wsd(means)
	v *= v
	n.SW, n.Ready = sw, true
	n.SL = math.Sqrt(max(v-1.15*sw*sw*mean(share), .15*v, leastSL*leastSL))
	if s.th.Sharp {
		n.Wander = s.wander(past, asOf, sw)
	}
	return n
}

// Wander says how the series' level moves by itself; zeros where it is not known, or its threshold is not sharp.
func (s *Series) Wander() Wander { return s.noise.Wander }

// counts reports whether p's residual enters sw and sL.
func (p *point) counts() bool { return p.judged() && !p.excluded() }

// steps returns r(i) − r(i−1) of runs that follow each other at about one interval, half of it more or less.
func (s *Series) steps(past points) []float64 {
	var list []float64
	interval := int64(s.key.Interval)
	var a point // the run before
	for b := range past.all() {
		gap := b.at() - a.at()
		if a.counts() && b.counts() && 2*gap >= interval && 2*gap <= 3*interval {
			list = append(list, s.r(b)-s.r(&a))
		}
		a = *b
	}
	return list
}

// blocks returns the trimmed mean of r in each block that holds enough, and 1/n of each.
func (s *Series) blocks(past points) (means, share []float64) {
	length := max(30*minute, 4*int64(s.key.Interval))
	var block []float64
	flush := func() {
		if n := len(block); n >= minBlock {
			means = append(means, trimmed(block))
			share = append(share, 1/float64(n))
		}
		block = block[:0]
	}
	current := int64(math.MinInt64)
	for p := range past.all() {
		if !p.counts() {
			continue
		}
		if k := floorDiv(p.at(), length); k != current {
			flush()
			current = k
		}
		block = append(block, s.r(p))
	}
	flush()
	return means, share
}

// todaysOffset is o(t): how far today runs beside usual, from the residuals of the last hours without the last half
// hour, which may already be the fault. Excluded samples count: today is today.
func (s *Series) todaysOffset(at int64) float64 {
	from, to := offsetWindow(at, s.key.Interval)
	var room [192]float64 // three hours of minutes
	return offsetOf(s.appendE(room[:0], span{from, to + 1}), s.th.OffsetCap)
}

// offsetWindow returns where the values lie that say how today runs, both ends included.
func offsetWindow(at int64, interval time.Duration) (from, to int64) {
	if interval > 15*time.Minute {
		return at - 12*hour, at - 60*minute
	}
	return at - 3*hour, at - 30*minute
}

// appendE appends how far the judged values in w were from usual.
func (s *Series) appendE(list []float64, w span) []float64 {
	part := s.pts.in(w)
	for i := range part.cells {
		if e, ok := s.eAt(part, i); ok {
			list = append(list, e)
		}
	}
	return list
}

// eAt is how far the i-th of some points was from usual; false where there was no band.
func (s *Series) eAt(part points, i int) (e float64, ok bool) {
	e, ok = part.cells[i].usual()
	if ok && len(s.shifts) > 0 {
		e -= s.lowered(part.at(i))
	}
	return e, ok
}

// offsetOf is the offset that values make, 0 of fewer than 8, clipped to a ratio of most either way. It sorts list.
func offsetOf(list []float64, most float64) float64 {
	if len(list) < 8 {
		return 0
	}
	limit := math.Log(max(1, most))
	return min(max(.8*middle(list), -limit), limit)
}
