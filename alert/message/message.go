package message

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Compose writes the message that tells s. It is pure: the same story gives the same message. Foreign text in it is
// made one line but not escaped: that is the channel's part.
func Compose(s Story) Message {
	switch s.Act {
	case ActTest:
		return composeTest(s)
	case ActThread:
		return composeThread(s)
	case ActResolve:
		return composeResolve(s)
	}
	return composeFiring(s)
}

// composeFiring tells an incident that is open: its opening, and each edit of it.
func composeFiring(s Story) Message {
	m := frame(s, "firing")
	m.Mention = s.Act == ActOpen && s.Incident.Severity != Info
	m.Headline = s.Incident.Scope + ": trouble"
	if len(s.Alerts) == 0 {
		return m
	}
	if s.group() {
		m.Headline, m.Lines = providerTrouble(s), providerLines(s)
		return m
	}
	m.Headline = troubleOf(s, s.Alerts[0]) + worstPart(s)
	if n := len(openOthers(s)); n > 0 {
		m.Headline += ", and " + count(n, "more alert")
	}
	m.Lines = firingLines(s)
	return m
}

// composeThread tells what changed, or that it still fires.
func composeThread(s Story) Message {
	m := frame(s, "update")
	m.Runbook, m.Footer = "", nil // the opening above it has them
	m.Mention = s.Escalated && s.Incident.Severity != Info
	if s.Reminder {
		m.State = "reminder"
		m.Headline = "still firing after " + elapsed(s.Now.Sub(began(s))) + ": " + leadTrouble(s)
		return m
	}
	news := troubleFirst(s.News)
	if len(news) > 0 && news[0].What == TurnResolved {
		m.State = "eased"
	}
	for i, n := range news {
		if i == 0 {
			m.Headline = newsText(s, n)
			continue
		}
		if s.group() && i > maxKinLines {
			m.Lines = append(m.Lines, Line{Role: "detail", Text: "and " + count(len(news)-i, "more line") + " of this kind"})
			break
		}
		m.Lines = append(m.Lines, Line{Role: "detail", Text: newsText(s, n)})
	}
	if len(s.News) == 0 {
		m.Headline = leadTrouble(s)
	}
	return m
}

// troubleFirst puts what ended behind what is wrong: the first is the headline, and gives it its colour.
func troubleFirst(news []News) []News {
	return slices.SortedStableFunc(slices.Values(news), func(a, b News) int {
		switch ended := a.What == TurnResolved; {
		case ended == (b.What == TurnResolved):
			return 0
		case ended:
			return 1
		}
		return -1
	})
}

func newsText(s Story, n News) string {
	if n.Target != "" {
		return targetNews(s, n)
	}
	a, ok := s.about(n.Alert)
	detail := oneLine(n.Detail, 300)
	switch n.What {
	case TurnAcked:
		return ackText(n.Detail)
	case TurnWidened:
		return "now the whole " + leadTrouble(s)
	case TurnEscalated:
		return "it got worse: " + leadTrouble(s)
	}
	if !ok {
		return s.Incident.Scope + ": " + string(n.What) + " " + detail
	}
	switch n.What {
	case TurnResolved:
		return recoveryOf(s, a)
	case TurnFlapping:
		return "flapping: " + thing(s, a) + " " + subject(a.Kind) + " " + detail + "; its end is told after " + elapsed(flapCalm) + " of calm"
	case TurnSuppressed:
		return "held back: " + thing(s, a) + " " + subject(a.Kind) + ", suppressed by " + detail
	}
	return "also: " + troubleOf(s, a)
}

// about returns the alert id, the leading one where id is "".
func (s Story) about(id string) (Alert, bool) {
	for _, a := range s.Alerts {
		if id == "" || a.ID == id {
			return a, true
		}
	}
	return Alert{}, false
}

func composeTest(s Story) Message {
	m := frame(s, "test")
	m.Severity, m.Incident, m.Link, m.Runbook = Info, "", "", ""
	m.Headline = "test message of serin: this channel works"
	m.Lines = []Line{{Role: "scope", Text: "Nothing is wrong. A real message has the target, the number, its normal range and the ratio in the line above."}}
	return m
}

// frame is what all messages share.
func frame(s Story, state string) Message {
	return Message{Severity: s.Incident.Severity, State: state, Incident: s.Incident.ID, Link: incidentLink(s.URL, s.Incident.ID),
		Runbook: Clean(s.Runbook), Footer: footer(s)}
}

// incidentLink returns the address of the incident's page in the API, "" without an external URL.
func incidentLink(base, id string) string {
	if base == "" || id == "" {
		return ""
	}
	return strings.TrimRight(base, "/") + "/api/v1/incidents/" + url.PathEscape(id)
}

// footer is what one searches by: the incident, who saw it, when, and the endpoint's request id; and the commands.
func footer(s Story) []string {
	var out []string
	if s.Incident.ID != "" {
		out = append(out, "incident "+s.Incident.ID)
	}
	if s.Instance != "" {
		seen := "seen by " + oneLine(s.Instance, 100)
		if s.Region != "" {
			seen += " in " + oneLine(s.Region, 100)
		}
		out = append(out, seen)
	}
	if out = append(out, lastCheck(s)); s.Incident.ID != "" {
		out = append(out, commands(s))
	}
	return out
}

// commands are what one may want to type next.
func commands(s Story) string {
	id := s.Incident.ID
	if s.Act == ActResolve || s.Incident.Acked != "" {
		return "serin explain " + id
	}
	return "serin explain " + id + " · serin ack " + id
}

// lastCheck names the newest probe of the leading alert, or the time of the message.
func lastCheck(s Story) string {
	const layout = "15:04:05 -07:00"
	if len(s.Alerts) == 0 || s.Alerts[0].Last.At.IsZero() {
		return "at " + onDay(s.Now, s.Now, s.Zone, layout)
	}
	last := s.Alerts[0].Last
	text := "last check " + onDay(last.At, s.Now, s.Zone, layout)
	if last.RequestID != "" {
		text += ", request id " + oneLine(last.RequestID, 120)
	}
	return text
}

// began returns when the trouble began: the earliest first breach of its alerts, else when the incident opened.
func began(s Story) time.Time {
	first := s.Incident.Opened
	for _, a := range s.Alerts {
		if t := start(a); !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// start returns when an alert's trouble began.
func start(a Alert) time.Time {
	for _, t := range []time.Time{a.FirstBreach, a.Fired} {
		if !t.IsZero() {
			return t
		}
	}
	return a.Since
}

// openOthers returns the alerts beside the leading one that have not ended.
func openOthers(s Story) []Alert {
	if len(s.Alerts) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Alerts[1:]), func(a Alert) bool { return !a.Resolved.IsZero() })
}

// Badge returns the emoji (a Slack short code) and the word that stand before a headline: the severity while it fires,
// else the state. Never the colour alone.
func (m Message) Badge() (emoji, word string) {
	switch m.State {
	case "resolved":
		return ":large_green_circle:", "RESOLVED"
	case "eased":
		return ":large_green_circle:", "RECOVERED"
	case "accepted":
		return ":large_orange_circle:", "WARNING"
	case "maintenance", "digest", "merged", "test":
		return ":large_blue_circle:", strings.ToUpper(m.State)
	}
	switch {
	case m.Severity == Critical:
		return ":red_circle:", "CRITICAL"
	case m.Severity == Warning:
		return ":large_orange_circle:", "WARNING"
	}
	return ":large_blue_circle:", "INFO"
}
