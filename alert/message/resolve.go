package message

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"serin/alert"
)

// resolved tells the end: when the trouble began and when it ended, which is the last bad check; the worst value; the counts.
func (v view) resolved() alert.Message {
	m := v.frame(alert.MessageResolved)
	ended := v.over
	if len(ended) == 0 {
		ended = v.now
	}
	if slices.ContainsFunc(ended, trouble.isNotRecovered) {
		m.State = alert.MessageClosed
	}
	m.Headline = v.scopeName() + " is over"
	if len(ended) > 0 {
		m.Headline = v.overHeadline(ended)
		m.Lines = v.overLines(ended)
	}
	m.Thread = joined(" · ", m.Headline, v.overSpan(ended))
	if v.Unsent {
		m.Lines = append([]alert.Line{{Role: "scope", Text: "Its opening could not be delivered: this is its only message."}}, m.Lines...)
	}
	return m
}

// isNotRecovered reports whether an alert of the target ended otherwise than by good checks.
func (t trouble) isNotRecovered() bool {
	return slices.ContainsFunc(t.alerts, func(a alert.Alert) bool { return !a.Recovered() })
}

func (v view) overHeadline(ended []trouble) string {
	if provider, key, ok := v.credential(); ok && !ended[0].isNotRecovered() {
		return joined(" of ", "key "+alert.OneLine(key, 80), alert.OneLine(provider, 80)) + " works again: " + tally(sumOf(ended))
	}
	if len(ended) == 1 {
		return v.over1(ended[0])
	}
	text := fmt.Sprintf("%s: all targets are back to normal, %d of %d were in trouble for up to %s", v.scopeName(), len(ended), v.groupSize(), elapsed(longest(ended)))
	for _, t := range ended {
		if t.isNotRecovered() {
			return fmt.Sprintf("%s: no alert is left on its %d targets, but not all recovered", v.scopeName(), len(ended))
		}
	}
	return text
}

// over1 says how it ended on one target.
func (v view) over1(t trouble) string {
	if len(t.alerts) == 0 {
		return t.name + " is back to normal"
	}
	a := t.alerts[0]
	if !a.Recovered() {
		return v.who(t) + v.closed(t, a)
	}
	lasted := elapsed(a.LastBreach.Sub(a.Began()))
	switch {
	case t.isSlow():
		return v.who(t) + " is back to normal after " + lasted + v.wasUpTo(t)
	case a.Kind == alert.KindNoData:
		return v.who(t) + " is probed again after " + elapsed(a.Resolved.Sub(a.Began())) + " without a check"
	case a.Kind == alert.KindLimit:
		return v.who(t) + " is no longer rate-limited, after " + lasted
	}
	text := v.who(t) + " answers again: " + tally(sumOf([]trouble{t}))
	if a.LastBreach.After(a.Began()) {
		text += " over " + lasted
	}
	return text
}

// wasUpTo is the worst of each metric: first token was up to 701 ms, usually 300 ms (2.3x).
func (v view) wasUpTo(t trouble) string {
	text := ""
	for _, k := range latencyKinds() {
		list := t.of(k)
		if len(list) == 0 {
			continue
		}
		w := worstOf(list)
		said := metricName(k) + " was up to " + times(w.Ratio) + " of usual"
		if w.Value > 0 {
			said = metricText(k, w.Value, "was up to ") + usually(w)
		}
		text = joined("; ", text, said)
	}
	return ": " + text
}

func usually(w alert.Evidence) string {
	switch {
	case w.Mean > 0:
		return ", usually " + seconds(w.Mean) + " (" + times(w.Value/w.Mean) + ")"
	case w.Limit > 0:
		return ", above the fixed limit of " + seconds(w.Limit)
	}
	return ""
}

