package alert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// Quorum is what makes one kind of one series fire and resolve: a Rule brought to one kind and interval.
type Quorum struct {
	M, N       int           // M breaches of the last N observations, the newest among them
	Window     time.Duration // no vote is older than this
	ResolveN   int           // consecutive calm observations …
	ResolveFor time.Duration // … that span this
	Sharp      bool          // the sharp rule fires where the scatter is known; M of N where it is not
	MinRatio   float64       // with Sharp: the least ratio that fires
	Span       time.Duration // with Sharp: what the observations may span
	Scores     Scores        // with Sharp
	OffsetCap  float64       // with Sharp: how far from usual, as a ratio, a level may be taken to be before it rose
	Strict     bool          // whatever is not a breach resolves (preset literal)
	Failures   bool          // a family of outcomes, not a latency
}

// Observation is what one probe says to one alert.
type Observation struct {
	At         time.Time
	Trigger    probe.Trigger
	Call       baseline.Call // NotJudged: says nothing
	Verdict    baseline.Ruling
	Low        float64          // lower end of the normal range, seconds
	Band       *baseline.Band   // that it was held against; nil = none
	Fixed      bool             // held against a fixed limit
	Learned    string           // with Fixed: how much has been learned
	Shares     []baseline.Share // how far from usual without today's offset, of each canary that spoke; none = not known
	Who        []uint32         // of a round: whose share each is
	LevelModel level.Model      // how the level moves by itself
	Canaries   int              // of a round: how many spoke
	Judged     baseline.Verdict // by the band, whatever limit the observation was held against
	Urgent     bool             // above a critical limit of the user's
	Outcome    probe.Outcome
	Reason     string
	RequestID  string
	Why        string // of what it makes fire or resolve, in place of the count of votes
}

// Turn is what a step changed.
type Turn struct {
	From     State
	Why      string // of a change of state
	Fired    bool
	Resolved bool
	Calm     bool     // a calm observation while it fires, which does not end it yet
	View     StepView // what the step test says of the newest observations
}

// Step brings one observation to one alert. It is pure: a's slices are not written to.
func Step(a Alert, q Quorum, o Observation, now time.Time) (Alert, Turn) {
	t := Turn{From: a.State}
	if o.Call == baseline.NotJudged {
		return stepUnjudged(a, q, o, now, t)
	}
	had := a.Votes
	a.Votes = q.retain(a.Votes, o.vote(), a.IsFiring())
	if !a.IsFiring() {
		a.KalmanState = q.follow(a.KalmanState, had, a.Votes, &o)
	}
	a.see(&o, q)
	if a.State.IsFiring() {
		return stepOpen(a, q, o, now, t)
	}
	t.View = q.sharp(&a, &o)
	a.Fit = t.View.fit
	if of, fires := q.fires(&a, &o, t.View); fires {
		return fire(a, q, o, of, now, t)
	}
	a.settle(StateOK, now, &t)
	return a, t
}

// stepUnjudged handles what cannot be judged: missing changes nothing; without a band an open alert could never end.
func stepUnjudged(a Alert, q Quorum, o Observation, now time.Time, t Turn) (Alert, Turn) {
	if o.Verdict.Why != whyLearning {
		return a, t
	}
	if a.IsFiring() {
		return Resolve(a, "learning", now, t)
	}
	a.Votes = live(a.Votes, q, o.At)
	a.settle(StateLearning, now, &t)
	return a, t
}

// settle gives a quiet alert its state: pending while a breach is among the votes, else rest.
func (a *Alert) settle(rest State, now time.Time, t *Turn) {
	to := rest
	if n := breachCount(a.Votes); n > 0 {
		to = StatePending
		t.Why = fmt.Sprintf("%d of the last %d observations breach", n, len(a.Votes))
	} else if a.State == StatePending {
		t.Why = "no breach among the votes"
	} else if a.State == StateLearning {
		t.Why = "band is ready"
	} else if rest == StateLearning {
		t.Why = "no band"
	}
	if a.State != to {
		a.State, a.Since = to, now
	}
}

// fire opens an alert because of its newest votes.
func fire(a Alert, q Quorum, o Observation, of int, now time.Time, t Turn) (Alert, Turn) {
	first := len(a.Votes) - of
	v := t.View
	if v.n > 0 {
		a.KalmanState = q.follow(a.KalmanState, a.Votes[:first], a.Votes[first:], &o)
	} else {
		first += slices.IndexFunc(a.Votes[first:], func(v Vote) bool { return v.Verdict.Call == baseline.Breach })
	}
	a = a.to(StateFiring, now)
	a.FirstBreach, a.LastBreach, a.Fired, a.Resolved = a.Votes[first].At, o.At, now, time.Time{}
	a.Severity, a.Fixed, a.Learned = "", o.Fixed, o.Learned
	a.Probes, a.Timeouts, a.Errors = 0, 0, 0
	for _, v := range a.Votes[first:] {
		a = a.Count(v.Outcome)
		if (v.Verdict.Call == baseline.Breach || q.Sharp) && v.Verdict.Ratio > a.Worst.Ratio {
			a.Worst = Evidence{At: v.At, Value: v.Verdict.Value, Mean: v.Verdict.Mean, Limit: v.Verdict.Limit,
				Ratio: v.Verdict.Ratio, Z: v.Verdict.Z, Outcome: v.Outcome}
		}
	}
	t.Fired, a.Decided = true, a.Votes
	t.Why = fmt.Sprintf("%d of the last %d observations breach", breachCount(a.Votes[len(a.Votes)-of:]), of)
	if of == 1 && !q.Failures {
		t.Why = "above the limit"
	}
	if v.n > 0 {
		t.Why = a.Fit.why()
	}
	if q.Failures && o.Outcome.Incurable() {
		t.Why = string(o.Outcome) + ": waiting does not cure it"
	}
	t.Why = cmp.Or(o.Why, t.Why)
	a.Reason, a.Band = t.Why, o.Band
	a.ID = AlertID(a, now)
	return a, t
}

