package alert

import (
	"slices"
	"time"
)

// The states of an incident.
const (
	IncidentWaiting = "waiting" // group_wait: others may join before anything is sent
	IncidentOpen    = "open"
	IncidentClosed  = "closed"
)

// Incident is what people are told: the alerts of one group. Its group is fixed when its first alert fires.
type Incident struct {
	ID        string      `json:"id"`    // short, e.g. 7f3k
	Group     string      `json:"group"` // its key: provider/NAME, host/HOST:PORT, target/NAME, credential/PROVIDER/KEY
	Scope     string      `json:"scope"` // the group's name, as people know it
	Severity  Severity    `json:"severity"`
	State     string      `json:"state"`
	Opened    time.Time   `json:"opened"`
	Closed    time.Time   `json:"closed,omitzero"`
	Announce  time.Time   `json:"announce,omitzero"`  // when group_wait ends
	Members   []Member    `json:"members"`            // its alerts, in the order they fired
	Revision  int         `json:"revision"`           // of its message
	Reopened  []time.Time `json:"reopened,omitempty"` // when an alert fired again within reopen_within of its end
	Reminded  time.Time   `json:"reminded,omitzero"`
	Reminders int         `json:"reminders,omitempty"` // sent so far
	Acked     string      `json:"acked,omitempty"`     // who has it and why; a later ack adds to it
	// AckedUntil is when reminders begin again; zero = not while it is open.
	AckedUntil time.Time `json:"acked_until,omitzero"`
	Channels   []string  `json:"channels,omitempty"` // that it is sent to, for its whole life; nil before it is announced
}

// Member is one alert of an incident and what people were told of it.
type Member struct {
	Alert     string    `json:"alert"`
	Target    string    `json:"target"`
	Announced bool      `json:"announced,omitempty"` // a message has named it
	Ended     time.Time `json:"ended,omitzero"`
	EndSent   bool      `json:"end_sent,omitempty"`  // a message has said that it ended
	Mute      Mute      `json:"mute,omitzero"`       // by a silence or a maintenance window
	Inhibited string    `json:"inhibited,omitempty"` // by what: "timeouts of gw-eu/chat/short"
}

// Member returns what people were told of an alert; the zero Member where it is none of the incident's.
func (i Incident) Member(alert string) Member {
	for _, m := range i.Members {
		if m.Alert == alert {
			return m
		}
	}
	return Member{}
}

// Targets returns the targets of the incident's alerts, each once, in the order they came.
func (i Incident) Targets() []string {
	var names []string
	for _, m := range i.Members {
		if !slices.Contains(names, m.Target) {
			names = append(names, m.Target)
		}
	}
	return names
}

// Alerts returns the ids of the incident's alerts.
func (i Incident) Alerts() []string {
	ids := make([]string, len(i.Members))
	for n, m := range i.Members {
		ids[n] = m.Alert
	}
	return ids
}
