package alert

import (
	"fmt"
	"strings"
	"time"
)

// Reasons of an alert's end that change what its last message says.
const (
	endNewNormal = "new_normal"
	endRemoved   = "removed"
)

// composeResolve tells the end: duration, worst value, number of probes.
func composeResolve(s Story) Message {
	if s.Incident.Merged != "" {
		return composeMerged(s)
	}
	m := frame(s, "resolved")
	m.Headline = s.Incident.Scope + ": over after " + elapsed(ended(s).Sub(began(s)))
	switch {
	case len(s.Alerts) == 0:
	case s.group():
		m.Headline, m.Lines = providerOver(s), providerOverLines(s)
	default:
		m.Headline, m.Lines = recoveryOf(s, s.Alerts[0]), resolveLines(s)
	}
	if taken := unasked(s); taken != nil {
		m.State, m.Severity = "accepted", Warning
		m.Lines = append([]Line{warnLine(*taken)}, m.Lines...)
	}
	return m
}

// unasked returns the alert that ended because its level was taken for normal by itself; nil where none did.
func unasked(s Story) *Alert {
	for i := range s.Alerts {
		if a := &s.Alerts[i]; a.Unasked && strings.HasPrefix(a.Reason, endNewNormal) {
			return a
		}
	}
	return nil
}

// warnLine says what an acceptance that nobody ordered means, and how it is taken back.
func warnLine(a Alert) Line {
	text := "It did not recover: nobody ordered this, and at this level it alerts no more. Where that is not normal, "
	if a.Undo == "" {
		return Line{Role: "scope", Text: text + "take it back; that is done by itself if the old level returns within 7 days."}
	}
	return Line{Role: "scope", Text: text + "take it back with: " + a.Undo}
}

// ended returns when the incident ended.
func ended(s Story) time.Time {
	if s.Incident.Closed.IsZero() {
		return s.Now
	}
	return s.Incident.Closed
}

// recoveryOf says one alert's end in one line: the thing, how it ended, how long it lasted, the worst value.
func recoveryOf(s Story, a Alert) string {
	end := a.Resolved
	if end.IsZero() {
		end = ended(s)
	}
	head, lasted := thing(s, a)+": ", elapsed(end.Sub(start(a)))
	switch {
	case strings.HasPrefix(a.Reason, endRemoved):
		return head + subject(a.Kind) + " no longer watched, left the config after " + lasted
	case strings.HasPrefix(a.Reason, endNewNormal) && a.Unasked && a.Accepted > 0:
		return head + subject(a.Kind) + " still " + times(a.Accepted) + " of before after " + lasted + ": taken for the new normal"
	case strings.HasPrefix(a.Reason, endNewNormal):
		return head + subject(a.Kind) + " accepted as the new normal after " + lasted + newLevel(a)
	case latency(a.Kind):
		return head + subject(a.Kind) + " normal again after " + lasted + worst(a)
	case a.Kind == KindNoData:
		return head + "probes run again after " + lasted
	case a.Kind == KindLimit:
		return head + "not rate limited any more after " + lasted
	}
	return head + "answers again after " + lasted + " of " + subject(a.Kind)
}

// newLevel is " (×1.42 of before; taken back by itself if it goes back within 7 days)", or with the command that does.
func newLevel(a Alert) string {
	if a.Accepted <= 0 {
		return worst(a)
	}
	text := " (" + times(a.Accepted) + " of before"
	if a.Undo != "" {
		return text + "; undo: " + a.Undo + ")"
	}
	return text + "; it is taken back if the old level returns within 7 days)"
}

// worst is " (worst 8.4 s, ×4.2)", "" where nothing was measured.
func worst(a Alert) string {
	var parts []string
	if a.Worst.Value > 0 {
		parts = append(parts, seconds(a.Worst.Value))
	}
	if a.Worst.Ratio > 0 {
		parts = append(parts, times(a.Worst.Ratio))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (worst " + strings.Join(parts, ", ") + ")"
}

func resolveLines(s Story) []Line {
	lead := s.Alerts[0]
	lines := []Line{{Role: "scope", Text: spanLine(s, lead)}}
	if c := countsLine(lead); c != "" {
		lines = append(lines, Line{Role: "counts", Text: c})
	}
	if f := fixedLine(lead); f != "" {
		lines = append(lines, Line{Role: "scope", Text: f})
	}
	if m := markLine(s); m != "" {
		lines = append(lines, Line{Role: "mark", Text: m})
	}
	for _, a := range s.Alerts[1:] {
		lines = append(lines, Line{Role: "detail", Text: "also: " + recoveryOf(s, a)})
	}
	return lines
}

// spanLine is from when to when, with the time of the worst value: 14:05 +08:00 to 14:52 +08:00 (47 min) · worst at 14:21.
func spanLine(s Story, lead Alert) string {
	from, to := began(s), ended(s)
	text := fmt.Sprintf("from %s to %s (%s)", clock(from, s.Now, s.Zone), clock(to, s.Now, s.Zone), elapsed(to.Sub(from)))
	if w := lead.Worst; latency(lead.Kind) && w.Value > 0 && !w.At.IsZero() {
		text += " · worst " + seconds(w.Value) + " at " + onDay(w.At, s.Now, s.Zone, "15:04")
	}
	return text
}
