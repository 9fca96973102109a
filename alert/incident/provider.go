package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/baseline"
)

// An incident is about a whole provider once at least half of its targets are in trouble, and at least providerLeast of
// them by alerts that people are told of. A target whose newest probes fail counts towards the half before its alert fires,
// so that an outage that reaches one target after the other is one message and not one for each until the half is full.
//
// The first incident that was announced, else the oldest, becomes the provider's: it keeps id, message and thread. The
// others become part of it: what was announced ends with a message that says where it goes on, what was not is never
// told. Targets that come later join, as long as half of them are in trouble.
const providerLeast = 2

// kinWithin is for how long after one target of a provider was told of the next waits for group_wait, critical or not.
const kinWithin = 10 * time.Minute

// provider returns the name of a target's provider, "" where it has none or no canary is left.
func (t *target) provider() string {
	if len(t.canaries) == 0 {
		return ""
	}
	return t.canaries[0].Canary.Target.Provider
}

// about returns the names of the targets that an incident is or was about.
func (inc *incident) about() []string {
	if inc.Provider == "" {
		return []string{inc.Scope}
	}
	return inc.Targets
}

// kin returns all targets of a provider, by name; none where there is no provider.
func (e *Engine) kin(provider string) []*target {
	if provider == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.order), func(t *target) bool { return t.provider() != provider })
}

// whole returns the incident about a provider as a whole, nil where there is none.
func whole(kin []*target, provider string) *incident {
	for _, t := range kin {
		if t.incident != nil && t.incident.Provider == provider {
			return t.incident
		}
	}
	return nil
}

// wide reports whether enough of a provider's targets are in trouble; comes is one that is about to be.
func (e *Engine) wide(kin []*target, comes *target) bool {
	sure, likely := 0, 0
	for _, t := range kin {
		switch {
		case t == comes, t.incident != nil && e.audibleAt(t.incident, t):
			sure++
		case t.failing():
			likely++
		}
	}
	return sure >= providerLeast && 2*(sure+likely) >= len(kin)
}

// failing reports whether the newest probe of one of the target's canaries failed, and votes for an alert.
func (t *target) failing() bool {
	return slices.ContainsFunc(t.canaries, func(c *watch) bool {
		for _, k := range rateKinds() {
			if a := c.alerts[k]; a.State == StatePending && len(a.Votes) > 0 && a.Votes[len(a.Votes)-1].Verdict.Call == baseline.Breach {
				return true
			}
		}
		return false
	})
}

// admit gives a target an incident: the one of its provider, or one of its own.
func (e *Engine) admit(t *target) {
	kin := e.kin(t.provider())
	if inc := whole(kin, t.provider()); inc != nil && e.wide(kin, t) {
		e.enter(inc, t)
		return
	}
	e.openIncident(t)
}

// enter makes a target part of its provider's incident.
func (e *Engine) enter(inc *incident, t *target) {
	t.incident = inc
	inc.in = append(inc.in, t)
	if !slices.Contains(inc.Targets, t.name) {
		inc.Targets = append(slices.Clone(inc.Targets), t.name)
	}
	if inc.State == IncidentOpen {
		inc.fresh = append(inc.fresh, News{What: TurnJoined, Target: t.name})
	}
	e.changed(inc)
	e.log.Info("target joins the incident of its provider", "incident", inc.ID, "provider", inc.Provider, "target", t.name)
}

// widen makes one incident of those of a provider, where it is wide and the call touched one of them.
func (e *Engine) widen() {
	var done []string
	for _, t := range e.order {
		name := t.provider()
		if e.tx.scopes[t] == nil || t.incident == nil || t.incident.Provider != "" || name == "" || slices.Contains(done, name) {
			continue
		}
		done = append(done, name)
		if kin := e.kin(name); e.wide(kin, nil) {
			e.gatherKin(name, kin)
		}
	}
}

