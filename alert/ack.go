package alert

import (
	"context"
	"fmt"
	"time"
)

// Ack notes that somebody has taken the open incident id: its reminders stop, and its message says who has it, and why or
// with what in mind where that is given. A later word replaces an earlier one. It returns the id; the error says that
// there is no such incident.
func (e *Engine) Ack(ctx context.Context, id, who, why string, now time.Time) ([]string, error) {
	t := e.withIncident(id)
	if t == nil {
		return nil, fmt.Errorf("no incident %q is open: serin incidents --open lists those that are", id)
	}
	e.open(latest(e.now, now))
	by := who
	if why != "" {
		by += " (" + why + ")"
	}
	t.incident.Acked = by
	e.changed(t.incident)
	e.log.Info("incident acknowledged", "incident", id, "scope", t.incident.Scope, "by", who, "reason", why)
	if t.incident.State == IncidentOpen { // before that nobody has been told of it
		e.tx.tell(t, News{What: TurnAcked, Detail: by})
	}
	return []string{id}, e.finish(ctx)
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