// closed says why an alert ended that did not recover.
func (v view) closed(t trouble, a alert.Alert) string {
	level := subject(a.Kind)
	if a.Accepted > 0 {
		level += " " + times(a.Accepted) + " of before"
	}
	switch a.Reason {
	case alert.EndAccepted:
		return ": " + level + joined(" by ", " is accepted as normal", alert.OneLine(a.By, 100))
	case alert.EndRelearned:
		return ": " + level + ", but the last days are like this: it is usual now"
	case alert.EndRemoved:
		return " is no longer watched: removed from the config while " + t.class0()
	}
	return ": " + subject(a.Kind) + " cannot be compared any more: " + alert.OneLine(a.Reason, 200)
}

// class0 is what an ended target had.
func (t trouble) class0() string {
	open := t.alerts[0]
	open.State = alert.StateFiring
	return trouble{alerts: []alert.Alert{open}}.class()
}

func (v view) overLines(ended []trouble) []alert.Line {
	var b body
	b.add("scope", v.overSpan(ended))
	b.add("do", v.undo(ended))
	b.add("counts", v.overCounts(ended))
	b.add("scope", v.marks(began(alertsOf(ended))))
	return append(b, v.perTarget(ended, v.over1)...)
}

// overSpan is when it began, when it ended, and when that was sure: slow 03:53 to 03:58, confirmed 04:08.
func (v view) overSpan(ended []trouble) string {
	if len(ended) == 0 {
		return ""
	}
	list := alertsOf(ended)
	from, last, sure := began(list), time.Time{}, v.Incident.Closed
	for _, a := range list {
		last, sure = later(last, a.LastBreach), later(sure, a.Resolved)
	}
	word := ended[0].class0()
	if len(ended) > 1 {
		word = "in trouble"
	}
	text := word + " " + moment(from, v.Now, v.zone, hourZone)
	if last.Before(from) {
		return text + " to " + v.time(cmp.Or(sure, v.Now))
	}
	if last.Sub(from) >= time.Minute {
		text += " to " + v.time(last)
	}
	if ended[0].isNotRecovered() {
		return text + ", closed " + v.time(cmp.Or(sure, v.Now))
	}
	return text + ", confirmed " + v.time(cmp.Or(sure, v.Now)) + v.worstAt(ended)
}

// worstAt is when the worst value was measured.
func (v view) worstAt(ended []trouble) string {
	if w := worstOf(ended[0].alerts); len(ended) == 1 && ended[0].isSlow() && w.Value > 0 && !w.At.IsZero() {
		return " · worst at " + v.time(w.At)
	}
	return ""
}

// undo says how to take an acceptance back.
func (v view) undo(ended []trouble) string {
	for _, a := range alertsOf(ended) {
		if a.Reason == alert.EndAccepted {
			return "to take it back: serin accept --undo " + v.Incident.ID + " --why TEXT"
		}
	}
	return ""
}

// overCounts are the checks while it fired, where the headline does not say them.
func (v view) overCounts(ended []trouble) string {
	sum := sumOf(ended)
	if sum.Probes == 0 || len(ended) == 1 && !ended[0].isSlow() {
		return ""
	}
	if sum.Timeouts+sum.Errors == 0 {
		return count(sum.Probes, "check") + " while it fired, no timeouts, no errors"
	}
	return tally(sum) + " while it fired"
}

func alertsOf(list []trouble) (out []alert.Alert) {
	for _, t := range list {
		out = append(out, t.alerts...)
	}
	return out
}

// sumOf sums the checks of all series, each once.
func sumOf(list []trouble) alert.Alert {
	by := map[string]alert.Alert{}
	for _, a := range alertsOf(list) {
		if b, ok := by[a.Series]; !ok || a.Probes > b.Probes {
			by[a.Series] = a
		}
	}
	var sum alert.Alert
	for _, a := range by {
		sum.Probes, sum.Timeouts, sum.Errors = sum.Probes+a.Probes, sum.Timeouts+a.Timeouts, sum.Errors+a.Errors
	}
	return sum
}

// longest is the longest time that one of the targets was in trouble.
func longest(list []trouble) time.Duration {
	var d time.Duration
	for _, t := range list {
		for _, a := range t.alerts {
			d = max(d, a.LastBreach.Sub(a.Began()))
		}
	}
	return d
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
