package replay

import (
	"context"
	"time"

	"serin/alert"
	"serin/probe"
)

// Event is one decision of a replay. Value, Mean and Limit are seconds; what does not apply is absent.
type Event struct {
	Event       string         `json:"event"`  // open, resolve, escalate, or one of alert's events: spike, accept, down, …
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

// logbook is the journal of a replay: it turns changes into events, and knows whether anything is under way.
type logbook struct {
	events []Event
	open   map[string]alert.Severity // alert id
	states map[string]alert.State    // series and kind
	active int                       // of states
	now    time.Time                 // of what the engine is told
}

var _ alert.Journal = (*logbook)(nil)

func newLogbook() logbook {
	return logbook{open: map[string]alert.Severity{}, states: map[string]alert.State{}}
}

// busy reports whether an alert is pending or open.
func (b *logbook) busy() bool { return b.active > 0 }

// Commit takes the decisions out of a change.
func (b *logbook) Commit(_ context.Context, c alert.Change) error {
	for i := range c.Transitions {
		if t := &c.Transitions[i]; t.Event != "" {
			b.happened(t)
		} else {
			b.follow(t)
		}
	}
	for i := range c.Alerts {
		b.decide(&c.Alerts[i])
	}
	return nil
}

// happened takes what changed no state: a spike, an acceptance, …
func (b *logbook) happened(t *alert.Transition) {
	e := Event{Event: string(t.Event), Series: t.Series, Kind: t.Kind, Severity: alert.Info, Metric: t.Kind.Metric(), Time: t.At.UTC(), Reason: t.Reason}
	n := t.Evidence
	e.Value, e.Mean, e.Limit, e.Ratio, e.Z = n.Value, n.Mean, n.Limit, n.Ratio, n.Z
	b.events = append(b.events, e)
}

func (b *logbook) follow(t *alert.Transition) {
	key := t.Series + " " + string(t.Kind)
	if was := b.states[key]; active(was) != active(t.To) {
		if active(t.To) {
			b.active++
		} else {
			b.active--
		}
	}
	b.states[key] = t.To
}

func active(s alert.State) bool {
	return s == alert.StatePending || s == alert.StateFiring || s == alert.StateRecovering
}

func (b *logbook) decide(a *alert.Alert) {
	was, known := b.open[a.ID]
	switch {
	case a.Open() && !known:
		b.open[a.ID] = a.Severity
		b.note(EventOpen, a, a.Fired)
	case !a.Open() && known:
		delete(b.open, a.ID)
		b.note(EventResolve, a, a.Resolved)
	case a.Open() && a.Severity != was && was != alert.Critical:
		b.open[a.ID] = a.Severity
		b.note(EventEscalate, a, b.now)
	}
}

func (b *logbook) note(what string, a *alert.Alert, at time.Time) {
	worst := a.Worst // the alert itself holds all its votes
	b.events = append(b.events, Event{Event: what, Series: a.Series, Kind: a.Kind, Severity: a.Severity, Metric: a.Kind.Metric(), Time: at.UTC(),
		Value: a.Last.Value, Mean: a.Last.Mean, Limit: a.Last.Limit, Ratio: a.Last.Ratio, Z: a.Last.Z, FirstBreach: a.FirstBreach.UTC(), Reason: a.Reason, Fixed: a.Fixed, ID: a.ID, Worst: &worst})
}
