package engine

import (
	"fmt"
	"math"

	"serin/baseline"
	"serin/probe"
)

// Event is something worth knowing that pages nobody.
type Event string

// The events.
const (
	EventSpike  Event = "spike"  // one probe far from usual
	EventLow    Event = "low"    // literal: below mean − 2 sd
	EventDown   Event = "down"   // the level has come down for good, the band follows
	EventAccept Event = "accept" // a slower level is the new normal
	EventUndo   Event = "undo"   // the old level is normal again
	EventReset  Event = "reset"  // the history was forgotten by command
)

// A spike is one probe that is far from usual in both senses.
const (
	spikeSigmas = 5
	spikeRatio  = .40
)

// happened writes an event of a canary into history and log. Its state is the alert's, which it does not change.
func (e *Engine) happened(c *watch, k Kind, what Event, why string, numbers Evidence) {
	a := c.alerts[k]
	e.note(a, what, why, numbers)
	e.tx.touch(c)
}

func (e *Engine) note(a Alert, what Event, why string, numbers Evidence) {
	e.tx.Transitions = append(e.tx.Transitions, Transition{At: e.now, Series: a.Series, Kind: a.Kind, From: a.State, To: a.State,
		Reason: why, Alert: a.ID, Incident: a.Incident, Event: what, Evidence: numbers})
	e.log.Info("event", "event", string(what), "series", a.Series, "kind", string(a.Kind), "reason", why)
}

// oddities tells of one judged value that is odd by itself, while its alert is quiet.
func (e *Engine) oddities(c *watch, k Kind, o Observation) {
	regular := o.Trigger == "" || o.Trigger == probe.Schedule // re-probes tell whether it was one probe alone
	v := o.Verdict
	numbers := func() Evidence {
		return Evidence{At: o.At, Value: v.Value, Mean: v.Mean, Low: o.Low, Limit: v.Limit, Ratio: v.Ratio, Z: v.Z,
			Outcome: o.Outcome, RequestID: o.RequestID}
	}
	switch {
	case o.Call == baseline.NotJudged || o.Fixed || c.alerts[k].Open():
	case o.judged.Low:
		e.happened(c, k, EventLow, "faster than the mean less two standard deviations", numbers())
	case spikes(v, o.Band) && regular:
		e.happened(c, k, EventSpike, fmt.Sprintf("one probe at ×%.2f of usual", v.Ratio), numbers())
	}
}

func spikes(v baseline.Ruling, b *baseline.Band) bool {
	return b != nil && b.Sigma > 0 && v.Ratio > 0 && math.Abs(v.Ratio-1) >= spikeRatio &&
		math.Abs(math.Log(v.Ratio)) > spikeSigmas*b.Sigma
}
