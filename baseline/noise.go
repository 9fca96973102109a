package baseline

import (
	"math"
	"slices"

	"serin/baseline/level"
)

const (
	minPairs   = 60
	minBlocks  = 20
	minBlock   = 3 // values in a block
	minProbeSD = .02
	minLevelSD = level.MinSD
	half       = 12 * hour // sw and sL are renewed twice a day
)

// Noise is what residuals say about a series: SW, the scatter of one probe, and SL, that of a half hour's level, both
// in ln units. It is part of State.
type Noise struct {
	Renewed int64       `json:"renewed,omitempty"` // Unix nanoseconds; 0 = never
	Ready   bool        `json:"ready,omitempty"`
	ProbeSD float64     `json:"sw,omitempty"`
	LevelSD float64     `json:"sl,omitempty"`
	SD      float64     `json:"sd,omitempty"`    // of all residuals
	Level   level.Model `json:"wander,omitzero"` // with a sharp threshold; its key is older than its name, and stores have it
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
	past := s.pts.in(interval{asOf - int64(s.days)*day, asOf})
	r := s.residuals(past)
	steps := s.steps(past, r)
	if len(steps) < minPairs {
		return n
	}
	sw := max(minProbeSD, winsorSD(steps)/math.Sqrt2)
	means, share := s.blocks(past, r)
	if len(means) < minBlocks {
		return n
	}
	v := winsorSD(means)
	v *= v
	n.ProbeSD, n.Ready = sw, true
	n.SD = winsorSD(slices.DeleteFunc(r, math.IsNaN))
	n.LevelSD = math.Sqrt(max(v-1.15*sw*sw*mean(share), .15*v, minLevelSD*minLevelSD))
	if s.th.Sharp {
		n.Level = s.levelModel(past, asOf, sw)
	}
	return n
}

// LevelModel is how the series' level moves; zeros where it is not known, or its threshold is not sharp.
func (s *Series) LevelModel() level.Model { return s.noise.Level }

// steps returns r(i) − r(i−1) of runs that follow each other at about one interval, half of it more or less.
func (s *Series) steps(past points, r []float64) []float64 {
	list := make([]float64, 0, len(past))
	every := int64(s.key.Interval)
	before := -1 // the run before, where its residual counts
	for i := range past {
		if math.IsNaN(r[i]) {
			before = -1
			continue
		}
		if before >= 0 {
			if gap := past[i].at - past[before].at; 2*gap >= every && 2*gap <= 3*every {
				list = append(list, r[i]-r[before])
			}
		}
		before = i
	}
	return list
}

// residuals are r of some points, NaN where it does not count.
func (s *Series) residuals(past points) []float64 {
	r := make([]float64, len(past))
	for i := range past {
		r[i] = math.NaN()
		if past[i].counts() {
			r[i] = s.r(&past[i])
		}
	}
	return r
}

// blocks returns the trimmed mean of r in each block that holds enough, and 1/n of each.
func (s *Series) blocks(past points, r []float64) (means, share []float64) {
	length := max(30*minute, 4*int64(s.key.Interval))
	var block []float64
	flush := func() {
		if n := len(block); n >= minBlock {
			means = append(means, trimmed(block))
			share = append(share, 1/float64(n))
		}
		block = block[:0]
	}
	end := int64(math.MinInt64)
	for i := range past {
		if math.IsNaN(r[i]) {
			continue
		}
		if at := past[i].at; at >= end {
			flush()
			end = (floorDiv(at, length) + 1) * length
		}
		block = append(block, r[i])
	}
	flush()
	return means, share
}

func (s *Series) todaysOffset(at int64) float64 {
	return s.intraday.offset(at, s.key.Interval, s.th.OffsetCap, s)
}

// appendE appends how far the judged values in w were from usual.
func (s *Series) appendE(list []float64, w interval) []float64 {
	part := s.pts.in(w)
	for i := range part {
		if e, ok := s.e(&part[i]); ok {
			list = append(list, e)
		}
	}
	return list
}

// e is how far a point was from usual; false where there was no band.
func (s *Series) e(p *point) (e float64, ok bool) {
	return float64(p.e) - s.lowered(p.at), p.judged()
}
