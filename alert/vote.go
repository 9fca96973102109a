package alert

import (
	"math"
	"slices"
	"time"

	"serin/baseline"
)

// keeps is how many votes are looked at.
func (q Quorum) keeps() int {
	if q.Sharp {
		return max(q.N, sharpMost)
	}
	return q.N
}

// newest returns the votes that may still count beside one more, with room for it. What lies beyond an alert's votes is written
// to once, since each step has one successor; the votes themselves never are.
func newest(votes []Vote, q Quorum) []Vote {
	keep := votes[max(0, len(votes)-q.keeps()+1):]
	if cap(keep) > len(keep) {
		return keep
	}
	return append(make([]Vote, 0, len(keep)+len(keep)/4+2), keep...)
}

// live keeps the newest n votes that are near ref; a clock that was set back puts old ones ahead of it.
func live(votes []Vote, q Quorum, ref time.Time) []Vote {
	votes = q.last(votes)
	for i := range votes { // seldom any is old: look before moving them
		if ref.Sub(votes[i].At).Abs() > q.Window {
			return slices.DeleteFunc(slices.Clone(votes), func(v Vote) bool { return ref.Sub(v.At).Abs() > q.Window })
		}
	}
	return votes
}

// last returns the newest votes that are looked at. Of rounds of many canaries fewer say as much, and all of them cost: each
// start of a step is tried on all shares since, and all are written anew with each round.
func (q Quorum) last(votes []Vote) []Vote {
	votes = votes[max(0, len(votes)-q.keeps()):]
	shares := 0
	for i := len(votes) - 1; i >= 0 && q.Sharp; i-- {
		shares += len(votes[i].Shares)
		if shares > sharesMost && len(votes)-i > max(q.N, sharpRounds) {
			return votes[i+1:]
		}
	}
	return votes
}

func breachCount(votes []Vote) int {
	n := 0
	for i := range votes {
		if votes[i].Verdict.Call == baseline.Breach {
			n++
		}
	}
	return n
}

// pooled reports whether a vote is of a whole target.
func (v Vote) pooled() bool { return len(v.Shares) > 1 }

// vote is what an observation leaves among the votes.
func (o Observation) vote() Vote {
	v := Vote{At: o.At, Trigger: o.Trigger, Verdict: bare(o.Verdict, o.Call), Outcome: o.Outcome}
	if o.Wander.Known() {
		v.Shares, v.Who = rounded(o.Shares), o.Who
	}
	return v
}

// rounded keeps four digits, which are enough, and few to write.
func rounded(list []baseline.Share) []baseline.Share {
	out := make([]baseline.Share, len(list))
	for i, x := range list {
		out[i] = baseline.Share{E: math.Round(x.E*1e4) / 1e4, SW: math.Round(x.SW*1e4) / 1e4}
	}
	return out
}

// bare is a verdict as a vote keeps it.
func bare(v baseline.Verdict, c baseline.Call) baseline.Verdict {
	v.Call, v.Res, v.Band = c, baseline.Residual{}, nil
	return v
}

// aged drops the votes of a pending alert that are too old to count, with the sharp rule once no breach is left of them: until
// then they go when the next one comes, and the level is followed over them.
func (a Alert) aged(q Quorum, now time.Time) (Alert, bool) {
	votes := live(a.Votes, q, now)
	if len(votes) == len(a.Votes) || q.Sharp && breachCount(votes) > 0 {
		return a, false
	}
	a.Votes = votes
	return a, true
}
