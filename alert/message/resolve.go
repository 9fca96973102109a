package message

import (
	"fmt"
	"slices"
	"time"

	"serin/alert"
)

// ending is a view of an incident that is over.
type ending struct{ view }

// resolved tells the end: when the trouble began and when it ended, which is the last bad check; the worst value; the counts.
func (v ending) resolved() alert.Message {
	m := v.frame(alert.MessageResolved)
	if len(v.over) == 0 {
		m.Headline = v.scope() + " is over"
		return m
	}
	switch {
	case slices.ContainsFunc(v.over, trouble.isNotRecovered):
		m.State = alert.MessageClosed
	case v.Act != alert.ActResolve: // it stays open: it has fired too often
		m.State = alert.MessageEased
	}
	m.Headline, m.Lines = v.overHeadline(v.over), v.overLines(v.over)
	if v.Act != alert.ActResolve {
		m.Headline += ", so the incident stays open for a while"
	}
	m.Thread = m.Headline + " · " + v.span(v.over)
	return m
}

// again says how often it fired, where that was more than once.
func (v ending) again() string {
	if n := len(v.Incident.Reopened); n > 0 {
		return fmt.Sprintf("; fired %d times", n+1)
	}
	return ""
}

// isNotRecovered reports whether an alert of the target ended otherwise than by good checks.
func (t trouble) isNotRecovered() bool {
	return slices.ContainsFunc(t.alerts, func(a alert.Alert) bool { return !a.Recovered() })
}

func (v ending) overHeadline(ended []trouble) string {
	provider, key, ok := v.credential()
	switch closed := slices.ContainsFunc(ended, trouble.isNotRecovered); {
	case ok && !closed:
		return "key " + key + " of " + provider + " works again: " + tally(sumOf(ended))
	case len(ended) == 1:
		return v.end(ended[0]) + v.again()
	case closed:
		return fmt.Sprintf("%s: no alert is left on its %d targets, but not all recovered", v.scope(), len(ended))
	}
	return fmt.Sprintf("%s is back to normal: %d of %d targets were in trouble for up to %s", v.scope(), len(ended), max(len(v.Group), len(ended)), elapsed(longest(ended)))
}

// end says how it ended on one target.
func (v ending) end(t trouble) string {
	a := t.alerts[0]
	if !a.Recovered() {
		return v.who(t) + v.closed(t, a)
	}
	after := elapsed(lasted(t))
	switch {
	case t.isSlow():
		return v.who(t) + " is back to normal after " + after + v.wasUpTo(t)
	case a.Kind == alert.KindNoData:
		return v.who(t) + " is probed again after " + elapsed(a.Resolved.Sub(a.Began())) + " without a check"
	case a.Kind == alert.KindLimit:
		return v.who(t) + " is no longer rate-limited, after " + after
	}
	text := v.who(t) + " answers again: " + tally(sumOf([]trouble{t}))
	if lasted(t) > 0 {
		text += " over " + after
	}
	return text
}

// wasUpTo is the worst of each metric: first token up to 701 ms, usually 300 ms (2.3x); up to 32 ms a token (1.6x).
func (v ending) wasUpTo(t trouble) string {
	text := ""
	for _, k := range latencyKinds() {
		list := t.of(k)
		if len(list) == 0 {
			continue
		}
		w := worstOf(list)
		said := upTo(k, w)
		if text == "" {
			said = upToUsually(k, w)
		}
		text = joined("; ", text, said)
	}
	return ": " + text
}

// upToUsually is the worst of a metric with what is usual.
func upToUsually(k alert.Kind, w alert.Evidence) string {
	switch {
	case w.Value > 0 && w.Mean > 0:
		return metricText(k, w.Value, "up to ") + ", usually " + seconds(w.Mean) + " (" + times(w.Value/w.Mean) + ")"
	case w.Value > 0 && w.Limit > 0:
		return metricText(k, w.Value, "up to ") + ", above the fixed limit of " + seconds(w.Limit)
	}
	return upTo(k, w)
}

// closed says why an alert ended that did not recover.
func (v ending) closed(t trouble, a alert.Alert) string {
	level := v.level(t, a)
	switch a.Reason {
	case alert.EndAccepted:
		return ": " + level + joined(" by ", " accepted as normal", alert.OneLine(a.By, 100))
	case alert.EndRelearned:
		return ": " + level + ": the last days are like this, it is usual now"
	case alert.EndRemoved:
		return " is no longer watched: removed from the config while " + t.was()
	}
	return ": " + subject(a.Kind) + " cannot be compared any more: " + alert.OneLine(a.Reason, 200)
}