// AlertID names an alert by series, kind and the time it fired.
func AlertID(a Alert, now time.Time) string {
	return fmt.Sprintf("%s/%s@%s", a.Series, a.Kind, now.UTC().Format("20060102T150405.000000000Z"))
}

func stepOpen(a Alert, q Quorum, o Observation, now time.Time, t Turn) (Alert, Turn) {
	switch {
	case o.Call == baseline.Breach:
		a.Watched = time.Time{}
		t.Why = "breach"
		return a.to(StateFiring, now), t
	case q.Strict:
		return Resolve(a, "no longer above the limit", now, t)
	}
	if why, over := q.recovered(a); over {
		return Resolve(a, cmp.Or(o.Why, why), now, t)
	}
	if o.Call == baseline.Calm {
		t.Calm = true
		a.Watched = a.LastBreach.Add(q.ResolveFor)
		if a.State == StateFiring {
			t.Why = "first calm observation"
			a = a.to(StateRecovering, now)
		}
	}
	return a, t
}

// Shares of the observations over resolve_for that end a latency alert. They mean the same on every schedule: one borderline
// check among sixty starts nothing anew.
const (
	calmShare   = .70
	breachShare = .10
	resolveSlop = 2 * time.Second // how much earlier than resolve_for a check may have come by the jitter of its schedule
)

// recovered reports whether the newest votes, the last of which is no breach, say that the trouble is over.
func (q Quorum) recovered(a Alert) (why string, over bool) {
	if q.Failures {
		need := q.ResolveN
		if a.Last.Outcome.Incurable() {
			need = 1
		}
		last := a.Votes[max(0, len(a.Votes)-need):]
		calm := callCount(last, baseline.Calm)
		return fmt.Sprintf("%d good checks in a row", calm), calm == need
	}
	n := len(a.Votes)
	newest := a.Votes[n-1].At
	for first := n - q.ResolveN; first >= 0; first-- {
		if newest.Sub(a.Votes[first].At) < q.ResolveFor-resolveSlop {
			continue
		}
		votes := a.Votes[first:]
		calm, all := callCount(votes, baseline.Calm), float64(len(votes))
		over = float64(calm) >= calmShare*all && float64(breachCount(votes)) <= breachShare*all
		return fmt.Sprintf("%d of the last %d checks calm", calm, len(votes)), over
	}
	return "", false
}

// Resolve ends an alert: its window is emptied. The caller keeps the ended one and starts a new.
func Resolve(a Alert, why string, now time.Time, t Turn) (Alert, Turn) {
	a = a.to(StateOK, now)
	a.Resolved, a.Reason, a.Votes, a.Watched = now, why, nil, time.Time{}
	t.Resolved, t.Why = true, why
	return a, t
}

// see takes the numbers of one observation.
func (a *Alert) see(o *Observation, q Quorum) {
	v := &o.Verdict
	if !q.Failures {
		if v.Ratio < SteepRatio {
			a.Steep = time.Time{}
		} else if a.Steep.IsZero() || o.At.Before(a.Steep) {
			a.Steep = o.At
		}
	}
	if q.Failures && o.Call != baseline.Breach {
		return
	}
	a.Urgent = a.Urgent || o.Urgent
	if o.Call == baseline.Breach {
		a.LastBreach = o.At
	}
	if o.Call == baseline.Breach && !o.Fixed {
		a.Fixed, a.Learned = false, "" // the band has been learned meanwhile, and says so too
	}
	a.Last = Evidence{At: o.At, Value: v.Value, Mean: v.Mean, Low: o.Low, Limit: v.Limit, Ratio: v.Ratio, Z: v.Z,
		Canaries: o.Canaries, Outcome: o.Outcome, Reason: o.Reason, RequestID: o.RequestID}
	if o.Call == baseline.Breach && (a.Worst.At.IsZero() || breachCount(a.Votes) == 1 && !a.IsFiring() || v.Ratio > a.Worst.Ratio) {
		a.Worst = a.Last
	}
}

// timedOut reports whether an observed outcome speaks of a timeout. The only skips that are observed are of runs whose
// earlier ones hang.
func timedOut(o probe.Outcome) bool { return o.Family() == probe.FamilyTimeout || o == probe.Skipped }

// Count adds a probe to what the alert has seen while open.
func (a Alert) Count(o probe.Outcome) Alert {
	a.Probes++
	switch {
	case timedOut(o):
		a.Timeouts++
	case o.Family() == probe.FamilyError:
		a.Errors++
	}
	return a
}

func (a Alert) to(s State, now time.Time) Alert {
	if a.State != s {
		a.State, a.Since = s, now
	}
	return a
}
