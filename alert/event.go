package alert

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
	EventSpike      Event = "spike"         // one probe far from usual
	EventLow        Event = "low"           // literal: below mean − 2 sd
	EventDown       Event = "down"          // the level has come down for good, the band follows
	EventAccept     Event = "accept"        // a slower level is the new normal
	EventUndo       Event = "undo"          // the old level is normal again
	EventReset      Event = "reset"         // the history was forgotten by command
	EventModel      Event = "model_changed" // the returned model or its fingerprint is another
	EventUsageGone  Event = "usage_gone"    // the answer no longer has token counts
	EventBuffered   Event = "buffered"      // the stream comes in one piece now
	EventCheck      Event = "check_failed"  // the answer is not what was expected
	EventSameAnswer Event = "same_answer"   // answers come from a cache
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
	case v.Low:
		e.happened(c, k, EventLow, "faster than the mean less two standard deviations", numbers())
	case spikes(v) && regular:
		e.happened(c, k, EventSpike, fmt.Sprintf("one probe at ×%.2f of usual", v.Ratio), numbers())
	}
}

func spikes(v baseline.Verdict) bool {
	return v.Band != nil && v.Band.Sigma > 0 && v.Ratio > 0 && math.Abs(v.Ratio-1) >= spikeRatio &&
		math.Abs(math.Log(v.Ratio)) > spikeSigmas*v.Band.Sigma
}

// changeAfter regular probes alike are a change of the stream, not a chance.
const changeAfter = 3

// changes tells what a good regular answer says about the endpoint behind it. What lasts is told when it begins.
func (e *Engine) changes(c *watch, s *probe.Sample) {
	if !s.Regular() || !s.Outcome.Success() || s.First {
		return
	}
	before := c.recent
	if n := len(before); n > 0 && before[n-1].at >= s.Time.UnixNano() {
		return // out of order
	}
	tell := func(what Event, why string) {
		e.note(Alert{Series: c.key, State: StateOK}, what, why, Evidence{At: s.Time, Outcome: s.Outcome, Reason: why, RequestID: s.RequestID})
	}
	if s.Has(probe.ModelChanged) {
		tell(EventModel, "the endpoint now answers as "+oneLine(s.ReturnedModel+" "+s.SystemFingerprint, 120))
	}
	if s.Has(probe.UsageGone) {
		tell(EventUsageGone, "answers no longer say how many tokens they have")
	}
	if s.Has(probe.BufferedSuspect) && before.turned(func(g glance) bool { return g.buffered }) {
		tell(EventBuffered, "the stream now comes in one piece")
	}
	if s.Check == "fail" && !before.lately(func(g glance) bool { return g.failed }) {
		tell(EventCheck, "the answer is not what was expected")
	}
	if s.Has(probe.SameAnswer) && !before.lately(func(g glance) bool { return g.same }) {
		tell(EventSameAnswer, "the same answer came at once: a cache answers")
	}
}

// turned reports whether the newest probes but the first of a change were already changed, and those before were not:
// with one more changed probe the change is no chance.
func (r ring) turned(is func(glance) bool) bool {
	const now, old = changeAfter - 1, changeAfter
	if len(r) < now+old {
		return false
	}
	for i, g := range r[len(r)-now-old:] {
		if is(g) != (i >= old) {
			return false
		}
	}
	return true
}

// lately reports whether one of the newest probes was so.
func (r ring) lately(is func(glance) bool) bool {
	for _, g := range r[max(0, len(r)-changeAfter):] {
		if is(g) {
			return true
		}
	}
	return false
}
