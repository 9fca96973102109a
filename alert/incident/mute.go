package incident

import (
	"time"

	"serin/alert"
	"serin/alert/message"
)

// muteOf returns the strongest mute that holds for an alert: one that sends nothing before a cap, then the one that lasts
// longest.
func (i *Incidents) muteOf(f alert.Fact) alert.Mute {
	var best alert.Mute
	consider := func(m alert.Mute) {
		if best == (alert.Mute{}) || m.IsFull() && !best.IsFull() || m.IsFull() == best.IsFull() && m.Until.After(best.Until) {
			best = m
		}
	}
	for _, s := range i.silences {
		if s.State(i.now) == "active" && s.Match.Holds(f) {
			consider(s.Mute())
		}
	}
	for _, w := range i.windows {
		if w.covers(i.now) && w.Match.Holds(f) {
			consider(w.mute())
		}
	}
	return best
}

// recordMute writes a change of an alert's mute into history and log.
func (i *Incidents) recordMute(a alert.Alert, was, is alert.Mute) {
	what, why := alert.EventMuted, message.MuteText(is, i.now, time.UTC)
	if is == (alert.Mute{}) {
		what, why = alert.EventUnmuted, "no longer "+message.MuteText(was, i.now, time.UTC)
	}
	i.told.History = append(i.told.History, alert.Transition{At: i.now, Series: a.Series, Kind: a.Kind, From: a.State, To: a.State,
		Reason: why, Alert: a.ID, Event: what})
	i.log.Info("event", "event", string(what), "series", a.Series, "kind", string(a.Kind), "reason", why)
}
