package incident

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// A group is fixed when its first alert fires.
const (
	groupProvider   = "provider"
	groupHost       = "host"
	groupTarget     = "target"
	groupCredential = "credential"
)

// groupOf returns the kind and name of the group that an alert belongs to. Refused keys and used-up quotas are about a credential,
// all else about what the config groups by.
func (i *Incidents) groupOf(a alert.Alert) (kind, name string) {
	t := i.target(a.Target())
	switch {
	case t.Target == nil:
		return groupTarget, a.Target()
	case a.AboutCredential():
		return groupCredential, credential(t)
	case i.opt.GroupBy == groupTarget:
		return groupTarget, t.Name
	}
	return placeOf(t)
}

// placeOf returns the provider of a target, where none is named the host and port of its base_url.
func placeOf(t alert.Target) (kind, name string) {
	if t.Provider != "" && t.Provider != t.Name {
		return groupProvider, t.Provider
	}
	if u, err := url.Parse(t.BaseURL); err == nil && u.Host != "" {
		return groupHost, u.Host
	}
	return groupTarget, t.Name
}

// noKey is the label of a target without a key.
const noKey = "none"

// credential names what shares a refusal: the provider and where its key comes from.
func credential(t alert.Target) string {
	_, place := placeOf(t)
	return place + "/" + t.APIKey.Label()
}

// groupTargets names the watched targets that belong to an incident's group, and those of its members that are gone.
func (i *Incidents) groupTargets(inc *incident) []string {
	kind, name, _ := strings.Cut(inc.Group, "/")
	names := []string{}
	for _, t := range i.engine.Targets() {
		k, own := placeOf(t)
		switch {
		case kind == groupCredential && credential(t) == name, kind == k && own == name, kind == groupTarget && t.Name == name:
			names = append(names, t.Name)
		}
	}
	for _, member := range inc.Targets() {
		if !slices.Contains(names, member) {
			names = append(names, member)
		}
	}
	return names
}

// join puts an alert that people are to hear of into the incident of its group. One that was held back and is recovering already
// is sent only if it gets worse again.
func (i *Incidents) join(a alert.Alert, freed bool) {
	if a.Severity == alert.Info || a.Severity == "" || i.mutes[a.ID].IsFull() || i.inhibits[a.ID] != "" || a.State == alert.StateRecovering {
		return
	}
	kind, name := i.groupOf(a)
	group := kind + "/" + name
	inc := i.open[group]
	if inc == nil {
		inc = i.reopen(group, a)
	}
	if inc == nil {
		inc = i.openIncident(group, scopeOf(kind, name), a.Severity)
	}
	inc.forgetOldest()
	inc.Members = append(inc.Members, alert.Member{Alert: a.ID, Target: a.Target(), Mute: i.mutes[a.ID]})
	inc.alerts[a.ID] = a
	if freed && inc.State == alert.IncidentWaiting {
		inc.Announce = i.now // it has waited long enough
	}
	i.touch(inc)
}

// maxMembers bounds the alerts of an incident that fires again and again: the oldest that are over are forgotten.
const maxMembers = 200

func (inc *incident) forgetOldest() {
	over := slices.IndexFunc(inc.Members, func(m alert.Member) bool { return m.EndSent })
	if len(inc.Members) < maxMembers || over < 0 {
		return
	}
	delete(inc.alerts, inc.Members[over].Alert)
	inc.Members = slices.Delete(slices.Clone(inc.Members), over, over+1)
}

// scopeOf is a group's name as people know it.
func scopeOf(kind, name string) string {
	if kind != groupCredential {
		return name
	}
	place, key, _ := strings.Cut(name, "/")
	if key == noKey {
		return place
	}
	return key
}

func (i *Incidents) openIncident(group, scope string, s alert.Severity) *incident {
	id := i.newID(group)
	inc := &incident{alerts: map[string]alert.Alert{}, Incident: alert.Incident{ID: id, Group: group, Scope: scope, Severity: s, State: alert.IncidentWaiting,
		Opened: i.now, Announce: i.now.Add(i.wait(s))}}
	i.open[group] = inc
	i.log.Info("incident waits for others to join", "incident", id, "group", group)
	return inc
}

// criticalWait bounds group_wait for what is critical.
const criticalWait = 10 * time.Second

func (i *Incidents) wait(s alert.Severity) time.Duration {
	if s == alert.Critical {
		return min(i.opt.GroupWait, criticalWait)
	}
	return i.opt.GroupWait
}

// An incident that fires again and again stays open until it has been calm for long.
const (
	recurringTimes  = 3 // firings, the first among them …
	recurringWithin = 6 * time.Hour
	recurringCalm   = 30 * time.Minute
)

// reopen returns the closed incident of a group that an alert fires again of within reopen_within of its end.
func (i *Incidents) reopen(group string, a alert.Alert) *incident {
	n := slices.IndexFunc(i.closed, func(inc *incident) bool {
		return inc.Group == group && slices.ContainsFunc(inc.Members, func(m alert.Member) bool {
			return m.Target == a.Target() && i.now.Sub(m.Ended) <= i.opt.ReopenWithin
		})
	})
	if n < 0 {
		return nil
	}
	inc := i.closed[n]
	i.closed = slices.Delete(i.closed, n, n+1)
	i.open[group] = inc
	inc.State, inc.Closed, inc.again = alert.IncidentOpen, time.Time{}, true
	inc.Reopened = append(slices.Clone(inc.Reopened), i.now)
	i.log.Warn("incident fires again", "incident", inc.ID, "group", group, "times", 1+len(inc.Reopened))
	return inc
}

// firings counts how often an incident began to fire lately.
func (i *Incidents) firings(inc *incident) int {
	n := 0
	for _, t := range append([]time.Time{inc.Opened}, inc.Reopened...) {
		if i.now.Sub(t).Abs() <= recurringWithin {
			n++
		}
	}
	return n
}

// staysOpen reports whether an incident of which nothing fires is not over yet, and until when.
func (i *Incidents) staysOpen(inc *incident) (until time.Time, yes bool) {
	if i.firings(inc) < recurringTimes {
		return time.Time{}, false
	}
	for _, m := range inc.Members {
		if t := m.Ended.Add(recurringCalm); t.After(until) {
			until = t
		}
	}
	return until, i.now.Before(until)
}

// fires reports whether one of the incident's alerts fires.
func fires(inc *incident) bool {
	return slices.ContainsFunc(inc.Members, func(m alert.Member) bool { return m.Ended.IsZero() })
}

// isAudible reports whether one of the incident's firing alerts may be sent.
func isAudible(inc *incident) bool {
	return slices.ContainsFunc(inc.Members, func(m alert.Member) bool {
		return m.Ended.IsZero() && !m.Mute.IsFull() && m.Inhibited == ""
	})
}

// usedIDs are the ids given out, with the time (unix seconds), so that none is given twice.
type usedIDs map[string]int64

const (
	idLeast = 4    // characters of an id
	usedMax = 4096 // ids remembered
	blobIDs = "incident_ids"
)

// newID gives out an id that no incident, silence or mark has.
func (i *Incidents) newID(of string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", of, i.now.UnixNano()))
	text := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
	n := idLeast
	for ; n < len(text); n++ {
		if _, taken := i.used[text[:n]]; !taken {
			break
		}
	}
	i.used.add(text[:n], i.now)
	i.saveIDs()
	return text[:n]
}

// add remembers an id and forgets the oldest beyond the bound.
func (u usedIDs) add(id string, at time.Time) {
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
