package alert

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

// incident is an incident with those of its alerts that ended already.
type incident struct {
	Incident
	ended []Alert
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

// tell brings a target's incident up to date: alerts join, it is announced, edited, reminded, closed.
func (e *Engine) tell(t *target) {
	seen, freed := e.mute(t)
	news := e.heard(t, e.tx.scopes[t].news)
	joined := e.join(t)
	inc := t.incident
	if inc == nil {
		return
	}
	if freed && inc.State == IncidentWaiting {
		inc.Announce = e.now // it has waited long enough
	}
	rose := e.reweigh(t)
	switch {
	case !e.fires(t):
		e.closeIncident(t)
	case inc.State == IncidentWaiting:
		e.announceDue(t)
	default:
		for _, id := range joined {
			news = append(news, News{What: TurnJoined, Alert: id})
		}
		if rose {
			news = append(news, News{What: TurnEscalated, Alert: e.leadID(t)})
		}
		e.spread(t, news, rose)
		if seen && len(news) == 0 {
			e.owe(t, Story{Act: ActUpdate})
		}
		e.remind(t)
	}
}

// tellable reports whether people are to hear of an alert.
func tellable(a Alert) bool {
	return a.Open() && a.Suppressed == "" && a.Severity != Info && !a.Muted()
}

// join puts alerts that are to be told into the target's incident, opening one where there is none. It returns the ids
// of those that an open incident's message does not know yet. One that was held back and is recovering already is told
// only if it gets worse again.
func (e *Engine) join(t *target) []string {
	var ids []string
	e.eachOpen(t, func(a Alert) Alert {
		if !tellable(a) || a.Announced || a.State == StateRecovering {
			return a
		}
		if t.incident == nil {
			e.openIncident(t)
		}
		if inc := t.incident; a.Incident != inc.ID {
			a.Incident = inc.ID
			inc.Alerts = append(slices.Clone(inc.Alerts), a.ID)
			e.changed(t)
		}
		if t.incident.State == IncidentOpen {
			a.Announced = true
			ids = append(ids, a.ID)
		}
		return a
	})
	return ids
}

func (e *Engine) openIncident(t *target) {
	id := incidentID(t.name, e.now, e.used)
	e.used.take(id, e.now)
	e.tx.ids = true
	t.incident = &incident{Incident: Incident{ID: id, Scope: t.name, Severity: Warning, State: IncidentWaiting, Opened: e.now,
		Announce: e.now.Add(e.opt.Incident.GroupWait)}}
	e.log.Info("incident waits for others to join", "incident", id, "scope", t.name)
}

// reweigh raises the incident's severity to that of its worst alert; it reports whether it rose.
func (e *Engine) reweigh(t *target) bool {
	rose := false
	e.eachOpen(t, func(a Alert) Alert {
		if a.Incident == t.incident.ID && a.Told() == Critical && a.Suppressed == "" && !a.Muted() && t.incident.Severity != Critical {
			t.incident.Severity = Critical
			rose = true
			e.changed(t)
		}
		return a
	})
	return rose
}

// fires reports whether one of the incident's alerts is still open.
func (e *Engine) fires(t *target) bool {
	n := 0
	e.eachOpen(t, func(a Alert) Alert {
		if a.Incident == t.incident.ID {
			n++
		}
		return a
	})
	return n > 0
}

// clockSlop is how far samples and ticks may disagree about the time before the clock counts as set back.
const clockSlop = time.Minute

// announceDue announces a waiting incident: when group_wait ended (or the clock was set back), at once when critical.
func (e *Engine) announceDue(t *target) {
	inc := t.incident
	if !e.audible(t) {
		return
	}
	left := inc.Announce.Sub(e.now)
	if inc.Severity != Critical && left > 0 && left <= e.opt.Incident.GroupWait+clockSlop {
		return
	}
	inc.State, inc.Reminded = IncidentOpen, e.now
	e.eachOpen(t, func(a Alert) Alert {
		if a.Incident == inc.ID && tellable(a) {
			a.Announced = true
		}
		return e.putOff(t, a)
	})
	e.log.Warn("incident opened", "incident", inc.ID, "scope", t.name, "severity", string(inc.Severity), "alerts", len(inc.Alerts))
	e.owe(t, Story{Act: ActOpen})
}

// spread edits the incident's message and adds what is new to its thread.
func (e *Engine) spread(t *target, news []News, rose bool) {
	if len(news) == 0 {
		return
	}
	e.owe(t, Story{Act: ActUpdate})
	e.owe(t, Story{Act: ActThread, News: news, Escalated: rose})
	if rose {
		e.invite(t)
	}
}

// remind says in the thread that an incident still fires, unless somebody has taken it.
func (e *Engine) remind(t *target) {
	inc, every := t.incident, e.opt.Incident.RemindEvery
	if inc.Reminded.After(e.now) {
		inc.Reminded = e.now // the clock was set back
		e.changed(t)
	}
	if every <= 0 || inc.Acked != "" || e.now.Sub(inc.Reminded) < every || !e.audible(t) {
		return
	}
	inc.Reminded = e.now
	e.owe(t, Story{Act: ActThread, Reminder: true})
}

// closeIncident ends an incident; what was never announced ends silently.
func (e *Engine) closeIncident(t *target) {
	inc := t.incident
	announced := inc.State == IncidentOpen
	inc.State, inc.Closed = IncidentClosed, e.now
	e.log.Info("incident closed", "incident", inc.ID, "scope", t.name, "announced", announced)
	if announced {
		e.owe(t, Story{Act: ActResolve})
	}
	e.changed(t)
	t.incident = nil
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

// changed puts the target's incident into the change.
func (e *Engine) changed(t *target) {
	inc := t.incident.Incident
	i := slices.IndexFunc(e.tx.Incidents, func(x Incident) bool { return x.ID == inc.ID })
	if i < 0 {
		e.tx.Incidents = append(e.tx.Incidents, inc)
		return
	}
	e.tx.Incidents[i] = inc
}

// eachOpen visits every open alert of a target, canaries first, and stores what f changed.
func (e *Engine) eachOpen(t *target, f func(Alert) Alert) {
	for _, c := range t.canaries {
		for _, k := range c.kinds() {
			if a := c.alerts[k]; a.Open() {
				c.alerts[k] = e.store(a, f(a), c)
			}
		}
	}
	for _, k := range rateKinds() {
		if a := t.rates[k]; a.Open() {
			t.rates[k] = e.store(a, f(a), nil)
		}
	}
	for _, m := range ringMetrics() {
		if p := t.pools[m]; p != nil && p.alert.Open() {
			p.alert = e.store(p.alert, f(p.alert), nil)
		}
	}
}

// store puts an alert whose incident or announcement changed into the change.
func (e *Engine) store(old, a Alert, c *watch) Alert {
	if old.Incident == a.Incident && old.Announced == a.Announced && old.Mute == a.Mute {
		return a
	}
	e.tx.alert(a)
	if c != nil {
		e.tx.touch(c)
	}
	return a
}
