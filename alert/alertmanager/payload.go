package alertmanager

import (
	"net/url"
	"strings"
	"time"

	"serin/alert"
)

// payload is one alert of POST /api/v2/alerts.
type payload struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt,omitzero"`
	EndsAt       time.Time         `json:"endsAt,omitzero"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// Names of the alerts, by kind.
func alertName(k alert.Kind) string {
	switch k {
	case alert.KindTimeout:
		return "SerinTimeout"
	case alert.KindError:
		return "SerinError"
	case alert.KindLimit:
		return "SerinRateLimited"
	case alert.KindNoData:
		return "SerinNoData"
	}
	return "SerinSlow" // a latency: ttft, tpot, ttfa, e2e
}

// alertsOf returns the alerts that a notice is about, by a key that holds the labels: other labels are another alert to
// Alertmanager. In all but an end they are those that fire and are not inhibited or silenced. A notice without facts, of serin's own
// health, is one alert.
func alertsOf(n alert.Notice, o Options) map[string]payload {
	out := map[string]payload{}
	if n.Facts.Incident.ID == "" {
		p := base(n, o, "SerinSelf", string(n.Message.Severity))
		p.Labels["incident"] = n.Incident
		p.StartsAt = n.Created
		out[n.Incident+" self"] = p
		return out
	}
	for _, f := range n.Facts.Alerts {
		ended := !f.Alert.IsFiring() || f.Inhibited != "" || f.Mute.IsFull()
		if ended && n.Act != alert.ActResolve {
			continue
		}
		p := base(n, o, alertName(f.Alert.Kind), string(f.Alert.Severity))
		p.Labels["kind"] = string(f.Alert.Kind)
		label(p.Labels, "target", f.Target)
		label(p.Labels, "scene", f.Scene)
		label(p.Labels, "size", f.Size)
		p.StartsAt = f.Alert.Fired
		label(p.Annotations, "reason", f.Alert.Reason)
		out[f.Alert.ID+" "+string(f.Alert.Severity)] = p
	}
	return out
}

// base is what all alerts of a notice share. An alert's own labels come after the configured ones, so that those cannot
// make two alerts one.
func base(n alert.Notice, o Options, name, severity string) payload {
	p := payload{Labels: map[string]string{}, Annotations: map[string]string{}}
	for k, v := range o.Labels {
		label(p.Labels, k, v)
	}
	label(p.Labels, "instance", n.Facts.Instance)
	label(p.Labels, "region", n.Facts.Region)
	p.Labels["alertname"], p.Labels["severity"] = name, severity
	m := n.Message.Plain()
	p.Annotations["headline"] = alert.Clean(m.Headline)
	if n.Incident != "" {
		p.Annotations["incident"] = n.Incident
	}
	var lines []string
	for _, l := range m.Lines {
		lines = append(lines, alert.Clean(l.Text))
	}
	if len(lines) > 0 {
		p.Annotations["lines"] = strings.Join(lines, "\n")
	}
	label(p.Annotations, "link", m.Link)
	label(p.Annotations, "runbook", m.Runbook)
	if u, err := url.Parse(m.Link); err == nil && u.Host != "" {
		p.GeneratorURL = m.Link
	}
	return p
}

// maxValue is the most characters of a label or annotation, beside the lines.
const maxValue = 1000

// label sets what is not empty: an empty label is none to Alertmanager.
func label(in map[string]string, name, value string) {
	value = alert.Clean(value)
	if r := []rune(value); len(r) > maxValue {
		value = string(r[:maxValue-1]) + "…"
	}
	if value != "" {
		in[name] = value
	}
}

// testAlert ends by itself after a minute.
func testAlert(n alert.Notice, o Options, now time.Time) payload {
	p := base(n, o, "SerinTest", "info")
	p.StartsAt, p.EndsAt = now, now.Add(time.Minute)
	return p
}
