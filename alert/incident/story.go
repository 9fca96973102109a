package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"serin/alert"
	"serin/alert/message"
)

// story fills in what a message of an incident says.
func (i *Incidents) story(inc *incident, d delivery) message.Story {
	return message.Story{Act: d.act, Now: i.now, Incident: inc.Incident, Alerts: leadingFirst(inc), News: d.news, Group: i.groupTargets(inc),
		Targets: i.engine.Targets(), Recent: i.engine.Recent, Marks: i.marksAround(inc.Targets(), began(inc)), Paused: i.pausedUntil(inc),
		Instance: i.opt.Instance, Region: i.opt.Region, URL: i.opt.ExternalURL}
}

// began returns when an incident's trouble began: the earliest first breach of its alerts.
func began(inc *incident) time.Time {
	first := inc.Opened
	for _, a := range inc.alerts {
		if t := a.Began(); t.Before(first) {
			first = t
		}
	}
	return first
}

// pausedUntil returns until when no target of an incident is probed; zero = one is.
func (i *Incidents) pausedUntil(inc *incident) (until time.Time) {
	if i.opt.Paused == nil || !fires(inc) {
		return until
	}
	for _, name := range inc.Targets() {
		end, paused := i.opt.Paused(name)
		if !paused {
			return time.Time{}
		}
		if until.IsZero() || end.Before(until) {
			until = end
		}
	}
	return until
}

// leadingFirst lists an incident's alerts, the one of the headline first, the ended ones behind the firing ones.
func leadingFirst(inc *incident) []alert.Alert {
	list := slices.Collect(maps.Values(inc.alerts))
	slices.SortFunc(list, func(a, b alert.Alert) int {
		return cmp.Or(cmp.Compare(weight(b, inc.Member(b.ID)), weight(a, inc.Member(a.ID))), cmp.Compare(b.Worst.Ratio, a.Worst.Ratio),
			a.Fired.Compare(b.Fired), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// weight orders alerts for the headline: firing before ended, what may be sent before what is held back, firing before recovering,
// critical first, down before slow.
func weight(a alert.Alert, m alert.Member) int {
	w := 0
	for n, yes := range []bool{a.Kind.Metric() == "" && a.Kind != alert.KindLimit, m.Mute.Lower(a.Severity) == alert.Critical,
		a.State != alert.StateRecovering, !m.Mute.IsFull() && m.Inhibited == "", m.Ended.IsZero()} {
		if yes {
			w += 1 << n
		}
	}
	return w
}
