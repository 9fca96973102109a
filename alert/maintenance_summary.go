package alert

import (
	"fmt"
	"slices"
	"time"
)

// catchUpOn owes one message that sums up what a window muted, where there is anything to say.
func (e *Engine) catchUpOn(w *window) {
	e.forget(e.tx, blobWindow+w.Name)
	s := e.windowStory(w)
	e.log.Info("maintenance is over", "maintenance", w.Name, "from", w.past.From, "to", w.past.To, "fired", len(s.Over)+s.More+len(s.Still),
		"still_firing", len(s.Still))
	if len(s.Over)+s.More+len(s.Still) == 0 {
		return
	}
	id := fmt.Sprintf("maintenance-%s-%d", w.Name, w.past.From.Unix())
	m := ComposeMaintenance(s)
	m.Incident = id
	for _, ch := range e.windowAudience(s) {
		e.tx.Notices = append(e.tx.Notices, Notice{Incident: id, Channel: ch, Revision: 1, Act: ActNote, Message: m, State: NoticePending, Created: e.now})
	}
}

// windowStory gathers what a window muted: what is over, and what still fires. What another silence or window mutes by now
// is not told here either.
func (e *Engine) windowStory(w *window) MaintenanceStory {
	s := MaintenanceStory{Name: w.Name, From: w.past.From, To: w.past.To, Now: e.now, Zone: w.Zone, Over: w.past.Over, More: w.past.More,
		Instance: e.opt.Instance, Region: e.opt.Region}
	for _, t := range e.order {
		e.eachOpen(t, func(a Alert) Alert {
			if w.past.Open[a.ID] && a.worthy() && !e.muteOf(e.fact(a)).full() {
				s.Still = append(s.Still, a)
			}
			return a
		})
	}
	return s
}

// windowAudience returns the channels that would have been told of one of the alerts, as they were while they fired.
func (e *Engine) windowAudience(s MaintenanceStory) []string {
	if e.opt.ChannelsFor == nil {
		return e.opt.Channels
	}
	var chosen []string
	for _, a := range slices.Concat(s.Still, s.Over) {
		t := e.targets[targetOf(a)]
		if t == nil {
			continue
		}
		a.State, a.Suppressed = StateFiring, ""
		f := Facts{Incident: Incident{Severity: a.Severity}, Alerts: []Fact{e.fact(a)}}
		chosen = append(chosen, e.opt.ChannelsFor(f)...)
	}
	if len(chosen) == 0 {
		return e.opt.Channels
	}
	return slices.DeleteFunc(slices.Clone(e.opt.Channels), func(name string) bool { return !slices.Contains(chosen, name) })
}

// MaintenanceStory is all that the summary of one window tells.
type MaintenanceStory struct {
	Name     string
	From, To time.Time
	Now      time.Time
	Zone     *time.Location
	Still    []Alert // muted by the window and firing still: they are told properly now
	Over     []Alert // fired and ended under it
	More     int     // ended ones beyond Over
	Instance string
	Region   string
}

// maintenanceLines bounds the alerts that a summary names.
const maintenanceLines = 20

// ComposeMaintenance writes the message that sums up a window. It is pure.
func ComposeMaintenance(s MaintenanceStory) Message {
	fired := len(s.Still) + len(s.Over) + s.More
	story := Story{Now: s.Now, Zone: s.Zone, Instance: s.Instance, Region: s.Region, M: failM, N: failN}
	m := Message{Severity: Warning, State: "maintenance", Footer: footer(story)}
	m.Headline = fmt.Sprintf("%s is over: %s fired inside", oneLine(s.Name, 80), count(fired, "alert"))
	switch n := len(s.Still); {
	case n == fired && n == 1:
		m.Headline += ", and still fires"
	case n > 0:
		m.Headline += fmt.Sprintf(", %d still firing", n)
	default:
		m.Headline += ", none fires now"
	}
	m.Lines = []Line{{Role: "scope", Text: fmt.Sprintf("from %s to %s (%s); nobody was told meanwhile, and its samples are in no band",
		clock(s.From, s.Now, s.Zone), clock(s.To, s.Now, s.Zone), elapsed(s.To.Sub(s.From)))}}
	left := maintenanceLines
	add := func(text string) {
		if left--; left >= 0 {
			m.Lines = append(m.Lines, Line{Role: "detail", Text: text})
		}
	}
	for _, a := range s.Still {
		add("still firing: " + troubleOf(story, a))
	}
	for _, a := range s.Over {
		add("over: " + recoveryOf(story, a))
	}
	if n := fired - len(m.Lines) + 1; n > 0 {
		m.Lines = append(m.Lines, Line{Role: "detail", Text: fmt.Sprintf("and %d more: serin explain shows each", n)})
	}
	return m
}
