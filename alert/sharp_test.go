package alert

import (
	"math"
	"slices"
	"testing"
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// slowVotes are regular checks, so far from usual (ln) each, with a scatter of .1.
func slowVotes(every time.Duration, list ...float64) []Vote {
	var votes []Vote
	for i, e := range list {
		votes = append(votes, Vote{At: day0.Add(time.Duration(i) * every), Said: []Contribution{{E: float32(e), SW: .1}}, Verdict: baseline.Ruling{Mean: 1, Ratio: math.Exp(e)}})
	}
	return votes
}

// TestSharpNeeds holds the rule's conditions one by one against votes that fulfil all the others.
func TestSharpNeeds(t *testing.T) {
	q := Quorum{Sharp: true, MinRatio: 1.25, OffsetCap: 1.15, Span: 75 * time.Minute, Scores: singleScores(5 * time.Minute)}
	calm := level.Model{.0004, .0004, .0004, .0004}
	f := func(what string, votes []Vote, w level.Model, wantN int, wantAway bool) StepView {
		t.Helper()
		o := Observation{At: votes[len(votes)-1].At, Shares: []baseline.Share{{SW: .1}}, LevelModel: w}
		v := q.sharp(&Alert{Votes: votes}, &o)
		if !v.Known || v.n != wantN || v.away != wantAway {
			t.Errorf("%s: %+v, want %d and %v", what, v, wantN, wantAway)
		}
		return v
	}
	up := math.Log(1.5)
	f("six slow ones after six calm ones", slowVotes(time.Minute, 0, 0, 0, 0, 0, 0, up, up, up, up, up, up), calm, 6, false)
	f("five are too few", slowVotes(time.Minute, up, up, up, up, up), calm, 0, false)
	f("six of which the newest is calm", slowVotes(time.Minute, 0, 0, 0, 0, 0, 0, up, up, up, up, up, up, .1), calm, 0, false)
	f("under the least ratio", slowVotes(time.Minute, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2), calm, 0, false)
	f("a level that moves so by itself", slowVotes(time.Minute, 0, 0, 0, 0, 0, 0, up, up, up, up, up, up), level.Model{.1, .1, .1, .1}, 0, false)
	if v := f("one that is far out is no step", slowVotes(time.Minute, 0, 0, 0, 0, 0, 3), calm, 0, false); !v.Looks() || v.Enough() {
		t.Errorf("one far out: %+v: worth looking again", v)
	}
	if v := f("five that are", slowVotes(time.Minute, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3), calm, 5, false); v.score >= v.best {
		t.Errorf("five far out: %+v: six with calm ones among them are enough to be sure", v)
	}
	var day []float64
	for range 60 {
		day = append(day, math.Log(1.6))
	}
	f("a step of five hours is weighed by its last 75 minutes", slowVotes(5*time.Minute, day...), level.Model{.0001, .0001, .0001, .003}, 16, false)
	var ramp []Vote
	for i := range 288 {
		ramp = append(ramp, slowVotes(0, math.Ln2*min(1, float64(i)/216))...)
		ramp[i].At, ramp[i].Said[0].SW = day0.Add(time.Duration(i)*5*time.Minute), .5
	}
	f("a rise of 18 hours, held for six", ramp, level.Model{0, 0, 0, .0048}, 16, true)
	f("half of it is not far enough", ramp[:108], level.Model{0, 0, 0, .0048}, 0, false)
	if v := q.sharp(&Alert{}, &Observation{Shares: []baseline.Share{{SW: .1}}}); v.Known || v.Looks() || v.Enough() {
		t.Error("it is in force where nobody knows how the level moves")
	}
}

// TestScoresBySchedule: an hourly schedule has a twelfth of the runs that one of 5 minutes has; what is faster or slower than those
// two looks no later and no earlier.
func TestScoresBySchedule(t *testing.T) {
	hourly := Scores{10.5, 4 - math.Log(12), 2 - math.Log(12)/2}
	for every, want := range map[time.Duration]Scores{30 * time.Second: {10.5, 4, 2}, 5 * time.Minute: {10.5, 4, 2}, time.Hour: hourly, 4 * time.Hour: hourly} {
		if got := singleScores(every); got != want {
			t.Errorf("%s: %+v, want %+v", every, got, want)
		}
	}
}

// TestFitIsWhatTheVotesSay weighs eight slow checks after four usual ones: all that is kept of it is of these eight.
func TestFitIsWhatTheVotesSay(t *testing.T) {
	q := Quorum{Sharp: true, MinRatio: 1.25, OffsetCap: 1.15, Span: 75 * time.Minute, Scores: singleScores(5 * time.Minute)}
	votes := slowVotes(5*time.Minute, 0, 0, 0, 0, .5, .5, .5, .5, .5, .5, .5, .5)
	one := []baseline.Share{{E: .5, SW: .1}}
	o := Observation{At: votes[11].At, Shares: one, LevelModel: level.Model{0, .001, .001, .001}}
	v := q.sharp(&Alert{Votes: votes}, &o)
	f := v.fit
	if f.Of != 8 || f.Votes != 8 || f.Checks != 8 || f.Score != v.score || f.Fires != singleScores(5*time.Minute).Fire || f.Away || f.LevelModel != o.LevelModel {
		t.Errorf("%+v", f)
	}
	if math.Abs(f.Ratio-math.Exp(.5)) > 1e-9 || math.Abs(f.Before-1) > .01 || math.Abs(f.Moves()-math.Expm1(math.Sqrt(.003))) > 1e-9 {
		t.Errorf("to ×%.3f from ×%.3f, moves by %.3f", f.Ratio, f.Before, f.Moves())
	}
	if f := q.sharp(&Alert{Votes: votes[4:7]}, &Observation{At: votes[6].At, Shares: one, LevelModel: o.LevelModel}).fit; f.Score != 0 || f.Of != 0 {
		t.Errorf("three votes are too few for a score: %+v", f)
	}
}

// TestRelevelledForgetsTheLevel: eight checks at two thirds of a usual that has been lowered to them since; the next eight, as usual,
// are no step up beside them, and what they decided stays.
func TestRelevelledForgetsTheLevel(t *testing.T) {
	q := Quorum{Sharp: true, MinRatio: 1.25, OffsetCap: 1.15, Span: 75 * time.Minute, Scores: singleScores(5 * time.Minute)}
	low := math.Log(2. / 3)
	had := Alert{Votes: slowVotes(5*time.Minute, low, low, low, low, low, low, low, low), KalmanState: &level.KalmanState{At: day0, Mean: [4]float64{3: low}}}
	weigh := func(a Alert) StepView {
		for i := range 6 {
			trigger := probe.Schedule
			if i == 5 {
				trigger = probe.Reprobe // a calm regular one is not weighed at all
			}
			a.Votes = append(slices.Clip(a.Votes), Vote{Trigger: trigger, At: day0.Add(time.Duration(8+i) * 5 * time.Minute), Said: []Contribution{{SW: .1}}, Verdict: baseline.Ruling{Mean: 1, Ratio: 1}})
		}
		return q.sharp(&a, &Observation{At: a.Votes[13].At, Shares: make([]baseline.Share, 1), LevelModel: level.Model{0, 0, 0, .06}})
	}
	now := had.Relevelled()
	if v := weigh(now); v.score >= 0 || v.best >= v.of.Enough {
		t.Errorf("beside the new usual: %+v", v)
	}
	if v := weigh(had); v.score < v.of.Look {
		t.Errorf("beside the old one: %+v: then there is nothing to forget", v)
	}
	if now.KalmanState != nil || len(now.Votes) != 8 || now.Votes[0].Verdict != had.Votes[0].Verdict || had.Votes[0].Said == nil {
		t.Errorf("%+v of %+v", now, had)
	}
}

// TestReprobesAloneAreNoStep: where the regular check before them is too old, or was missing, nothing says that a step came with
// any of them.
func TestReprobesAloneAreNoStep(t *testing.T) {
	votes := slowVotes(30*time.Second, 1, 1, 1, 1, 1, 1, 1)
	for i := range votes {
		votes[i].Trigger = probe.Reprobe
	}
	q := Quorum{Sharp: true, MinRatio: 1.25, OffsetCap: 1.15, Span: 75 * time.Minute, Scores: singleScores(5 * time.Minute)}
	v := q.sharp(&Alert{Votes: votes}, &Observation{At: votes[6].At, Shares: make([]baseline.Share, 1), LevelModel: level.Model{0, .001, .001, .001}})
	if !v.Known || v.n != 0 || v.Looks() || v.fit.Votes != 0 || v.fit.Score != 0 || v.fit.Ratio != 0 {
		t.Errorf("%+v, %+v", v, v.fit)
	}
	if agreed(nil) != 0 {
		t.Errorf("no votes agree on %v", agreed(nil))
	}
}

// TestAgreed is the arithmetic of it: r is .1 less than what the shares say.
func TestAgreed(t *testing.T) {
	round := func(who []uint32, es ...float64) Vote {
		var v Vote
		for i, e := range es {
			x := Contribution{Who: uint32(i), E: float32(e), SW: .1}
			if i < len(who) {
				x.Who = who[i]
			}
			v.Said = append(v.Said, x)
		}
		v.Verdict.Ratio = math.Exp(Median(append([]float64(nil), es...)) - .1)
		return v
	}
	f := func(want float64, votes ...Vote) {
		t.Helper()
		if got := agreed(votes); math.Abs(got-want) > 1e-6 {
			t.Errorf("%.3f, want %.3f", got, want)
		}
	}
	f(.3, round(nil, .4))
	f(.4, round(nil, .2), round(nil, .9), round(nil, .5))
	f(.1, round([]uint32{1, 2}, 1.6, .2)) // no more than both say
	f(.5, round([]uint32{1, 2, 3}, 1.6, .6, .2))
	f(.35, round([]uint32{1, 2, 3, 4}, .1, .2, .7, .8)) // half of four
	// In each round another of the two is high: as canaries they are not.
	f(.1, round([]uint32{1, 2, 3}, 1.6, .5, .2), round([]uint32{1, 2, 3}, 1.6, 0, .7), round([]uint32{1, 2, 3}, 1.6, .2, .1))
	f(.3, round([]uint32{7, 9}, 1.6, .4), round([]uint32{9}, .4), round([]uint32{9, 7}, .4, 1.6)) // wherever they stand
}
