package incident

import (
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/message"
)

// delivery is one message of an incident.
type delivery struct {
	act     alert.Act
	news    []message.News
	pages   bool // a channel that cannot edit sends it as a message of its own
	mention bool // it calls people
}

// enqueue writes one message of an incident and owes it to each of its channels.
func (i *Incidents) enqueue(inc *incident, d delivery) {
	inc.Revision++
	i.notify(inc, d, i.channels(inc))
}

// notify owes a message of an incident, as its revision, to channels.
func (i *Incidents) notify(inc *incident, d delivery, channels []string) {
	s := i.story(inc, d)
	msg := message.Compose(s)
	msg.Mention = d.mention && pagesAnybody(inc)
	facts := i.facts(inc).Bounded()
	for _, ch := range channels {
		i.told.Notices = append(i.told.Notices, alert.Notice{Incident: inc.ID, Channel: ch, Revision: inc.Revision, Act: d.act,
			Message: msg, State: alert.NoticePending, Created: i.now, Facts: facts, Pages: d.pages})
	}
	i.touch(inc)
}

// pagesAnybody reports whether an incident is worth a mention: our own budget at a provider is not.
func pagesAnybody(inc *incident) bool {
	return slices.ContainsFunc(inc.Members, func(m alert.Member) bool {
		return m.Ended.IsZero() && inc.alerts[m.Alert].Kind != alert.KindLimit
	})
}

// channels returns the channels that an incident is sent to: those it was given when it was announced, as far as they are still there.
// Where the config has lost them all, it is given others, which get an opening first.
func (i *Incidents) channels(inc *incident) []string {
	there := slices.DeleteFunc(slices.Clone(inc.Channels), func(name string) bool { return !slices.Contains(i.opt.Channels, name) })
	if len(there) > 0 {
		return there
	}
	lost := len(inc.Channels) > 0
	inc.Channels = i.route(inc)
	if lost {
		i.notify(inc, delivery{act: alert.ActOpen, pages: true}, inc.Channels)
		inc.Revision++
	}
	return inc.Channels
}

// route returns the channels that an incident goes to as it is now, in the order of the config.
func (i *Incidents) route(inc *incident) []string {
	if i.opt.Route == nil {
		return slices.Clone(i.opt.Channels)
	}
	chosen := i.opt.Route(i.facts(inc))
	return slices.DeleteFunc(slices.Clone(i.opt.Channels), func(name string) bool { return !slices.Contains(chosen, name) })
}

// addChannels has channels join that an incident goes to since its severity rose or it came to be about more targets: each gets an
// opening before anything else.
func (i *Incidents) addChannels(inc *incident) {
	known := i.channels(inc)
	joined := slices.DeleteFunc(i.route(inc), func(name string) bool { return slices.Contains(known, name) })
	if len(joined) == 0 {
		return
	}
	inc.Channels = slices.Concat(known, joined)
	inc.Revision++
	i.notify(inc, delivery{act: alert.ActOpen, pages: true, mention: true}, joined)
}

// facts returns what an incident's notices are about: its alerts without what only the engine needs, the leading one first.
func (i *Incidents) facts(inc *incident) alert.Facts {
	f := alert.Facts{Incident: inc.Incident, Instance: i.opt.Instance, Region: i.opt.Region}
	f.Incident.Members = nil // the alerts follow
	for _, a := range leadingFirst(inc) {
		m := inc.Member(a.ID)
		a.Votes, a.Decided, a.Threshold, a.Steep, a.KalmanState, a.Band = nil, nil, "", time.Time{}, nil, nil
		a.Severity = m.Mute.Lower(a.Severity)
		fact := i.fact(a)
		fact.Mute, fact.Inhibited = m.Mute, m.Inhibited
		f.Alerts = append(f.Alerts, fact)
	}
	return f
}

// fact says what an alert's series is.
func (i *Incidents) fact(a alert.Alert) alert.Fact {
	f := alert.Fact{Alert: a, Target: a.Target()}
	t := i.target(f.Target)
	if t.Target != nil {
		f.Labels = t.Labels
	}
	if parts := strings.Split(a.Series, "/"); len(parts) == 3 {
		f.Scene, f.Size = parts[1], parts[2]
		return f
	}
	for _, c := range t.Canaries {
		if !slices.Contains(f.Scenes, c.Scene.Name) {
			f.Scenes = append(f.Scenes, c.Scene.Name)
		}
	}
	return f
}

// Firing returns every announced incident that is open, as an edit of now would tell it on each of its channels. It owes nothing: it
// is what a StateChannel is refreshed with.
func (i *Incidents) Firing(now time.Time) []alert.Notice {
	i.begin(now)
	var list []alert.Notice
	for _, inc := range i.sorted() {
		if inc.State != alert.IncidentOpen {
			continue
		}
		s := i.story(inc, delivery{act: alert.ActUpdate})
		n := alert.Notice{Incident: inc.ID, Revision: inc.Revision, Act: alert.ActUpdate, Message: message.Compose(s), Created: now, Facts: i.facts(inc)}
		for _, ch := range inc.Channels {
			n.Channel = ch
			list = append(list, n)
		}
	}
	return list
}