func (e *Engine) gatherKin(name string, kin []*target) {
	var own []*incident
	for _, t := range kin {
		if inc := t.incident; inc != nil && inc.Provider == "" && e.audibleAt(inc, t) {
			own = append(own, inc)
		}
	}
	if len(own) == 0 { // all are muted, or in the incident of a provider that they were of before a reload
		return
	}
	lead := whole(kin, name)
	if lead == nil {
		lead = slices.MinFunc(own, func(a, b *incident) int {
			return cmp.Or(waits(a)-waits(b), a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
		})
		e.enlarge(lead, name)
	}
	for _, inc := range own {
		if inc != lead {
			e.merge(inc, lead)
		}
	}
}

// waits is 1 for an incident that nobody has been told of, else 0.
func waits(inc *incident) int {
	if inc.State == IncidentWaiting {
		return 1
	}
	return 0
}

// enlarge makes a target's incident its provider's.
func (e *Engine) enlarge(inc *incident, name string) {
	inc.Provider, inc.Scope, inc.Targets = name, name, []string{inc.in[0].name}
	if inc.State == IncidentOpen {
		inc.fresh = append(inc.fresh, News{What: TurnWidened})
	}
	e.changed(inc)
	e.log.Warn("incident is about the whole provider now", "incident", inc.ID, "provider", name)
}

// merge makes a target's incident part of its provider's.
func (e *Engine) merge(inc, lead *incident) {
	t := inc.in[0]
	announced := inc.State == IncidentOpen
	inc.State, inc.Closed, inc.Merged = IncidentClosed, e.now, lead.ID
	if announced {
		e.owe(inc, Story{Act: ActResolve, Merged: lead.Provider})
		lead.Announce = e.now // it must not end unannounced: others were sent there
	}
	e.changed(inc)
	for _, a := range inc.ended {
		a.Incident = lead.ID
		lead.ended = append(slices.Clone(lead.ended), a)
		lead.Alerts = append(slices.Clone(lead.Alerts), a.ID)
		e.tx.alert(a)
	}
	e.eachIn(inc, func(a Alert) Alert {
		if a.Muted() { // it joins when it may be told
			a.Incident, a.Announced = "", false
			return a
		}
		a.Incident = lead.ID
		a.Announced = tellable(a) && lead.State == IncidentOpen
		lead.Alerts = append(slices.Clone(lead.Alerts), a.ID)
		return a
	})
	e.log.Info("incident goes on as part of another", "incident", inc.ID, "scope", inc.Scope, "merged", lead.ID, "announced", announced)
	e.enter(lead, t)
}

// kinTold reports whether people have just been told of another target of the incident's provider.
func (e *Engine) kinTold(inc *incident) bool {
	return slices.ContainsFunc(e.kin(inc.in[0].provider()), func(t *target) bool {
		other := t.incident
		return other != nil && other != inc && other.State == IncidentOpen && e.now.Sub(other.Opened) < kinWithin
	})
}

// due returns what is to be told of an incident's news now. In a provider's incident it is targets that come and go, not
// each of their alerts, and their lines wait for group_wait so that they are one.
func (e *Engine) due(inc *incident, news []News) []News {
	if inc.Provider == "" {
		return news
	}
	at := len(inc.Owed)
	urgent := false
	for _, n := range news {
		switch {
		case n.Target == "" && (n.What == TurnJoined || n.What == TurnResolved || n.What == TurnSuppressed):
		default:
			urgent = urgent || n.Target == ""
			inc.Owed = append(slices.DeleteFunc(slices.Clone(inc.Owed), func(x News) bool {
				return x.Target != "" && x.Target == n.Target // it has gone and come again: that it goes on is no news
			}), n)
		}
	}
	e.part(inc)
	if waited := e.now.Sub(inc.Spoken); len(inc.Owed) == 0 || !urgent && waited >= 0 && waited < e.opt.Incident.GroupWait {
		if len(inc.Owed) != at {
			e.changed(inc)
		}
		return nil
	}
	owed := inc.Owed
	inc.Owed = nil
	return owed
}

// eased reports whether an alert ended on a target of a provider's incident that is in trouble still: no news for the
// thread, and the message may show what is over.
func eased(inc *incident, news []News) bool {
	return inc.Provider != "" && slices.ContainsFunc(news, func(n News) bool {
		return n.What == TurnResolved && n.Target == "" && slices.ContainsFunc(inc.in, func(t *target) bool {
			return strings.HasPrefix(n.Alert, t.name+"/")
		})
	})
}

// part lets the targets go whose alerts have all ended.
func (e *Engine) part(inc *incident) {
	for _, t := range slices.Clone(inc.in) {
		if e.firesAt(inc, t) {
			continue
		}
		t.incident = nil
		inc.in = slices.DeleteFunc(inc.in, func(x *target) bool { return x == t })
		joined := slices.IndexFunc(inc.Owed, func(n News) bool { return n.What == TurnJoined && n.Target == t.name })
		if joined >= 0 { // nobody has heard of it yet
			inc.Owed = slices.Delete(slices.Clone(inc.Owed), joined, joined+1)
			continue
		}
		inc.Owed = append(slices.Clone(inc.Owed), News{What: TurnResolved, Target: t.name})
	}
}
