package alert

import (
	"math"
	"slices"
	"time"

	"serin/baseline"
)

// The sharp rule: most of the last checks are above a line that comes down as more checks agree. Ratios are ln.
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

// sharpView is what the newest observations say together: T for each number of them.
type sharpView struct {
	first float64 // T of the newest alone
	most  float64 // of all T
	n     int     // how many fire; 0 = none do
	r     float64 // of the newest
}

// sharpen weighs votes (the newest last) of a span of time by the sharp rule. floor is the least ratio that fires, ln.
func sharpen(votes []Vote, sw, sl, floor float64, span time.Duration) sharpView {
	v := sharpView{first: math.Inf(-1), most: math.Inf(-1), r: math.Inf(-1)}
	var rs []float64
	for i := len(votes) - 1; i >= 0 && len(rs) < sharpMost; i-- {
		if votes[len(votes)-1].At.Sub(votes[i].At) > span || votes[i].Verdict.Mean <= 0 {
			break // too old, or held against a fixed limit
		}
		r := math.Log(votes[i].Verdict.Ratio)
		if len(rs) == 0 {
			v.r = r
		}
		at, _ := slices.BinarySearch(rs, r)
		rs = slices.Insert(rs, at, r)
		n := len(rs)
		q := quantileAt(rs, sharpQuantile*float64(n)-.5) + sharpBias*sw
		t := q / math.Sqrt(sl*sl+sharpScatter*sw*sw/float64(n))
		if n == 1 {
			v.first = t
		}
		v.most = max(v.most, t)
		if v.n == 0 && n >= sharpLeast && t > sharpFire && q >= floor && v.r >= sharpNewest {
			v.n = n
		}
	}
	return v
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
	return v.r >= sharpNewest && (v.first > sharpLookOne || v.most > sharpLook)
}

// sharp returns what the sharp rule says of the votes, where it is in force and knows the scatter.
func (q Quorum) sharp(votes []Vote, o Observation) (sharpView, bool) {
	if !q.Sharp || o.SW <= 0 || o.Fixed {
		return sharpView{}, false
	}
	return sharpen(votes, o.SW, o.SL, math.Log(max(1, q.MinRatio)), q.Span), true
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
