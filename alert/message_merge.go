package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// withoutOpening makes a resolve tell its opening too, which never got out. It mentions nobody: it is over.
func withoutOpening(resolve Message) Message {
	m := resolve
	m.Mention = false
	if !tellsOpening(resolve) {
		m.Lines = append([]Line{unsentLine("")}, resolve.Lines...)
	}
	return m
}

// tellsOpening reports whether a resolve says already that its opening never got out.
func tellsOpening(m Message) bool {
	return slices.ContainsFunc(m.Lines, func(l Line) bool { return strings.HasSuffix(l.Text, neverOpened) })
}

// summarize makes one message of openings that queued together; Created says when each was decided.
func summarize(openings []Notice) Message {
	first, last := openings[0].Created, openings[0].Created
	m := Message{Severity: Info, State: "firing"}
	for _, n := range openings {
		first, last = earlier(first, n.Created), later(last, n.Created)
		m.Severity = graver(m.Severity, n.Message.Severity)
		m.Mention = m.Mention || n.Message.Mention
		_, word := n.Message.Badge()
		m.Lines = append(m.Lines, Line{Role: "detail", Text: word + " " + n.Message.Headline + " [" + n.Incident + "]"})
	}
	m.Headline = fmt.Sprintf("%d more incidents opened within %s", len(openings), elapsed(max(last.Sub(first), time.Second)))
	m.Footer = []string{"one message for all of them; each one's end is told in this thread"}
	return m
}

// summaryOver is the summary's last edit.
func summaryOver(m Message) Message {
	m.State, m.Mention = "resolved", false
	m.Headline = "all over: " + m.Headline
	m.Lines = slices.Clone(m.Lines)
	return m
}

// graver returns the higher of two severities.
func graver(a, b Severity) Severity {
	rank := func(s Severity) int { return slices.Index([]Severity{Info, Warning, Critical}, s) }
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
