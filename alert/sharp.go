package alert

import (
	"math"
	"slices"
	"time"

	"serin/baseline"
)

// The sharp rule: most of the last checks are above a line that comes down as more checks agree. It judges a whole
// target's rounds, and single series with preset sharp. Ratios are ln.
const (
	sharpMost     = 16    // newest observations it looks at
	sharpLeast    = 6     // that fire
	sharpFire     = 4.7   // T that fires
	sharpNewest   = .15   // the newest is at least so far from usual
	sharpQuantile = .3    // of the observations
	sharpBias     = .524  // times sw: what that quantile lies below the middle of a normal law
	sharpScatter  = 1.738 // times sw²/n: the variance of that quantile
	sharpLookOne  = 2.5   // T of the newest alone from which to look again
	sharpLook     = 3     // T of any number from which to look again
	sharpEnough   = 2     // below it the rest of the looks are not needed
)

// Rounds also fire when they have risen above the time before them: that is known better than today's place beside the
// week, where a level wanders.
const (
	riseFire   = 4.4 // T beside the time before that fires …
	riseUsual  = 3   // … with this T beside the usual
	riseLook   = .8  // part of both from which to look again
	riseEnough = .5
)

// sharpView is what the newest observations say together: T for each number of them.
type sharpView struct {
	first float64 // T of the newest alone
	most  float64 // of all T
	rise  float64 // the most that any number reaches of what the rise needs
	n     int     // how many fire; 0 = none do
	risen bool    // it is the rise that fires
	r     float64 // of the newest
}

// spread is the scatter that observations are held against (ln).
type spread struct {
	sw, sl float64
	rises  baseline.Rises
}

// sharpen weighs votes (the newest last) of a span of time by the sharp rule. floor is the least ratio that fires, ln.
func sharpen(votes []Vote, s spread, floor float64, span time.Duration) sharpView {
	v := sharpView{first: math.Inf(-1), most: math.Inf(-1), rise: math.Inf(-1), r: math.Inf(-1)}
	var rs, es []float64
	var noise float64 // Σ sw²
	for i := len(votes) - 1; i >= 0 && len(rs) < sharpMost; i-- {
		x := &votes[i]
		age := votes[len(votes)-1].At.Sub(x.At)
		if age > span || x.Verdict.Mean <= 0 && x.Round == nil {
			break // too old, or held against a fixed limit
		}
		r, sw := math.Log(x.Verdict.Ratio), s.sw
		if len(rs) == 0 {
			v.r = r
		}
		if x.Round != nil {
			sw = x.Round.SW
			es = sorted(es, x.Round.E)
		}
		rs = sorted(rs, r)
		noise += sw * sw
		n := float64(len(rs))
		sw2 := noise / n
		q := lower(rs, sw2)
		t := q / math.Sqrt(s.sl*s.sl+sharpScatter*sw2/n)
		if len(rs) == 1 {
			v.first = t
		}
		v.most = max(v.most, t)
		risen := false
		if x.Round != nil && x.Round.Before != nil && s.rises != (baseline.Rises{}) {
			d := (lower(es, sw2) - *x.Round.Before) / math.Hypot(s.rises.Over(age), math.Sqrt(sharpScatter*sw2/n))
			part := min(d/riseFire, t/riseUsual)
			v.rise = max(v.rise, part)
			risen = part > 1
		}
		if v.n == 0 && len(rs) >= sharpLeast && (t > sharpFire || risen) && q >= floor && v.r >= sharpNewest {
			v.n, v.risen = len(rs), t <= sharpFire
		}
	}
	return v
}

// sorted puts x in its place.
func sorted(list []float64, x float64) []float64 {
	at, _ := slices.BinarySearch(list, x)
	return slices.Insert(list, at, x)
}

// lower is the 30 % quantile of sorted values, brought to the middle of a normal law of variance sw2.
func lower(list []float64, sw2 float64) float64 {
	return quantileAt(list, sharpQuantile*float64(len(list))-.5) + sharpBias*math.Sqrt(sw2)
}

// quantileAt returns the value at a place of sorted values, interpolated; places before the first are the first.
func quantileAt(sorted []float64, pos float64) float64 {
	pos = max(pos, 0)
	i := int(pos)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (pos-float64(i))*(sorted[i+1]-sorted[i])
}

// looks reports whether a regular probe is to be followed by others.
func (v sharpView) looks() bool {
	return v.r >= sharpNewest && (v.first > sharpLookOne || v.most > sharpLook || v.rise > riseLook)
}

// enough reports whether the rest of the looks are not needed.
func (v sharpView) enough() bool { return v.most < sharpEnough && v.rise < riseEnough }

// sharp returns what the sharp rule says of the votes, where it is in force and knows the scatter.
func (q Quorum) sharp(votes []Vote, o Observation) (sharpView, bool) {
	if !q.Sharp || o.SW <= 0 || o.Fixed {
		return sharpView{}, false
	}
	return sharpen(votes, spread{o.SW, o.SL, o.round.Rises}, math.Log(max(1, q.MinRatio)), q.Span), true
}

// fires reports whether the votes fire with their newest observation, and how many of the newest are the reason.
func (q Quorum) fires(votes []Vote, o Observation) (of int, yes bool) {
	if v, known := q.sharp(votes, o); known {
		return v.n, v.n > 0
	}
	last := votes[max(0, len(votes)-q.N):]
	if o.Call == baseline.Breach && (breachCount(last) >= q.M || q.Failures && o.Outcome.Incurable()) {
		return len(last), true
	}
	return 0, false
}
