package incident

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The states of an incident.
const (
	IncidentWaiting = "waiting" // group_wait: others may join before anything is told
	IncidentOpen    = "open"
	IncidentClosed  = "closed"
)

// incident is an incident with its targets, those of its alerts that ended already, and what the running call has to tell.
type incident struct {
	Incident
	in    []*target // whose open alerts are in it; one, where it is not about a provider
	ended []Alert
	fresh []News
	seen  bool // the running call muted an alert that people know of, or let it be told again
}

// usedIDs are the incident ids given out, with the time (unix seconds), so that none is given twice.
type usedIDs map[string]int64

const (
	idLeast = 4    // characters of an incident id
	usedMax = 4096 // ids remembered
)

// incidentID makes a short id from scope and time that is not in use.
func incidentID(scope string, at time.Time, used usedIDs) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", scope, at.UnixNano()))
	text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
	n := idLeast
	for ; n < len(text); n++ {
		if _, taken := used[text[:n]]; !taken {
			break
		}
	}
	return text[:n]
}

// take remembers an id and forgets the oldest beyond the bound.
func (u usedIDs) take(id string, at time.Time) {
	u[id] = at.Unix()
	for len(u) > usedMax {
		oldest := id
		for k, v := range u {
			if v < u[oldest] || v == u[oldest] && k < oldest {
				oldest = k
			}
		}
		delete(u, oldest)
	}
}

// tellIncidents brings the incidents of the targets that the call touched up to date: alerts join, incidents of one provider
// become one, and each is told once.
func (e *Engine) tellIncidents() {
	if len(e.tx.scopes) == 0 {
		return
	}
	for _, t := range e.order {
		if e.tx.scopes[t] != nil {
			e.inhibit(t.name)
			e.gather(t, e.tx.scopes[t].news)
		}
	}
	e.widen()
	var list []*incident
	for _, t := range e.order {
		if inc := t.incident; e.tx.scopes[t] != nil && inc != nil && !slices.Contains(list, inc) {
			list = append(list, inc)
		}
	}
	for _, inc := range list {
		e.tell(inc)
	}
}

// gather brings what is new of a target into its incident.
func (e *Engine) gather(t *target, news []News) {
	seen, freed := e.mute(t)
	news = e.heard(t, news)
	if t.incident != nil {
		t.incident.fresh = append(t.incident.fresh, news...)
	}
	e.join(t)
	inc := t.incident
	if inc == nil {
		return
	}
	inc.seen = inc.seen || seen
	if freed && inc.State == IncidentWaiting {
		inc.Announce = e.now // it has waited long enough
	}
}

// tell brings an incident up to date: it is announced, edited, reminded, closed.
func (e *Engine) tell(inc *incident) {
	news, seen := inc.fresh, inc.seen
	inc.fresh, inc.seen = nil, false
	rose := e.reweigh(inc)
	switch {
	case !e.fires(inc):
		e.closeIncident(inc)
	case inc.State == IncidentWaiting:
		e.announceDue(inc)
	default:
		if rose {
			news = append(news, News{What: TurnEscalated, Alert: e.leadID(inc)})
		}
		fresh := news
		news = e.due(inc, news)
		e.spread(inc, news, rose)
		if len(news) == 0 && (seen || eased(inc, fresh)) {
			e.owe(inc, Story{Act: ActUpdate})
		}
		e.remind(inc)
	}
}

// tellable reports whether people are to hear of an alert.
func tellable(a Alert) bool {
	return a.Open() && a.worthy() && !a.Muted()
}

// worthy reports whether people are to hear of an alert unless it is muted.
func (a Alert) worthy() bool { return a.Suppressed == "" && a.Severity != Info }

// join puts alerts that are to be told into the target's incident, opening one where there is none. One that was held
// back and is recovering already is told only if it gets worse again.
func (e *Engine) join(t *target) {
	e.eachOpen(t, func(a Alert) Alert {
		if !tellable(a) || a.Announced || a.State == StateRecovering {
			return a
		}
		if t.incident == nil {
			e.admit(t)
		}
		inc := t.incident
		if a.Incident != inc.ID {
			a.Incident = inc.ID
			inc.Alerts = append(slices.Clone(inc.Alerts), a.ID)
			e.changed(inc)
		}
		if inc.State == IncidentOpen {
			a.Announced = true
			inc.fresh = append(inc.fresh, News{What: TurnJoined, Alert: a.ID})
		}
		return a
	})
}

