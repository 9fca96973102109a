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

// firingMost bounds the votes of a firing alert: resolve_for of a schedule of seconds.
const firingMost = 256

// retain returns a copy of the votes that may still count, with one more, with room for just that: a fleet keeps many. While the alert
// fires these are the observations over resolve_for, without what the step test needs.
func (q Quorum) retain(votes []Vote, v Vote, firing bool) []Vote {
	if !firing {
		keep := votes[max(0, len(votes)-q.keeps()+1):]
		return live(append(append(make([]Vote, 0, len(keep)+1), keep...), v), q, v.At)
	}
	v.Said = nil
	first := max(0, len(votes)-firingMost)
	for first < len(votes)-max(q.N, q.ResolveN) && v.At.Sub(votes[first+1].At) >= q.ResolveFor {
		first++
	}
	return append(slices.Clone(votes[first:]), v)
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
		shares += len(votes[i].Said)
		if shares > sharesMost && len(votes)-i > max(q.N, sharpRounds) {
			return votes[i+1:]
		}
	}
	return votes
}

func breachCount(votes []Vote) int { return callCount(votes, baseline.Breach) }

func callCount(votes []Vote, call baseline.Call) int {
	n := 0
	for i := range votes {
		if votes[i].Verdict.Call == call {
			n++
		}
	}
	return n
}

// pooled reports whether a vote is of a whole target.
func (v Vote) pooled() bool { return len(v.Said) > 1 }

// vote is what an observation leaves among the votes.
func (o *Observation) vote() Vote {
	v := Vote{At: o.At, Trigger: o.Trigger, Verdict: o.Verdict, Outcome: o.Outcome}
	v.Verdict.Call = o.Call
	if o.LevelModel.Known() {
		v.Said = make([]Contribution, len(o.Shares))
		for i, x := range o.Shares {
			v.Said[i] = Contribution{E: fourDigits(x.E), SW: fourDigits(x.SW)}
			if i < len(o.Who) {
				v.Said[i].Who = o.Who[i]
			}
		}
	}
	return v
}

// fourDigits are enough, and few to write.
func fourDigits(x float64) float32 { return float32(math.Round(x*1e4) / 1e4) }

// Age drops the votes of a pending alert that are too old to count, with the step test once no breach is left of them: until
// then they go when the next one comes, and the level is followed over them. rest is the state of a quiet alert without votes.
func Age(a Alert, q Quorum, rest State, now time.Time) (aged Alert, t Turn, changed bool) {
	t.From = a.State
	votes := live(a.Votes, q, now)
	if len(votes) == len(a.Votes) || q.Sharp && breachCount(votes) > 0 {
		return a, t, false
	}
	a.Votes = votes
	a.settle(rest, now, &t)
	return a, t, true
}
