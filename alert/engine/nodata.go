package engine

import (
	"cmp"
	"fmt"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// runs follows a canary's own schedule since this process started.
type runs struct {
	due     time.Time // the next run that is not accounted for; zero = none
	begun   time.Time // when the newest regular probe was begun
	ended   time.Time // when the newest probe that is over was begun
	excused time.Time // when a run was skipped for a reason that is not ours to alert about
	noRoom  time.Time // when a run was skipped because others took the room
	missed  int       // consecutive runs for which no probe was begun
}

// How far a probe's start may lie from its run: the clock's slop before it, the wait for room after it.
const (
	runEarly = 2 * time.Second
	runLate  = 30 * time.Second
)

// missedMax consecutive runs without a probe are no data.
const (
	missedMax    = 2
	missedWindow = 366 * 24 * time.Hour // runs count however rare they are
)

// followRun takes note of what a sample says of its run.
func (c *canary) followRun(e *Engine, s *probe.Sample) {
	switch {
	case e.folding:
	case s.Outcome == probe.Skipped && s.Reason == probe.ReasonInFlight: // that others took the room excuses nothing
		c.runs.noRoom = latest(c.runs.noRoom, s.Time)
	case s.Outcome == probe.Skipped:
		c.runs.excused = latest(c.runs.excused, s.Time)
	default:
		c.started(e, s.Time, s.Regular())
		at := s.Time
		if s.Outcome == probe.Client { // it never left, and bears the time of its run, which lies before its beginning
			at = latest(at, e.now)
		}
		c.runs.ended = latest(c.runs.ended, at)
	}
}

// isUnderWay reports whether the canary's newest probe is still going on: what it says is yet to come.
func (c *canary) isUnderWay(now time.Time) bool {
	return c.runs.begun.After(c.runs.ended) && now.Sub(c.runs.begun) < c.Canary.Target.TotalTimeout+runLate
}

// Begun says that a regular probe of a canary was begun. Without such calls a run can be held missing only when its sample could
// have come: total_timeout later.
func (e *Engine) Begun(canary string, at time.Time) alert.Judged {
	c := e.canaries[canary]
	if c == nil {
		return alert.Judged{}
	}
	e.begins = true
	e.begin(latest(e.now, at))
	c.started(e, at, true)
	return e.commit()
}

const probeBegun = "a probe was begun"

// started takes note of a probe and ends the alert that there is none.
func (c *canary) started(e *Engine, at time.Time, regular bool) {
	if regular {
		c.runs.begun = latest(c.runs.begun, at)
	}
	s := c.of(alert.KindNoData)
	switch {
	case s.alert.IsFiring():
		c.runs.missed = 0
		s.step(e, alert.Observation{At: at, Call: baseline.Calm, Why: probeBegun})
	case s.alert.State == alert.StatePending && regular:
		c.runs.missed = 0
		s.calm(e, probeBegun)
	}
}

// accountRuns accounts for the runs that were due. After a jump of the clock none is held missing that was due before it, nor one
// that a clock which was set back comes to again.
func (c *canary) accountRuns(e *Engine, jumped bool) {
	if c.Due == nil || e.opt.Recorded {
		return
	}
	if jumped {
		c.runs.due, c.runs.missed = c.Due(latest(e.now, c.runs.begun)), 0
		c.of(alert.KindNoData).calm(e, "the clock jumped")
		return
	}
	grace := runLate
	if !e.begins {
		grace += c.Canary.Target.TotalTimeout
	}
	for !c.runs.due.IsZero() && e.now.Sub(c.runs.due) >= grace {
		c.accountRun(e)
		c.runs.due = c.Due(c.runs.due)
	}
}

// accountRun decides about one run that was due.
func (c *canary) accountRun(e *Engine) {
	from := c.runs.due.Add(-runEarly)
	switch {
	case !c.runs.begun.Before(from):
		c.runs.missed = 0
		return
	case !c.runs.excused.Before(from), c.isUnderWay(e.now):
		return
	}
	c.runs.missed++
	s := c.of(alert.KindNoData)
	if s.alert.IsFiring() {
		return
	}
	o := alert.Observation{At: c.runs.due, Call: baseline.Breach, Why: fmt.Sprintf("%d due runs in a row without a probe", c.runs.missed)}
	if room := c.roomTaken(from); room != "" {
		o.Why += ", " + room
		o.Reason = room
	}
	o.Reason = cmp.Or(o.Reason, o.Why)
	s.step(e, o)
}

// roomTaken says whose room is taken where a run since from was skipped for that, else "".
func (c *canary) roomTaken(from time.Time) string {
	if c.runs.noRoom.Before(from) {
		return ""
	}
	owner, t := "target", c.Canary.Target
	if t.Provider != "" && t.Provider != t.Name {
		owner = "provider"
	}
	return "no room: max_in_flight of " + owner + " " + cmp.Or(t.Provider, t.Name) + " is taken by runs that hang"
}
