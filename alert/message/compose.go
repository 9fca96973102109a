package message

import (
	"net/url"
	"strings"

	"serin/alert"
)

// Compose writes the message of a story. Foreign text in it is one line, not escaped: that is the channel's part.
func Compose(s Story) alert.Message {
	v := newView(s)
	switch {
	case s.Act == alert.ActThread:
		return update{v}.compose()
	case s.Act == alert.ActResolve, len(v.now) == 0 && len(v.over) > 0:
		return ending{v}.resolved()
	}
	m := v.frame(alert.MessageFiring)
	m.Headline = v.headline()
	if len(v.now) > 0 {
		m.Lines = v.firing()
	}
	if s.Act == alert.ActReopen {
		m.Thread = update{v}.reopened() + m.Headline
	}
	return m
}

// frame is what all messages of an incident share.
func (v view) frame(state string) alert.Message {
	return alert.Message{Severity: v.Incident.Severity, State: state, Incident: v.Incident.ID, Link: v.link(), Runbook: v.runbook(), Footer: v.footer()}
}

// link returns the address of the incident, "" without an external URL.
func (v view) link() string {
	if v.URL == "" || v.Incident.ID == "" {
		return ""
	}
	return strings.TrimRight(v.URL, "/") + "/api/v1/incidents/" + url.PathEscape(v.Incident.ID)
}

func (v view) runbook() string {
	if c := v.leadCanary(); c != nil {
		return alert.Clean(c.Scene.Runbook)
	}
	return ""
}

// footer is what one searches by, and the commands.
func (v view) footer() []string {
	var out []string
	id := v.Incident.ID
	if id != "" {
		out = append(out, "incident "+id)
	}
	if v.Instance != "" {
		out = append(out, joined(" in ", "probed from "+alert.OneLine(v.Instance, 100), alert.OneLine(v.Region, 100)))
	}
	if text := v.lastCheck(); text != "" {
		out = append(out, text)
	}
	if id != "" {
		out = append(out, "serin explain "+id)
		if v.Act != alert.ActResolve && v.Incident.Acked == "" {
			out = append(out, "serin ack "+id)
		}
	}
	return out
}

// lastCheck names the newest check of the leading alert, with the endpoint's request id.
func (v view) lastCheck() string {
	lead, ok := v.lead()
	if !ok || lead.alerts[0].Last.At.IsZero() {
		return ""
	}
	last := lead.alerts[0].Last
	text := "last check " + moment(last.At, v.Now, v.zone, secondZone)
	if last.RequestID != "" {
		text += ", request id " + alert.OneLine(last.RequestID, 120)
	}
	return text
}
