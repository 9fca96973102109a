package web

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
)

// explanation is the JSON of one incident. Explanation is text for people, a line each.
type explanation struct {
	Incident    alert.Incident `json:"incident"`
	Explanation []string       `json:"explanation"`
	Alerts      []alert.Alert  `json:"alerts"`
	Transitions []transition   `json:"transitions"`
	Notices     []alert.Notice `json:"notices"`
	Marks       []alert.Mark   `json:"marks,omitempty"`     // from an hour before it began
	Decisions   any            `json:"decisions,omitempty"` // how each alert was decided: window, samples, votes, numbers
}

// transition is alert.Transition with the names of the API.
type transition struct {
	At     time.Time   `json:"at"`
	Series string      `json:"series"`
	Kind   alert.Kind  `json:"kind"`
	From   alert.State `json:"from"`
	To     alert.State `json:"to"`
	Reason string      `json:"reason"`
	Event  alert.Event `json:"event,omitempty"` // what happened, where no state changed
	Alert  string      `json:"alert,omitempty"`
}

func transitionOf(t alert.Transition) transition {
	return transition{At: t.At, Series: t.Series, Kind: t.Kind, From: t.From, To: t.To, Reason: t.Reason, Event: t.Event, Alert: t.Alert}
}

// line writes a row of history: when, what, from which state to which, why.
func (t transition) line() string {
	change := fmt.Sprintf("%s → %s", t.From, t.To)
	if t.Event != "" {
		change = string(t.Event)
	}
	return fmt.Sprintf("%s  %s %s: %s: %s", clock(t.At), t.Series, t.Kind, change, t.Reason)
}

// Explain returns what /api/v1/incidents/{id} answers about an incident: as text, a line each, and as a value to be
// written as JSON.
func Explain(d Dossier) (lines []string, body any) {
	e := explained(d)
	return e.Explanation, e
}

// explained turns a dossier into the answer of the API.
func explained(d Dossier) explanation {
	e := explanation{Incident: d.Incident, Explanation: []string{}, Alerts: d.Alerts, Transitions: []transition{}, Notices: d.Notices, Marks: d.Marks, Decisions: d.Decisions}
	if e.Alerts == nil {
		e.Alerts = []alert.Alert{}
	}
	if e.Notices == nil {
		e.Notices = []alert.Notice{}
	}
	for i := range d.Alerts {
		e.Explanation = append(e.Explanation, why(&d.Alerts[i], d.Incident.Member(d.Alerts[i].ID))...)
	}
	for _, t := range d.Transitions {
		row := transitionOf(t)
		e.Transitions = append(e.Transitions, row)
		e.Explanation = append(e.Explanation, row.line())
	}
	for _, m := range d.Marks {
		e.Explanation = append(e.Explanation, fmt.Sprintf("%s  mark %q by %s", clock(m.At), m.Text, m.By))
	}
	for _, n := range d.Notices {
		e.Explanation = append(e.Explanation, told(n))
	}
	return e
}

// why says in a few lines what an alert was decided by.
func why(a *alert.Alert, m alert.Member) []string {
	lines := []string{fmt.Sprintf("%s %s is %s (%s) since %s", a.Series, a.Kind, a.State, a.Severity, clock(a.Since))}
	if a.Reason != "" {
		lines[0] += ": " + a.Reason
	}
	if m.Mute != (alert.Mute{}) {
		lines = append(lines, "  muted by "+cmp.Or(m.Mute.Silence, m.Mute.Maintenance)+" until "+clock(m.Mute.Until))
	}
	if m.Inhibited != "" {
		lines = append(lines, "  inhibited by "+m.Inhibited)
	}
	for _, of := range []struct {
		name string
		ev   alert.Evidence
	}{{"worst", a.Worst}, {"last", a.Last}} {
		if !of.ev.At.IsZero() {
			lines = append(lines, "  "+of.name+": "+evidence(of.ev))
		}
	}
	if f := a.Fit; f != nil && f.Votes > 0 {
		lines = append(lines, fmt.Sprintf("  fired by: score %.1f, more than %g fires: the newest %d fit a step up to ×%.2f of usual", f.Score, f.Fires, f.Votes, f.Ratio))
	}
	if len(a.Votes) > 0 {
		lines = append(lines, "  votes, newest last: "+votes(a.Votes))
	}
	return lines
}

// evidence writes the numbers of one moment.
func evidence(e alert.Evidence) string {
	parts := []string{clock(e.At)}
	if e.Value > 0 {
		parts = append(parts, seconds(e.Value))
	}
	if e.Mean > 0 {
		parts = append(parts, fmt.Sprintf("usual is %s (%.2f times, z %.1f)", seconds(e.Mean), e.Ratio, e.Z))
	}
	if e.Canaries > 0 && e.Ratio > 0 { // of a whole target
		parts = append(parts, fmt.Sprintf("%.2f times of usual, the median of %d canaries", e.Ratio, e.Canaries))
	}
	if e.Limit > 0 {
		parts = append(parts, "limit "+seconds(e.Limit))
	}
	if e.Outcome != "" {
		parts = append(parts, string(e.Outcome))
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	if e.RequestID != "" {
		parts = append(parts, "request "+e.RequestID)
	}
	return strings.Join(parts, ", ")
}

// votes writes one word a vote: its value, its call, or the outcome where there was no value.
func votes(list []alert.Vote) string {
	words := make([]string, len(list))
	for i, v := range list {
		switch {
		case v.Verdict.Value > 0:
			words[i] = seconds(v.Verdict.Value) + " " + call(v.Verdict)
		case v.Verdict.Ratio > 0: // of a whole target
			words[i] = fmt.Sprintf("×%.2f of usual %s", v.Verdict.Ratio, call(v.Verdict))
		case v.Outcome != "":
			words[i] = string(v.Outcome)
		default:
			words[i] = call(v.Verdict)
		}
	}
	return strings.Join(words, ", ")
}

func call(v baseline.Ruling) string {
	if v.Call == baseline.NotJudged && v.Why != "" {
		return "not judged (" + v.Why + ")"
	}
	return strings.ReplaceAll(string(v.Call), "_", " ")
}

// told says what became of one notice.
func told(n alert.Notice) string {
	line := fmt.Sprintf("%s  %s on %s: %s", clock(n.Created), n.Act, n.Channel, n.State)
	if !n.Sent.IsZero() {
		line += " at " + clock(n.Sent)
	}
	if n.Error != "" {
		line += ": " + n.Error
	}
	return line
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// seconds writes a duration given in seconds, to 0.1 ms below 100 ms and to 1 ms above.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < 100*time.Millisecond {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}
