package alert

import (
	"slices"
	"strings"
	"time"
)

// audience returns the channels that an incident is told on: those it was given when it was announced, as far as they are
// still there. Where the config has lost them all, it is given others, which get an opening first.
func (e *Engine) audience(inc *incident) []string {
	there := slices.DeleteFunc(slices.Clone(inc.Channels), func(name string) bool { return !slices.Contains(e.opt.Channels, name) })
	if len(there) > 0 {
		return there
	}
	lost := len(inc.Channels) > 0
	inc.Channels = e.route(inc)
	if lost {
		e.post(inc, e.story(inc, Story{Act: ActOpen}), inc.Channels)
		inc.Revision++
	}
	return inc.Channels
}

// route returns the channels that an incident goes to as it is now, in the order of the config.
func (e *Engine) route(inc *incident) []string {
	if e.opt.ChannelsFor == nil {
		return slices.Clone(e.opt.Channels)
	}
	chosen := e.opt.ChannelsFor(e.facts(inc, e.incidentAlerts(inc)))
	return slices.DeleteFunc(slices.Clone(e.opt.Channels), func(name string) bool { return !slices.Contains(chosen, name) })
}

// invite has channels join that an incident goes to since its severity rose or it came to be about more targets: each gets an opening before anything else.
func (e *Engine) invite(inc *incident) {
	known := e.audience(inc)
	joined := slices.DeleteFunc(e.route(inc), func(name string) bool { return slices.Contains(known, name) })
	if len(joined) == 0 {
		return
	}
	inc.Channels = slices.Concat(known, joined)
	inc.Revision++
	e.post(inc, e.story(inc, Story{Act: ActOpen}), joined)
}

// post owes a message of an incident, as its revision, to channels.
func (e *Engine) post(inc *incident, s Story, channels []string) {
	msg := Compose(s)
	msg.Mention = mentions(s)
	facts := e.facts(inc, s.Alerts).bounded()
	for _, ch := range channels {
		e.tx.Notices = append(e.tx.Notices, Notice{Incident: inc.ID, Channel: ch, Revision: inc.Revision, Act: s.Act,
			Message: msg, State: NoticePending, Created: e.now, Facts: facts})
	}
	e.changed(inc)
}

// facts returns what an incident's notices are about: its alerts without what only the engine needs.
func (e *Engine) facts(inc *incident, alerts []Alert) Facts {
	f := Facts{Incident: inc.Incident, Instance: e.opt.Instance, Region: e.opt.Region}
	f.Incident.Alerts, f.Incident.Owed = nil, nil // the alerts follow
	for _, a := range alerts {
		a.Votes, a.Calm, a.Decided, a.Threshold, a.Steep, a.Severity = nil, nil, nil, "", time.Time{}, a.Told()
		a.KalmanState = nil
		f.Alerts = append(f.Alerts, e.fact(a))
	}
	return f
}

func (e *Engine) fact(a Alert) Fact {
	parts := strings.Split(a.Series, "/")
	f := Fact{Alert: a, Target: parts[0]}
	t := e.targets[parts[0]]
	if t != nil && len(t.canaries) > 0 {
		f.Labels = t.canaries[0].Canary.Target.Labels
	}
	if len(parts) == 3 {
		f.Scene, f.Size = parts[1], parts[2]
		return f
	}
	if t == nil {
		return f
	}
	for _, c := range t.canaries {
		if name := c.Canary.Scene.Name; !slices.Contains(f.Scenes, name) {
			f.Scenes = append(f.Scenes, name)
		}
	}
	return f
}

// Firing returns every announced incident that is open, as an edit of now would tell it on each of its channels. It owes
// nothing: it is what a StateChannel is refreshed with. It is for the engine's goroutine.
func (e *Engine) Firing(now time.Time) []Notice {
	e.now = now
	var list []Notice
	for _, inc := range e.current() {
		if inc.State != IncidentOpen {
			continue
		}
		s := e.story(inc, Story{Act: ActUpdate})
		n := Notice{Incident: inc.ID, Revision: inc.Revision, Act: ActUpdate, Message: Compose(s), Created: now,
			Facts: e.facts(inc, s.Alerts)}
		for _, ch := range inc.Channels {
			n.Channel = ch
			list = append(list, n)
		}
	}
	return list
}

// current lists the incidents that are waiting or open, each once, by the name of its first target.
func (e *Engine) current() []*incident {
	var list []*incident
	for _, t := range e.order {
		if t.incident != nil && t.incident.in[0] == t {
			list = append(list, t.incident)
		}
	}
	return list
}