// was is what an ended target had.
func (t trouble) was() string {
	open := t.alerts[0]
	open.State = alert.StateFiring
	return trouble{alerts: []alert.Alert{open}}.class()
}

func (v ending) overLines(ended []trouble) []alert.Line {
	var b body
	b.add("scope", v.span(ended))
	b.add("do", v.undo(ended))
	b.add("counts", v.overCounts(ended))
	b.add("scope", v.marks(began(alertsOf(ended))))
	return append(b, v.perTarget(ended, v.end)...)
}

// span is when it began, when it ended, and when that was sure: slow 03:53 to 03:58, confirmed 04:08.
func (v ending) span(ended []trouble) string {
	list := alertsOf(ended)
	from, last, sure := began(list), time.Time{}, v.Incident.Closed
	for _, a := range list {
		last, sure = later(last, a.LastBreach), later(sure, a.Resolved)
	}
	word, begin := ended[0].was(), moment(from, v.Now, v.zone, hourZone)
	if len(ended) > 1 {
		word = "in trouble"
	}
	switch {
	case ended[0].isNotRecovered():
		return word + " since " + begin + ", closed " + v.time(sure)
	case !last.After(from) && list[0].Kind == alert.KindNoData:
		return word + " " + begin + " to " + v.time(sure)
	case last.Sub(from) < time.Minute:
		return word + " at " + begin + ", good at " + v.time(sure)
	}
	return word + " " + begin + " to " + v.time(last) + ", confirmed " + v.time(sure) + v.worstAt(ended)
}

// worstAt is when the worst value was measured.
func (v ending) worstAt(ended []trouble) string {
	if w := worstOf(ended[0].alerts); len(ended) == 1 && ended[0].isSlow() && w.Value > 0 && !w.At.IsZero() {
		return " · worst at " + v.time(w.At)
	}
	return ""
}

// level is what is taken as normal: first token 1.42x of before.
func (v ending) level(t trouble, a alert.Alert) string {
	text := subject(a.Kind)
	if x := v.present(a.Series, a.Kind, a); x > 0 {
		text = metricText(a.Kind, x, "")
	}
	if a.Accepted > 0 {
		text += ", " + times(a.Accepted) + " of before,"
	}
	return text
}

// undo says how to take an acceptance back.
func (v ending) undo(ended []trouble) string {
	for _, a := range alertsOf(ended) {
		if a.Reason == alert.EndAccepted {
			return "to take it back: serin accept --undo " + v.Incident.ID + " --why TEXT"
		}
	}
	return ""
}

// overCounts are the checks while it fired, where the headline does not say them.
func (v ending) overCounts(ended []trouble) string {
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

// sumOf sums the checks of all series, each once: alerts of several kinds count the same checks.
func sumOf(list []trouble) alert.Alert {
	type key struct {
		series string
		kind   alert.Kind
	}
	kinds, by := map[key]alert.Alert{}, map[string]alert.Alert{}
	for _, a := range alertsOf(list) {
		k := key{a.Series, a.Kind}
		b := kinds[k]
		b.Probes, b.Timeouts, b.Errors = b.Probes+a.Probes, b.Timeouts+a.Timeouts, b.Errors+a.Errors
		if kinds[k] = b; b.Probes > by[a.Series].Probes {
			by[a.Series] = b
		}
	}
	var sum alert.Alert
	for _, a := range by {
		sum.Probes, sum.Timeouts, sum.Errors = sum.Probes+a.Probes, sum.Timeouts+a.Timeouts, sum.Errors+a.Errors
	}
	return sum
}

// lasted is how long a target was in trouble: from the first bad check to the last.
func lasted(t trouble) time.Duration {
	var last time.Time
	for _, a := range t.alerts {
		last = later(last, a.LastBreach)
	}
	return last.Sub(began(t.alerts))
}

// longest is the longest time that one of the targets was in trouble.
func longest(list []trouble) time.Duration {
	var d time.Duration
	for _, t := range list {
		d = max(d, lasted(t))
	}
	return d
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
