package replay

import (
	"time"

	"serin/alert"
	"serin/probe"
)

// Event is one decision of a replay. Value, Mean and Limit are seconds; what does not apply is absent.
type Event struct {
	Event       string         `json:"event"`  // open, resolve, escalate, or one of alert's events: spike, slower, accept, …
	Series      string         `json:"series"` // target/scene/size, or the target alone
	Kind        alert.Kind     `json:"kind,omitempty"`
	Severity    alert.Severity `json:"severity"`
	Metric      probe.Metric   `json:"metric,omitempty"`
	Time        time.Time      `json:"time"`
	Value       float64        `json:"value,omitempty"`
	Mean        float64        `json:"mean,omitempty"`
	Limit       float64        `json:"limit,omitempty"`
	Ratio       float64        `json:"ratio,omitempty"`
	Z           float64        `json:"z,omitempty"`
	FirstBreach time.Time      `json:"first_breach,omitzero"`
	Reason      string         `json:"reason,omitempty"`
	Fixed       bool           `json:"fixed,omitempty"` // held against a fixed limit, not a band: ratio is value/limit

	ID    string          `json:"-"` // of the alert; "" = the event is of none
	Worst *alert.Evidence `json:"-"` // of the alert until then; nil = the event is of none
}

// Names of events.
const (
	EventOpen     = "open"
	EventResolve  = "resolve"
	EventEscalate = "escalate" // the severity rose
)

// logbook turns transitions into events, and knows whether anything is under way.
type logbook struct {
	events []Event
	active map[string]bool // series and kind: pending or firing
}

func newLogbook() logbook { return logbook{active: map[string]bool{}} }

// busy reports whether an alert is pending or firing.
func (b *logbook) busy() bool { return len(b.active) > 0 }

func (b *logbook) add(t *alert.Transition) {
	switch {
	case t.Event == alert.EventSeverity:
		b.note(EventEscalate, t)
	case t.Event != "":
		b.happened(t)
	default:
		b.follow(t)
	}
}

func (b *logbook) follow(t *alert.Transition) {
	key := t.Series + " " + string(t.Kind)
	delete(b.active, key)
	if t.To == alert.StatePending || t.To.IsFiring() {
		b.active[key] = true
	}
	switch {
	case t.Fired():
		b.note(EventOpen, t)
	case t.Resolved():
		b.note(EventResolve, t)
	}
}

// happened takes what changed no state: a spike, an acceptance, …
func (b *logbook) happened(t *alert.Transition) {
	n := t.Evidence
	b.events = append(b.events, Event{Event: string(t.Event), Series: t.Series, Kind: t.Kind, Severity: alert.Info, Metric: t.Kind.Metric(), Time: t.At.UTC(),
		Reason: t.Reason, Value: n.Value, Mean: n.Mean, Limit: n.Limit, Ratio: n.Ratio, Z: n.Z})
}

func (b *logbook) note(what string, t *alert.Transition) {
	a := t.After
	worst := a.Worst // the alert itself holds all its votes
	b.events = append(b.events, Event{Event: what, Series: a.Series, Kind: a.Kind, Severity: a.Severity, Metric: a.Kind.Metric(), Time: t.At.UTC(),
		Value: a.Last.Value, Mean: a.Last.Mean, Limit: a.Last.Limit, Ratio: a.Last.Ratio, Z: a.Last.Z, FirstBreach: a.FirstBreach.UTC(), Reason: a.Reason, Fixed: a.Fixed, ID: a.ID, Worst: &worst})
}
