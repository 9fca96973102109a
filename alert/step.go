package alert

import (
	"fmt"
	"slices"
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// steepRatio held for steepFor makes a drift critical.
const (
	steepRatio = 3
	steepFor   = 15 * time.Minute
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
	judged     baseline.Verdict // by the band, whatever limit the observation was held against
	Urgent     bool             // above a critical limit of the user's
	Outcome    probe.Outcome
	Reason     string
	RequestID  string
}

// turn is what a step changed.
type turn struct {
	From      State
	Why       string // of a change of state
	Fired     bool
	Resolved  bool
	Escalated bool
	Flaps     bool // it would have ended, too often for that
	FirstCalm bool // the first calm observation while firing
	view      sharpView
}

// Open reports whether the alert has fired and not resolved.
func (a Alert) Open() bool {
	return a.State.open()
}

// open is Open of an alert in the state: a look at the state alone spares a copy of the alert.
func (s State) open() bool {
	return s == StateFiring || s == StateRecovering || s == StateFlapping
}

// step brings one observation to one alert. It is pure: a's slices are not written to.
func step(a Alert, q Quorum, o Observation, now time.Time) (Alert, turn) {
	t := turn{From: a.State}
	if o.Call == baseline.NotJudged {
		return stepUnjudged(a, q, o, now, t)
	}
	had := a.Votes
	a.Votes = live(append(newest(a.Votes, q), o.vote()), q, o.At)
	if !a.Open() {
		a.KalmanState = q.follow(a.KalmanState, had, a.Votes, &o)
	}
	a.see(&o, q)
	if a.State.open() {
		return stepOpen(a, q, o, now, t)
	}
	t.view = q.sharp(&a, &o)
	a.Fit = t.view.fit
	if of, fires := q.fires(&a, &o, t.view); fires {
		return fire(a, q, o, of, now, t)
	}
	a.settle(StateOK, now, &t)
	return a, t
}

// stepUnjudged handles what cannot be judged: missing changes nothing; without a band an open alert could never end.
func stepUnjudged(a Alert, q Quorum, o Observation, now time.Time, t turn) (Alert, turn) {
	if o.Verdict.Why != whyLearning {
		return a, t
	}
	if a.Open() {
		return resolve(a, "learning", now, t)
	}
	a.Votes = live(a.Votes, q, o.At)
	a.settle(StateLearning, now, &t)
	return a, t
}

// settle gives a quiet alert its state: pending while a breach is among the votes, else rest.
func (a *Alert) settle(rest State, now time.Time, t *turn) {
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
func fire(a Alert, q Quorum, o Observation, of int, now time.Time, t turn) (Alert, turn) {
	first := len(a.Votes) - of
	v := t.view
	if v.n > 0 {
		a.KalmanState = q.follow(a.KalmanState, a.Votes[:first], a.Votes[first:], &o)
	} else {
		first += slices.IndexFunc(a.Votes[first:], func(v Vote) bool { return v.Verdict.Call == baseline.Breach })
	}
	a = a.to(StateFiring, now)
	a.FirstBreach, a.Fired, a.Resolved, a.Calm = a.Votes[first].At, now, time.Time{}, nil
	a.Severity, a.Fixed, a.Learned = Warning, o.Fixed, o.Learned
	a.Probes, a.Timeouts, a.Errors = 0, 0, 0
	for _, v := range a.Votes[first:] {
		a = a.count(v.Outcome)
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
	a.Reason = t.Why
	a, _ = raise(a, o)
	a.ID = alertID(a, now)
	return a, t
}

// alertID names an alert by series, kind and the time it fired.
func alertID(a Alert, now time.Time) string {
	return fmt.Sprintf("%s/%s@%s", a.Series, a.Kind, now.UTC().Format("20060102T150405.000000000Z"))
}

func stepOpen(a Alert, q Quorum, o Observation, now time.Time, t turn) (Alert, turn) {
	a, t.Escalated = raise(a, o)
	if a.State == StateFlapping {
		return stepFlapping(a, q, o, now, t)
	}
	if q.Strict && o.Call != baseline.Breach {
		a.Calm = []time.Time{o.At}
		return resolve(a, "no longer above the limit", now, t)
	}
	if o.Call != baseline.Calm {
		a.Calm = nil
		t.Why = string(o.Call) + " observation"
		return a.to(StateFiring, now), t
	}
	a.Calm = calmer(a.Calm, o.At)
	t.FirstCalm = len(a.Calm) == 1
	need := q.ResolveN
	if q.Failures && a.Last.Outcome.Incurable() {
		need = 1
	}
	if len(a.Calm) >= need && o.At.Sub(a.Calm[0]) >= q.ResolveFor {
		if a.flaps(q, now) {
			return a.flap(now, t)
		}
		return resolve(a, fmt.Sprintf("%d calm observations in a row", len(a.Calm)), now, t)
	}
	t.Why = "calm observation"
	return a.to(StateRecovering, now), t
}

// calmer adds a calm observation; one from before the last one (a clock that was set back) starts the count anew.
func calmer(calm []time.Time, at time.Time) []time.Time {
	if n := len(calm); n > 0 && at.Before(calm[n-1]) {
		return []time.Time{at}
	}
	return append(slices.Clone(calm), at)
}

// resolve ends an alert: its window is emptied. The caller keeps the ended one and starts a new.
func resolve(a Alert, why string, now time.Time, t turn) (Alert, turn) {
	a = a.to(StateOK, now)
	a.Resolved, a.Reason, a.Votes = now, why, nil
	t.Resolved, t.Why = true, why
	return a, t
}

// raise makes a drift critical when it is above the user's critical limit, or has been steep for long.
func raise(a Alert, o Observation) (Alert, bool) {
	steep := !a.Steep.IsZero() && o.At.Sub(a.Steep) >= steepFor
	if a.Severity == Critical || !o.Urgent && !steep {
		return a, false
	}
	a.Severity = Critical
	return a, true
}

// see takes the numbers of one observation.
func (a *Alert) see(o *Observation, q Quorum) {
	v := &o.Verdict
	if !q.Failures {
		if v.Ratio < steepRatio {
			a.Steep = time.Time{}
		} else if a.Steep.IsZero() || o.At.Before(a.Steep) {
			a.Steep = o.At
		}
	}
	if q.Failures && o.Call != baseline.Breach {
		return
	}
	if o.Call == baseline.Breach && !o.Fixed {
		a.Fixed, a.Learned = false, "" // the band has been learned meanwhile, and says so too
	}
	a.Last = Evidence{At: o.At, Value: v.Value, Mean: v.Mean, Low: o.Low, Limit: v.Limit, Ratio: v.Ratio, Z: v.Z,
		Canaries: o.Canaries, Outcome: o.Outcome, Reason: o.Reason, RequestID: o.RequestID}
	if o.Call == baseline.Breach && (a.Worst.At.IsZero() || breachCount(a.Votes) == 1 && !a.Open() || v.Ratio > a.Worst.Ratio) {
		a.Worst = a.Last
	}
}

// timedOut reports whether an observed outcome speaks of a timeout. The only skips that are observed are of runs whose
// earlier ones hang.
func timedOut(o probe.Outcome) bool { return o.Family() == probe.FamilyTimeout || o == probe.Skipped }

// count adds a probe to what the alert has seen while open.
func (a Alert) count(o probe.Outcome) Alert {
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
