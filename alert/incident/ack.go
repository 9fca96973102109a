package incident

import (
	"context"
	"fmt"
	"time"
)

// Ack notes that somebody has taken the open incident id: its reminders stop, until a time where one is given, and its
// message says who has it, and why or with what in mind where that is given. A later word replaces an earlier one. It
// returns the id; the error says that there is no such incident, or that the time has passed.
func (e *Engine) Ack(ctx context.Context, id, who, why string, until, now time.Time) ([]string, error) {
	t := e.withIncident(id)
	if t == nil {
		return nil, fmt.Errorf("no incident %q is open: serin incidents --open lists those that are", id)
	}
	if !until.IsZero() && !until.After(now) {
		return nil, fmt.Errorf("until (%s) has passed: give a later time, or none", until.Format(time.RFC3339))
	}
	e.open(latest(e.now, now))
	by := who
	if why != "" {
		by += " (" + why + ")"
	}
	if !until.IsZero() {
		by += ", until " + clock(until, e.now, e.story(t.incident, Story{}).Zone)
	}
	t.incident.Acked, t.incident.AckedUntil = by, asStored(until)
	e.changed(t.incident)
	e.log.Info("incident acknowledged", "incident", id, "scope", t.incident.Scope, "by", who, "reason", why, "until", until)
	if t.incident.State == IncidentOpen { // before that nobody has been told of it
		e.tx.tell(t, News{What: TurnAcked, Detail: by})
	}
	return []string{id}, e.finish(ctx)
}

// unacked reports whether the incident is to be reminded of. An acknowledgement that is over is forgotten, and no longer
// shown.
func (e *Engine) unacked(inc *incident) bool {
	if inc.Acked == "" {
		return true
	}
	if inc.AckedUntil.IsZero() || e.now.Before(inc.AckedUntil) {
		return false
	}
	e.log.Info("acknowledgement is over", "incident", inc.ID, "by", inc.Acked)
	inc.Acked, inc.AckedUntil = "", time.Time{}
	e.owe(inc, Story{Act: ActUpdate})
	e.changed(inc)
	return true
}

// withIncident returns the target whose incident has this id, nil when none has.
func (e *Engine) withIncident(id string) *target {
	for _, t := range e.order {
		if t.incident != nil && t.incident.ID == id {
			return t
		}
	}
	return nil
}
