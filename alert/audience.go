package alert

import (
	"slices"
	"strings"
	"time"
)

// audience returns the channels that an incident is told on: those it was given when it was announced, as far as they are
// still there. Where the config has lost them all, it is given others, which get an opening first.
func (e *Engine) audience(t *target) []string {
	inc := t.incident
	there := slices.DeleteFunc(slices.Clone(inc.Channels), func(name string) bool { return !slices.Contains(e.opt.Channels, name) })
	if len(there) > 0 {
		return there
	}
	lost := len(inc.Channels) > 0
	inc.Channels = e.route(t)
	if lost {
		e.post(t, e.story(t, Story{Act: ActOpen}), inc.Channels)
		inc.Revision++
	}
	return inc.Channels
}

// route returns the channels that an incident goes to as it is now, in the order of the config.
func (e *Engine) route(t *target) []string {
	if e.opt.ChannelsFor == nil {
		return slices.Clone(e.opt.Channels)
	}
	chosen := e.opt.ChannelsFor(e.facts(t, e.incidentAlerts(t)))
	return slices.DeleteFunc(slices.Clone(e.opt.Channels), func(name string) bool { return !slices.Contains(chosen, name) })
}

// invite has channels join that an incident goes to since its severity rose: each gets an opening before anything else.
func (e *Engine) invite(t *target) {
	inc := t.incident
	known := e.audience(t)
	joined := slices.DeleteFunc(e.route(t), func(name string) bool { return slices.Contains(known, name) })
	if len(joined) == 0 {
		return
	}
	inc.Channels = slices.Concat(known, joined)
	inc.Revision++
	e.post(t, e.story(t, Story{Act: ActOpen}), joined)
}

// post owes a message of a target's incident, as its revision, to channels.
func (e *Engine) post(t *target, s Story, channels []string) {
	inc := t.incident
	msg := Compose(s)
	msg.Mention = mentions(s)
	facts := e.facts(t, s.Alerts).bounded()
	for _, ch := range channels {
		e.tx.Notices = append(e.tx.Notices, Notice{Incident: inc.ID, Channel: ch, Revision: inc.Revision, Act: s.Act,
			Message: msg, State: NoticePending, Created: e.now, Facts: facts})
	}
	e.changed(t)
}

// facts returns what an incident's notices are about: its alerts without what only the engine needs.
func (e *Engine) facts(t *target, alerts []Alert) Facts {
	f := Facts{Incident: t.incident.Incident, Instance: e.opt.Instance, Region: e.opt.Region}
	f.Incident.Alerts = nil // they follow
	for _, a := range alerts {
		a.Votes, a.Calm, a.Threshold, a.Steep, a.Severity = nil, nil, "", time.Time{}, a.Told()
		f.Alerts = append(f.Alerts, e.fact(t, a))
	}
	return f
}

func (e *Engine) fact(t *target, a Alert) Fact {
	f := Fact{Alert: a, Target: t.name}
	if len(t.canaries) > 0 {
		f.Labels = t.canaries[0].Canary.Target.Labels
	}
	if parts := strings.Split(a.Series, "/"); len(parts) == 3 {
		f.Scene, f.Size = parts[1], parts[2]
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
	for _, t := range e.order {
		if t.incident == nil || t.incident.State != IncidentOpen {
			continue
		}
		s := e.story(t, Story{Act: ActUpdate})
		n := Notice{Incident: t.incident.ID, Revision: t.incident.Revision, Act: ActUpdate, Message: Compose(s), Created: now,
			Facts: e.facts(t, s.Alerts)}
		for _, ch := range t.incident.Channels {
			n.Channel = ch
			list = append(list, n)
		}
	}
	return list
}
