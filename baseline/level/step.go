package level

import (
	"math"
	"time"
)

// Step is the evidence for a lasting step up: LLR is the logarithm of how much likelier the newest N observations are on a level
// that rose by Size (ln) just before them than on one that moves as it always did.
type Step struct {
	LLR    float64
	N      int
	Size   float64
	Before float64 // filtered level just before them, ln
}

// StepScores is what a list of measurements says of its level.
type StepScores struct {
	Best      Step    // the step with the highest LLR, of any number of observations
	Sure      Step    // the same of at least as many observations as were asked for
	SlowLevel float64 // level of the slow processes after all measurements, ln
	SlowBound float64 // how far from usual that level may be, ln
}

// SlowExcess is how far the slow level is beyond its bound, ln; negative where it is within.
func (s StepScores) SlowExcess() float64 { return s.SlowLevel - s.SlowBound }

// stepSizes are the steps that are tried, ln: a fault of half as much again, and one of two and a half times.
var stepSizes = [...]float64{math.Log(1.5), math.Log(2.5)}

// slowPart keeps the processes that last for hours.
func slowPart(of [processes]float64) [processes]float64 {
	for i, t := range timeConstants {
		if t < 4*time.Hour {
			of[i] = 0
		}
	}
	return of
}

// precomputed is what the filters of all candidates share at one measurement.
type precomputed struct {
	elapsed          time.Duration      // since the measurement before it; 0: left is not set, all of it is left
	left, mean, gain [processes]float64 // mean: the filtered one before it
	sd, negLogLik    float64            // negLogLik: without a step
}

// scan tries one candidate after the other.
type scan struct {
	list  []Measurement
	pre   []precomputed
	bound float64 // of the level before a step, ln
	least int     // observations that Sure needs
	found StepScores
}

// ScanForStep scores a step just before each measurement that may start one; the newest measurement is last. Sure needs least of
// the observations. The level before a step is at most ln(maxRatio) from usual, or two of its standard deviations, and so is the
// slow level: a rise of a day is not followed without end.
func (m Model) ScanForStep(k KalmanState, list []Measurement, least int, maxRatio float64) StepScores {
	pre, after := m.precompute(k, list)
	free, slow := math.Log(max(1, maxRatio)), slowPart(after)
	s := scan{list: list, pre: pre, bound: max(free, 2*m.SD()), least: least}
	s.found = StepScores{Best: Step{LLR: math.Inf(-1)}, Sure: Step{LLR: math.Inf(-1)},
		SlowLevel: sum(&slow), SlowBound: max(free, 2*Model(slowPart(m)).SD())}
	var negLogLik float64 // of all from i on, without a step
	n := 0
	for i := len(list) - 1; i >= 0; i-- {
		negLogLik += pre[i].negLogLik
		if list[i].Also {
			continue
		}
		n++
		if list[i].MayStart {
			s.try(i, n, negLogLik)
		}
	}
	return s.found
}

// precompute filters a list, and returns the means after it.
func (m Model) precompute(k KalmanState, list []Measurement) (pre []precomputed, after [processes]float64) {
	pre = make([]precomputed, len(list))
	f, at := k.decode(m), k.At
	for i, x := range list {
		p := &pre[i]
		if p.elapsed = elapsed(at, x.At); p.elapsed > 0 {
			p.left = decay(p.elapsed)
			f.predict(m, p.left)
		}
		p.mean = f.mean
		p.sd, p.gain = f.gain(x.ProbeSD)
		p.negLogLik = update(&f.mean, x.E, p.sd, &p.gain)
		at = x.At
	}
	return pre, f.mean
}

// try scores a step before measurement i, the first of the newest n observations.
func (s *scan) try(i, n int, negLogLik float64) {
	before, shrunk := bounded(s.pre[i].mean, s.bound)
	if shrunk {
		negLogLik = -s.llr(before, i, 0, 0, math.Inf(-1))
	}
	for _, size := range stepSizes {
		beat := s.found.Best.LLR
		if n >= s.least {
			beat = min(beat, s.found.Sure.LLR)
		}
		step := Step{LLR: s.llr(before, i, size, negLogLik, beat), N: n, Size: size, Before: sum(&before)}
		if step.LLR > s.found.Best.LLR {
			s.found.Best = step
		}
		if n >= s.least && step.LLR > s.found.Sure.LLR {
			s.found.Sure = step
		}
	}
}

// llr is how much likelier than negLogLik all measurements from i on are on a level that is before at the first of them, and higher
// by size ever since. Each measurement lowers it or leaves it: the rest are not asked once it no longer beats beat.
func (s *scan) llr(before [processes]float64, i int, size, negLogLik, beat float64) float64 {
	var stepped float64
	for k := i; k < len(s.list); k++ {
		p := &s.pre[k]
		if k > i && p.elapsed > 0 {
			for q := range before {
				before[q] *= p.left[q]
			}
		}
		stepped += update(&before, s.list[k].E-size, p.sd, &p.gain)
		if negLogLik-stepped <= beat {
			break
		}
	}
	return negLogLik - stepped
}

// bounded shrinks means so that their level is at most bound from usual, and reports whether it had to.
func bounded(mean [processes]float64, bound float64) (out [processes]float64, shrunk bool) {
	m := math.Abs(sum(&mean))
	if m <= bound {
		return mean, false
	}
	for i := range mean {
		mean[i] *= bound / m
	}
	return mean, true
}
