package incident

import (
	"encoding/json"
	"slices"
	"time"

	"serin/alert"
)

// Load takes what a start finds in the store. Nothing is sent because of a start.
func (i *Incidents) Load(snap alert.Snapshot, engine Engine, now time.Time) {
	i.engine = engine
	i.begin(now)
	i.open, i.closed, i.used = map[string]*incident{}, nil, usedIDs{}
	for _, b := range snap.Blobs {
		if b.Key == blobIDs && json.Unmarshal(b.Body, &i.used) != nil {
			i.log.Error("stored state cannot be read; it starts anew", "key", b.Key)
		}
	}
	i.silences = slices.DeleteFunc(slices.Clone(snap.Silences), func(s alert.Silence) bool { return !s.Ends.After(now) })
	i.marks = nil
	for _, m := range snap.Marks {
		i.keepMark(m)
	}
	alerts := map[string]alert.Alert{}
	for _, a := range slices.Concat(snap.Settled, snap.Alerts) {
		alerts[a.ID] = a
	}
	for _, inc := range snap.Incidents {
		i.place(inc, alerts)
	}
	for _, w := range i.windows {
		w.turn(i.now)
	}
	for _, a := range engine.Firing("") { // as it was before: no event
		setOrDelete(i.mutes, a.ID, i.muteOf(i.fact(a)))
		setOrDelete(i.inhibits, a.ID, inhibitedBy(a, i.target(a.Target())))
	}
	i.publish()
}

// place puts a stored incident where it belongs, with its alerts.
func (i *Incidents) place(stored alert.Incident, alerts map[string]alert.Alert) {
	inc := &incident{Incident: stored, alerts: map[string]alert.Alert{}}
	i.used[inc.ID] = inc.Opened.Unix()
	for _, m := range inc.Members {
		if a, ok := alerts[m.Alert]; ok {
			inc.alerts[m.Alert] = a
		}
		if m.Announced && !m.Ended.IsZero() && !m.EndSent {
			inc.edit, inc.since = true, m.Ended
		}
	}
	if inc.State == alert.IncidentClosed {
		i.closed = append(i.closed, inc)
		return
	}
	i.open[inc.Group] = inc
}

// saveIDs puts the ids that are in use into what the call stores.
func (i *Incidents) saveIDs() {
	body, err := json.Marshal(i.used)
	if err != nil {
		i.log.Error("state cannot be encoded", "key", blobIDs, "error", err)
		return
	}
	i.told.State = []alert.Blob{{Key: blobIDs, Body: body}}
}
