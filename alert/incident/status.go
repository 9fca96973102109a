package incident

import (
	"maps"
	"time"

	"serin/alert"
)

// Status is what incidents show to others. It is a copy: nothing in it changes later.
type Status struct {
	At        time.Time
	Incidents []alert.Incident      // waiting or open, in the order they opened
	Silences  []alert.Silence       // active and planned
	Windows   []alert.Mute          // the running maintenance windows
	Mutes     map[string]alert.Mute // of firing alerts, by id
	Inhibited map[string]string     // of firing alerts, by id: by what
}

// Status returns what incidents show now. It is safe for concurrent use and waits for no store.
func (i *Incidents) Status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.view
}

func (i *Incidents) publish() {
	view := Status{At: i.now, Silences: i.silences, Windows: i.running(), Mutes: maps.Clone(i.mutes), Inhibited: maps.Clone(i.inhibits)}
	for _, inc := range i.sorted() {
		view.Incidents = append(view.Incidents, inc.Incident)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.view = view
}
