package incident

import (
	"fmt"
	"time"

	"serin/alert"
)

// Ack notes that somebody has taken the open incident id: its reminders stop, until a time where one is given, and its message says
// who has it, and why where that is given. A later ack adds to the first. The error says that there is no such incident, or that the
// time has passed.
func (i *Incidents) Ack(id, who, why string, until, now time.Time) (alert.Told, error) {
	i.begin(now)
	inc := i.byID(id)
	if inc == nil {
		return alert.Told{}, fmt.Errorf("no incident %q is open: serin incidents --open lists those that are", alert.OneLine(id, 40))
	}
	if !until.IsZero() && !until.After(i.now) {
		return alert.Told{}, fmt.Errorf("until (%s) has passed: give a later time, or none", until.Format(time.RFC3339))
	}
	by := who
	if why != "" {
		by += " (" + why + ")"
	}
	by = alert.OneLine(by, alert.MaxReason)
	if inc.Acked != "" && inc.Acked != by {
		by = inc.Acked + "; " + by
	}
	inc.Acked, inc.AckedUntil, inc.acked = by, alert.AsStored(until), inc.State == alert.IncidentOpen
	i.touch(inc)
	i.log.Info("incident acknowledged", "incident", id, "group", inc.Group, "by", who, "reason", why, "until", until)
	return i.commit(), nil
}

func (i *Incidents) byID(id string) *incident {
	for _, inc := range i.open {
		if inc.ID == id {
			return inc
		}
	}
	return nil
}

// isAcked reports whether somebody has the incident. An acknowledgement that is over is forgotten, and no longer shown.
func (i *Incidents) isAcked(inc *incident) bool {
	if inc.Acked == "" {
		return false
	}
	if inc.AckedUntil.IsZero() || i.now.Before(inc.AckedUntil) {
		return true
	}
	i.log.Info("acknowledgement is over", "incident", inc.ID, "by", inc.Acked)
	inc.Acked, inc.AckedUntil, inc.edit = "", time.Time{}, true
	i.touch(inc)
	return false
}
