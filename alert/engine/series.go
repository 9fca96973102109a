package engine

import (
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// series is one thing that can be in trouble of one kind, with its alert: the one that fires, or the votes towards the next.
type series struct {
	key    string // of its alerts: a canary's, or the name of a target
	kind   alert.Kind
	target *target
	lead   *canary // whose rule it is judged by: its canary, or the first of those that are judged together
	quorum alert.Quorum
	judge  judge
	alert  alert.Alert
	ended  []spell // when alerts of it fired lately
	recent provisional
}

// judge is what tells kinds of series apart.
type judge interface {
	ready() bool           // false while it learns
	histories() []*history // that its values enter; none = it judges no latency
	freeze(on bool)        // holds today's offset while its alert fires
}

var (
	_ judge = failures{}
	_ judge = (*history)(nil)
	_ judge = (*rounds)(nil)
)

// failures judges what is no latency.
type failures struct{}

func (failures) ready() bool           { return true }
func (failures) histories() []*history { return nil }
func (failures) freeze(bool)           {}

// spell is when an alert of a series was on.
type spell struct {
	Kind alert.Kind `json:"kind"`
	From time.Time  `json:"from"`
	To   time.Time  `json:"to"`
}

func newSeries(key string, k alert.Kind, t *target, j judge) *series {
	s := &series{key: key, kind: k, target: t, judge: j}
	s.alert = s.blank()
	return s
}

// blank is an alert with nothing seen yet.
func (s *series) blank() alert.Alert {
	return alert.Alert{Series: s.key, Kind: s.kind, State: s.rest()}
}

// rest is the state of a quiet alert without votes.
func (s *series) rest() alert.State {
	if s.judge.ready() {
		return alert.StateOK
	}
	return alert.StateLearning
}

// isBusy reports whether time alone may change the alert.
func (s *series) isBusy() bool { return s.alert.State == alert.StatePending || s.alert.IsFiring() }

func (s *series) isLatency() bool { return s.kind.Metric() != "" }

// isWhole reports whether the series is of a whole target.
func (s *series) isWhole() bool { return s.key == s.target.name }

// step brings an observation to a series' alert and takes what comes of it.
func (s *series) step(e *Engine, o alert.Observation) alert.Turn {
	if e.folding {
		return s.stepAgain(e, o)
	}
	a, t := alert.Step(s.alert, s.quorum, o, e.now)
	if s.alert.IsFiring() && s.isLatency() {
		a, t = s.hold(e, a, t, o)
	}
	if e.opt.Trace != nil {
		e.opt.Trace(a)
	}
	s.apply(e, a, t)
	return t
}

// stepAgain brings a stored observation to a series once more. What fired is stored: nothing else may fire by it.
func (s *series) stepAgain(e *Engine, o alert.Observation) alert.Turn {
	if s.alert.IsFiring() || !o.At.After(s.quietSince()) {
		return alert.Turn{From: s.alert.State}
	}
	a, t := alert.Step(s.alert, s.quorum, o, e.now)
	if a.IsFiring() {
		fired := a
		a = s.alert
		a.Votes, a.State = fired.Votes, alert.StatePending
		t.Fired = false
	}
	s.alert = a
	return t
}

// quietSince is from when on stored observations are stepped again: after the newest alert of the series, and after what the stored
// state of its step test has seen.
func (s *series) quietSince() (t time.Time) {
	if s.alert.KalmanState != nil {
		t = s.alert.KalmanState.At
	}
	for _, x := range s.ended {
		t = latest(t, x.To)
	}
	return t
}

// apply makes a the series' alert: history, log, offsets and re-probes follow.
func (s *series) apply(e *Engine, a alert.Alert, t alert.Turn) {
	if t.Fired || t.Resolved {
		s.judge.freeze(t.Fired)
		s.cancelReprobes(e)
	}
	if t.Fired && s.lead != nil {
		a.Config = s.lead.Config
		if a.Band != nil {
			a.Threshold = a.Band.Threshold
		}
	}
	if t.Resolved && a.Excluding {
		a = s.include(e, a)
	}
	s.alert = a
	s.target.busy = s.target.busy || s.isBusy()
	if a.State != t.From {
		e.transit(a, t)
	}
	if a.IsFiring() || t.Resolved {
		e.change.alert(a)
		e.change.target(s.target)
	}
	if t.Fired && s.isLatency() && !s.isWhole() && s.target.corroborates(s, e.now) {
		s.lead.request(e, alert.ConfirmAlone(a.FirstBreach, s.lead.Canary.Interval), []alert.Kind{s.kind})
	}
	if t.Resolved {
		s.restart(a, e.now)
	}
	s.touch(e)
}

// restart puts a resolved alert away and starts the next.
func (s *series) restart(ended alert.Alert, now time.Time) {
	s.alert = s.blank()
	s.recent = provisional{}
	if ended.Reason != alert.EndAccepted {
		s.alert.KalmanState = ended.KalmanState
	}
	for len(s.ended) > 0 && now.Sub(s.ended[0].To) > max(rateWindow, s.quorum.Window) {
		s.ended = s.ended[1:]
	}
	if s.lead != nil && s.kind != alert.KindNoData { // nothing looks back at the others
		s.ended = append(slices.Clip(s.ended), spell{Kind: s.kind, From: ended.FirstBreach, To: now})
		s.lead.unsaved = s.lead.unsaved || !s.isWhole()
	}
}

// touch marks what is stored and shown of a series as changed.
func (s *series) touch(e *Engine) {
	switch r, whole := s.judge.(*rounds); {
	case whole:
		e.change.round(r)
	case !s.isWhole():
		e.change.canary(s.lead)
	}
}

// resolve ends an alert for a reason that is not its observations.
func (s *series) resolve(e *Engine, why string) {
	a, t := alert.Resolve(s.alert, why, e.now, alert.Turn{From: s.alert.State})
	s.apply(e, a, t)
}

// calm gives a quiet alert its resting state.
func (s *series) calm(e *Engine, why string) {
	if a := s.blank(); !s.alert.IsFiring() && s.alert.State != a.State {
		a.KalmanState, a.Since = s.alert.KalmanState, e.now
		s.apply(e, a, alert.Turn{From: s.alert.State, Why: why})
	}
}

// transit adds one change of state: a row of history and a log line.
func (e *Engine) transit(a alert.Alert, t alert.Turn) {
	e.change.Transitions = append(e.change.Transitions, alert.Transition{At: e.now, Series: a.Series, Kind: a.Kind, From: t.From, To: a.State,
		Reason: t.Why, Alert: a.ID, After: &a})
	e.log.Info("alert state", "series", a.Series, "kind", string(a.Kind), "from", string(t.From), "to", string(a.State),
		"reason", t.Why, "alert", a.ID)
}

// surroundings are what the severity of the series' alert depends on beside it.
func (s *series) surroundings(canaries, down int, now time.Time) alert.Surroundings {
	x := alert.Surroundings{Canaries: canaries, Down: down}
	if s.isLatency() {
		x.Judged, x.Grown = !s.isWhole() && s.target.corroborates(s, now), s.target.grown(s.kind.Metric(), now)
		x.Whole = x.Judged && s.target.round(s.kind.Metric()).series.alert.IsFiring()
	}
	return x
}

// offsetOf is today's offset (ln) that an observation was corrected by.
func offsetOf(o *alert.Observation) float64 {
	if o.Canaries == 0 {
		return o.Judged.Res.O
	}
	es := make([]float64, len(o.Shares))
	for i, x := range o.Shares {
		es[i] = x.E
	}
	return alert.Median(es) - math.Log(o.Verdict.Ratio)
}

// isRegular reports whether an observation is of a scheduled run.
func isRegular(t probe.Trigger) bool { return t == "" || t == probe.Schedule }
