package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

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
const missedMax = 2

// noRoom is how the reason of missing data begins that comes from too little room.
const noRoom = "no room"

// skip takes note of a run that was skipped. That others took the room excuses nothing: such a canary is not watched.
func (r *runs) skip(s *probe.Sample) {
	if s.Reason == probe.ReasonInFlight {
		r.noRoom = latest(r.noRoom, s.Time)
		return
	}
	r.excused = latest(r.excused, s.Time)
}

// end takes note of a probe that is over. One that never left bears the time of its run, which lies before its beginning.
func (r *runs) end(s *probe.Sample, now time.Time) {
	at := s.Time
	if s.Outcome == probe.Client {
		at = latest(at, now)
	}
	r.ended = latest(r.ended, at)
}

// underWay reports whether the canary's newest probe, which lasts at most for longest, is still going on: what it says is
// yet to come.
func (r *runs) underWay(longest time.Duration, now time.Time) bool {
	return r.begun.After(r.ended) && now.Sub(r.begun) < longest+runLate
}

// Begun says that a probe of a canary was begun. Without such calls a run can be held missing only when its sample
// could have come: total_timeout later.
func (e *Engine) Begun(ctx context.Context, canary string, at time.Time) error {
	c := e.watches[canary]
	if c == nil {
		return nil
	}
	e.begins = true
	e.open(latest(e.now, at))
	e.begun(c, at, true)
	return e.finish(ctx)
}

// begun takes note of a probe and ends the alert that there is none.
func (e *Engine) begun(c *watch, at time.Time, regular bool) {
	if regular {
		c.runs.begun = latest(c.runs.begun, at)
	}
	if s := c.alerts[KindNoData].State; !s.open() && s != StatePending {
		return
	}
	a := c.alerts[KindNoData]
	switch {
	case a.Open():
		c.runs.missed = 0
		a, t := resolve(a, "a probe was begun", e.now, turn{From: a.State})
		e.take(c, KindNoData, a, t)
	case a.State == StatePending && regular:
		e.quietData(c, a)
	}
}

func (e *Engine) quietData(c *watch, a Alert) {
	c.runs.missed = 0
	t := turn{From: a.State, Why: "a probe was begun"}
	e.take(c, KindNoData, a.to(StateOK, e.now), t)
}

// noData accounts for the runs that were due.
func (e *Engine) noData(c *watch, jumped bool) {
	if c.Due == nil || e.opt.Recorded {
		return
	}
	if jumped {
		c.runs = runs{due: c.Due(e.now)}
		if a := c.alerts[KindNoData]; a.State == StatePending {
			e.take(c, KindNoData, a.to(StateOK, e.now), turn{From: a.State, Why: "the clock jumped"})
		}
		return
	}
	grace := runLate
	if !e.begins {
		grace += c.Canary.Target.TotalTimeout
	}
	for !c.runs.due.IsZero() && e.now.Sub(c.runs.due) >= grace {
		e.account(c)
		c.runs.due = c.Due(c.runs.due)
	}
}

// account closes the books of one run.
func (e *Engine) account(c *watch) {
	from := c.runs.due.Add(-runEarly)
	switch {
	case !c.runs.begun.Before(from):
		c.runs.missed = 0
		return
	case !c.runs.excused.Before(from), c.runs.underWay(c.Canary.Target.TotalTimeout, e.now):
		return
	}
	c.runs.missed++
	a := c.alerts[KindNoData]
	t := turn{From: a.State, Why: fmt.Sprintf("%d due runs in a row without a probe", c.runs.missed)}
	if room := c.roomTaken(from); room != "" {
		t.Why += ", " + room
	}
	switch {
	case a.Open():
		return
	case c.runs.missed < missedMax:
		a.FirstBreach = c.runs.due
		e.take(c, KindNoData, a.to(StatePending, e.now), t)
		return
	}
	e.take(c, KindNoData, c.noDataFired(a, t.Why, e.now), fired(t))
}

// roomTaken says whose room is taken where a run since from was skipped for that, else "".
func (c *watch) roomTaken(from time.Time) string {
	if c.runs.noRoom.Before(from) {
		return ""
	}
	owner, t := "target", c.Canary.Target
	if t.Provider != "" && t.Provider != t.Name {
		owner = "provider"
	}
	return noRoom + ": max_in_flight of " + owner + " " + cmp.Or(t.Provider, t.Name) + " is taken by runs that hang"
}

func (c *watch) noDataFired(a Alert, why string, now time.Time) Alert {
	a = a.to(StateFiring, now)
	a.Fired, a.Severity, a.Reason = now, Critical, why
	a.Last = Evidence{At: c.runs.due, Reason: cmp.Or(c.roomTaken(c.runs.due.Add(-runEarly)), why)}
	a.ID = alertID(a, now)
	return a
}

func fired(t turn) turn {
	t.Fired = true
	return t
}