func (e *Engine) openIncident(t *target) {
	id := e.newID(t.name)
	t.incident = &incident{in: []*target{t}, Incident: Incident{ID: id, Scope: t.name, Severity: Warning, State: IncidentWaiting, Opened: e.now,
		Announce: e.now.Add(e.opt.Incident.GroupWait)}}
	e.log.Info("incident waits for others to join", "incident", id, "scope", t.name)
}

// reweigh raises the incident's severity to that of its worst alert; it reports whether it rose.
func (e *Engine) reweigh(inc *incident) bool {
	rose := false
	e.eachIn(inc, func(a Alert) Alert {
		if a.Told() == Critical && a.Suppressed == "" && !a.Muted() && inc.Severity != Critical {
			inc.Severity = Critical
			rose = true
			e.changed(inc)
		}
		return a
	})
	return rose
}

// fires reports whether one of the incident's alerts is still open.
func (e *Engine) fires(inc *incident) bool {
	return slices.ContainsFunc(inc.in, func(t *target) bool { return e.firesAt(inc, t) })
}

// firesAt reports whether one of the incident's alerts is still open on a target.
func (e *Engine) firesAt(inc *incident, t *target) bool {
	return e.hasOpen(t, func(a Alert) bool { return a.Incident == inc.ID })
}

// clockSlop is how far samples and ticks may disagree about the time before the clock counts as set back.
const clockSlop = time.Minute

// announceDue announces a waiting incident: when group_wait ended (or the clock was set back), at once when critical and
// nobody has just been told of another target of its provider.
func (e *Engine) announceDue(inc *incident) {
	if !e.audible(inc) {
		return
	}
	left := inc.Announce.Sub(e.now)
	waits := left > 0 && left <= e.opt.Incident.GroupWait+clockSlop
	if waits && (inc.Severity != Critical || e.kinTold(inc)) {
		return
	}
	inc.State, inc.Reminded = IncidentOpen, e.now
	e.eachIn(inc, func(a Alert) Alert {
		if tellable(a) {
			a.Announced = true
		}
		return e.putOff(inc, a)
	})
	e.log.Warn("incident opened", "incident", inc.ID, "scope", inc.Scope, "severity", string(inc.Severity), "alerts", len(inc.Alerts))
	e.owe(inc, Story{Act: ActOpen})
}

// spread edits the incident's message and adds what is new to its thread.
func (e *Engine) spread(inc *incident, news []News, rose bool) {
	if len(news) == 0 {
		return
	}
	e.owe(inc, Story{Act: ActUpdate})
	e.owe(inc, Story{Act: ActThread, News: news, Escalated: rose})
	if rose || inc.Provider != "" {
		e.invite(inc)
	}
}

// remind says in the thread that an incident still fires, unless somebody has taken it.
func (e *Engine) remind(inc *incident) {
	every := e.opt.Incident.RemindEvery
	if inc.Reminded.After(e.now) {
		inc.Reminded = e.now // the clock was set back
		e.changed(inc)
	}
	if !e.unacked(inc) || every <= 0 || e.now.Sub(inc.Reminded) < every || !e.audible(inc) {
		return
	}
	inc.Reminded = e.now
	e.owe(inc, Story{Act: ActThread, Reminder: true})
}

// closeIncident ends an incident; what was never announced ends silently.
func (e *Engine) closeIncident(inc *incident) {
	announced := inc.State == IncidentOpen
	inc.State, inc.Closed, inc.Owed = IncidentClosed, e.now, nil
	e.log.Info("incident closed", "incident", inc.ID, "scope", inc.Scope, "announced", announced)
	if announced {
		e.owe(inc, Story{Act: ActResolve})
	}
	e.changed(inc)
	for _, t := range inc.in {
		t.incident = nil
	}
}

// bury keeps an alert that ended for its incident's message, and tells of it where people knew of it.
func (e *Engine) bury(t *target, a Alert) {
	e.endedMuted(a)
	inc := t.incident
	if inc == nil || a.Incident != inc.ID || a.Muted() && !a.Announced {
		return
	}
	inc.ended = append(slices.Clone(inc.ended), a)
	if a.Announced {
		e.tx.tell(t, News{What: TurnResolved, Alert: a.ID})
	}
}

// changed puts an incident into the change.
func (e *Engine) changed(of *incident) {
	inc := of.Incident
	i := slices.IndexFunc(e.tx.Incidents, func(x Incident) bool { return x.ID == inc.ID })
	if i < 0 {
		e.tx.Incidents = append(e.tx.Incidents, inc)
		return
	}
	e.tx.Incidents[i] = inc
}
