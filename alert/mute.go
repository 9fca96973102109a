package alert

import (
	"slices"
	"time"
)

// Mute says by what an alert is muted, and until when. The zero Mute is none.
type Mute struct {
	Silence     string    `json:"silence,omitempty"`     // id of the silence, or …
	Maintenance string    `json:"maintenance,omitempty"` // … name of the window
	By          string    `json:"by,omitempty"`          // who silenced
	Reason      string    `json:"reason,omitempty"`
	Until       time.Time `json:"until,omitzero"`
	Cap         Severity  `json:"cap,omitempty"` // told as no more than that; "" = not told
}

// Events of history: an alert is muted, or no more.
const (
	EventMuted   Event = "muted"
	EventUnmuted Event = "unmuted"
)

// full reports whether nothing is told; info pages nobody.
func (m Mute) full() bool { return m != (Mute{}) && m.Cap != Warning }

// Muted reports whether people are told nothing of the alert for now, because of a silence or a maintenance window.
func (a Alert) Muted() bool { return a.Mute.full() }

// Told is the severity that the alert is told with: its own, or less where a silence or a window says so.
func (a Alert) Told() Severity {
	if a.Mute.Cap == Warning && a.Severity == Critical {
		return Warning
	}
	return a.Severity
}

// Text says by what and until when, in a zone: silenced by kim until 14:30 +08:00 (new GPU). Foreign text in it is one
// line, not escaped.
func (m Mute) Text(now time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	text := "maintenance " + oneLine(m.Maintenance, 80)
	if m.Silence != "" {
		text = "silenced by " + oneLine(m.By, maxBy)
	}
	if !m.Until.IsZero() {
		text += " until " + clock(m.Until, now, zone)
	}
	if m.Cap == Warning {
		text += ", told as no more than a warning"
	}
	if m.Reason != "" {
		text += " (" + oneLine(m.Reason, MaxReason) + ")"
	}
	return text
}

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
