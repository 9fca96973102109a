package message

import (
	"math"
	"time"

	"serin/alert"
)

// SampleOptions are what a test message says of who sent it.
type SampleOptions struct {
	Instance, Region, Config, URL string
	Now                           time.Time
	Zone                          *time.Location
}

// Samples lists the kinds of test messages.
func Samples() []string { return []string{"outage", "slow", "resolved"} }

// Sample writes a test message that looks as an alert of that kind does; an unknown kind is slow.
func Sample(kind string, o SampleOptions) alert.Message {
	s := sampleStory(kind, o)
	m := Compose(s)
	_, word := m.Badge()
	m.State, m.Severity, m.Incident, m.Link, m.Thread = alert.MessageTest, alert.Info, "", "", ""
	m.Headline = word + "  " + m.Headline
	said := joined(", ", "This is a test: nothing is wrong", joined("", "sent by serin on "+alert.OneLine(o.Instance, 100)), joined("", "config "+alert.OneLine(o.Config, 200)))
	m.Lines = append([]alert.Line{{Role: "scope", Text: said + ". An alert looks like this:"}}, m.Lines...)
	return m
}

func sampleStory(kind string, o SampleOptions) Story {
	from := o.Now.Add(-5 * time.Minute)
	a := alert.Alert{ID: "sample", Series: "gw-eu/chat/short", Kind: alert.KindTTFT, State: alert.StateFiring, Severity: alert.Warning,
		FirstBreach: from, Fired: from.Add(2 * time.Minute), LastBreach: o.Now.Add(-5 * time.Second), Probes: 6}
	a.Last = alert.Evidence{At: a.LastBreach, Value: .701, Mean: .3, Limit: .378, Ratio: 2.34, Outcome: "ok", RequestID: "req_9f2"}
	a.Worst = a.Last
	a.Worst.At = from.Add(3 * time.Minute)
	values := []float64{.29, .31, .3, .28, .29, .3, .52, .61, .66, .69, .72, .701}
	if kind == "outage" {
		a.Kind, a.Severity, a.Timeouts = alert.KindTimeout, alert.Critical, 4
		a.Last.Outcome = "timeout_first_token"
		a.Votes = []alert.Vote{{Outcome: "ok"}, {Outcome: "timeout_first_token"}, {Outcome: "timeout_first_token"}, {Outcome: "timeout_first_token"}}
		values = append(values[:6:6], math.NaN(), math.NaN(), math.NaN())
	}
	act := alert.ActOpen
	if kind == "resolved" {
		act, a.State, a.Resolved, a.LastBreach = alert.ActResolve, alert.StateOK, o.Now, from.Add(4*time.Minute)
	}
	return Story{Act: act, Now: o.Now, Alerts: []alert.Alert{a}, Targets: alert.SampleTargets(a.Kind), Group: []string{"gw-eu", "gw-us"}, Zone: o.Zone,
		Instance: o.Instance, Region: o.Region,
		Incident: alert.Incident{Group: "provider/gateway", Scope: "gateway", Severity: a.Severity, Opened: a.Fired, Closed: a.Resolved},
		Recent:   func(string, alert.Kind, time.Time) alert.Recent { return alert.Recent{Values: values} }}
}
