package alert

import (
	"math"
	"slices"
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// The sharp rule: the newest checks are far likelier on a level that rose just before them than on one that moves as it
// always did, or its level of hours has gone further than it ever does. It judges a whole target's rounds, and single series
// with preset sharp. Scores and ratios are ln.
const (
	sharpLeast  = 6   // observations that fire
	sharpNewest = .15 // the newest is at least so far from usual
	sharpMost   = 64  // observations that are kept …
	sharesMost  = 256 // … with so many shares of canaries; more only to have sharpRounds
	sharpRounds = 16

	sharpSlack = 15 * time.Minute // what the observations may span beyond the rule's window: two runs of an hourly schedule fit in
)

// Scores are what the sharp rule asks for, ln of likelihood ratios. Several canaries bear each other out, and need less.
type Scores struct {
	Fire   float64
	Look   float64 // from which to look again
	Enough float64 // below it the rest of the looks are not needed
}

// singleScores are those of a series that runs at an interval. Slower than 5 minutes, a fault has met fewer runs when it must be looked
// at again, and they say less: ln of how many fewer comes off, of no more than those of an hourly schedule.
func singleScores(interval time.Duration) Scores {
	look := 4 - math.Log(min(max(interval.Minutes()/5, 1), 12))
	return Scores{10.5, look, look / 2}
}

func roundScores() Scores { return Scores{9, 3, 1.5} }

// StepView is what the newest observations say together.
type StepView struct {
	of    Scores
	Known bool    // the rule is in force, and the level's moves are known
	best  float64 // score of any number of them
	score float64 // of sharpLeast and more
	r     float64 // of the newest
	n     int     // how many fire; 0 = none do
	away  bool    // it is the level of hours that fires
	fit   *Fit
}

// sharp returns what the sharp rule says of an alert's votes.
func (q Quorum) sharp(a *Alert, o *Observation) (v StepView) {
	if !q.Sharp || len(o.Shares) == 0 || o.Fixed || !o.LevelModel.Known() {
		return v
	}
	v.Known, v.of, v.best = true, q.Scores, math.Inf(-1)
	state, votes := q.settled(a.KalmanState, a.Votes, o)
	if len(votes) == 0 {
		return v
	}
	v.r = math.Log(votes[len(votes)-1].Verdict.Ratio)
	if newest := &votes[len(votes)-1]; v.r < sharpNewest && newest.isRegular() {
		return v // it neither fires nor asks for more, whatever the others say
	}
	list := make([]level.Measurement, 0, len(votes)*len(votes[0].Said))
	for i := range votes {
		list = votes[i].seen(list)
	}
	w := o.LevelModel.ScanForStep(state, list, sharpLeast, q.OffsetCap)
	v.best, v.score = w.Best.LLR, w.Sure.LLR
	floor, slow := math.Log(max(1, q.MinRatio)), votes[len(votes)-w.Best.N:]
	by := agreed(slow)
	switch {
	case v.r < sharpNewest || len(votes) < sharpLeast:
	case v.score > v.of.Fire && by >= floor:
		v.n = len(slow)
	case w.SlowExcess() >= floor:
		if all := agreed(votes); all >= sharpNewest {
			v.n, v.away, slow, by = len(votes), true, votes, all
		}
	}
	v.fit = v.fitted(w, slow, by, o)
	return v
}

// fitted keeps what was seen, for people: the votes that are slow together, and by how much (ln).
func (v StepView) fitted(w level.StepScores, slow []Vote, by float64, o *Observation) *Fit {
	f := &Fit{Fires: v.of.Fire, Votes: len(slow), Hours: math.Exp(w.SlowLevel), Reach: math.Exp(w.SlowBound), Away: v.away, LevelModel: o.LevelModel}
	if !math.IsInf(v.score, 0) {
		f.Score, f.Of = v.score, w.Sure.N
	}
	for i := range slow {
		f.Checks += len(slow[i].Said)
	}
	if len(slow) > 0 {
		f.Ratio, f.Before = math.Exp(by), math.Exp(w.Best.Before)
	}
	return f
}

// settled follows the level over the votes that are too old to be weighed, and returns the others; those held against a
// fixed limit say nothing of it.
func (q Quorum) settled(from *level.KalmanState, votes []Vote, o *Observation) (t level.KalmanState, weighed []Vote) {
	if from != nil {
		t = *from
	}
	for len(votes) > 0 && (votes[0].silent() || o.At.Sub(votes[0].At) > q.Span) {
		if !votes[0].silent() {
			t = o.LevelModel.Follow(t, votes[0].seen(nil))
		}
		votes = votes[1:]
	}
	for i := range votes {
		if votes[i].silent() {
			return t, slices.DeleteFunc(slices.Clone(votes), func(v Vote) bool { return v.silent() })
		}
	}
	return t, votes
}

func (v *Vote) isRegular() bool { return v.Trigger == "" || v.Trigger == probe.Schedule }

// silent reports whether a vote has seen nothing of the level.
func (v *Vote) silent() bool { return len(v.Said) == 0 }

// seen appends what a vote has seen of the level.
func (v *Vote) seen(list []level.Measurement) []level.Measurement {
	regular := v.isRegular()
	for i, x := range v.Said {
		list = append(list, level.Measurement{At: v.At, E: float64(x.E), ProbeSD: float64(x.SW), MayStart: regular && i == 0, Also: i > 0})
	}
	return list
}

// agreed is how far from usual (ln) canaries say together that votes are: the median of what is each one's own median, and
// no more than two of them say. In each round alone one that is far out would lift the median to the greater of the others,
// and of two rounds' canaries to half of its own. No votes say 0.
func agreed(votes []Vote) float64 {
	if len(votes) == 0 {
		return 0
	}
	own := map[uint32][]float64{}
	for i := range votes {
		v := &votes[i]
		o := v.today()
		for _, x := range v.Said {
			own[x.Who] = append(own[x.Who], float64(x.E)-o)
		}
	}
	each := make([]float64, 0, len(own))
	for _, list := range own {
		each = append(each, Median(list))
	}
	if len(each) < 2 {
		return Median(each)
	}
	slices.Sort(each)
	return min(Median(each), each[len(each)-2])
}

// today is the offset of today (ln) that a vote's ratio was corrected by.
func (v *Vote) today() float64 {
	es := make([]float64, len(v.Said))
	for i, x := range v.Said {
		es[i] = float64(x.E)
	}
	return Median(es) - math.Log(v.Verdict.Ratio)
}

// Looks reports whether a regular probe is to be followed by others.
func (v StepView) Looks() bool { return v.Known && v.r >= sharpNewest && v.best > v.of.Look }

// Enough reports whether the rest of the looks are not needed.
func (v StepView) Enough() bool { return v.Known && v.best < v.of.Enough }

// fires reports whether an alert fires with its newest vote, and how many of the newest are the reason. v is what the sharp rule
// says.
func (q Quorum) fires(a *Alert, o *Observation, v StepView) (of int, yes bool) {
	if v.Known {
		return v.n, v.n > 0
	}
	last := a.Votes[max(0, len(a.Votes)-q.N):]
	if o.Call == baseline.Breach && (breachCount(last) >= q.M || q.Failures && o.Outcome.Incurable()) {
		return len(last), true
	}
	return 0, false
}

// follow returns an alert's track after the votes that it lets go of: those before the first that it keeps.
func (q Quorum) follow(t *level.KalmanState, had, keeps []Vote, o *Observation) *level.KalmanState {
	if !q.Sharp || !o.LevelModel.Known() {
		return t
	}
	var list []level.Measurement
	for i := range had {
		if len(keeps) > 0 && !had[i].At.Before(keeps[0].At) {
			break
		}
		if !had[i].At.After(o.At) {
			list = had[i].seen(list)
		}
	}
	if len(list) == 0 {
		return t
	}
	var next level.KalmanState
	if t != nil {
		next = *t
	}
	next = o.LevelModel.Follow(next, list)
	return &next
}

// Relevelled is an alert of a series whose usual is another now: where its level was says nothing any more, nor do its votes of
// it. They keep what they decided.
func (a Alert) Relevelled() Alert {
	a.KalmanState, a.Votes = nil, slices.Clone(a.Votes)
	for i := range a.Votes {
		a.Votes[i].Said = nil
	}
	return a
}

// Median returns the middle of values, which it sorts; values is not empty.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
