package incident

import (
	"slices"
	"time"
)

// mute brings the mutes of a target's open alerts up to date. It reports whether the mute of an alert that people know of
// changed, and whether one that they do not know of may be told now.
func (e *Engine) mute(t *target) (seen, freed bool) {
	if len(e.silences)+len(e.windows) == 0 && !t.muted {
		return false, false
	}
	t.muted = false
	e.eachOpen(t, func(a Alert) Alert {
		was := a.Mute
		a.Mute = e.muteOf(e.fact(a))
		t.muted = t.muted || a.Mute != (Mute{})
		e.watchMuted(a)
		if was == a.Mute {
			return a
		}
		e.sayMute(a, was)
		seen = seen || a.Announced && was.full() != a.Mute.full()
		freed = freed || was.full() && !a.Mute.full() && !a.Announced
		return a
	})
	for _, c := range t.canaries {
		e.yield(c)
	}
	return seen, freed
}

// muteOf returns the strongest mute that holds for an alert: one that tells nothing before a cap, then the one that lasts
// longest.
func (e *Engine) muteOf(f Fact) Mute {
	var best Mute
	take := func(m Mute) {
		if best == (Mute{}) || m.full() && !best.full() || m.full() == best.full() && m.Until.After(best.Until) {
			best = m
		}
	}
	for _, s := range e.silences {
		if s.State(e.now) == "active" && s.Match.holds(f) {
			take(s.mute())
		}
	}
	for _, w := range e.windows {
		if w.covers(e.now) && w.Match.holds(f) {
			take(w.mute())
		}
	}
	return best
}

// sayMute writes a change of an alert's mute into history and log.
func (e *Engine) sayMute(a Alert, was Mute) {
	switch {
	case a.Mute != (Mute{}):
		e.note(a, EventMuted, a.Mute.Text(e.now, time.UTC), Evidence{})
	default:
		e.note(a, EventUnmuted, "no longer "+was.Text(e.now, time.UTC), Evidence{})
	}
}

// heard leaves out news of alerts that are muted; that one has ended is told where people knew of it.
func (e *Engine) heard(t *target, news []News) []News {
	muted := map[string]bool{}
	e.eachOpen(t, func(a Alert) Alert {
		muted[a.ID] = a.Muted()
		return a
	})
	return slices.DeleteFunc(slices.Clone(news), func(n News) bool { return muted[n.Alert] })
}

// putOff takes an alert that is muted out of the incident that is about to be told without it: it joins again when it may
// be told.
func (e *Engine) putOff(inc *incident, a Alert) Alert {
	if a.Announced || !a.Muted() {
		return a
	}
	inc.Alerts = slices.DeleteFunc(slices.Clone(inc.Alerts), func(id string) bool { return id == a.ID })
	a.Incident = ""
	return a
}

// audible reports whether one of the incident's open alerts may be told.
func (e *Engine) audible(inc *incident) bool {
	return slices.ContainsFunc(inc.in, func(t *target) bool { return e.audibleAt(inc, t) })
}

// audibleAt reports whether one of the incident's open alerts on a target may be told.
func (e *Engine) audibleAt(inc *incident, t *target) bool {
	return e.hasOpen(t, func(a Alert) bool { return a.Incident == inc.ID && !a.Muted() })
}
