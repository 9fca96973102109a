package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"serin/probe"
)

// owe writes one message of an incident and owes it to each of its channels.
func (e *Engine) owe(inc *incident, s Story) {
	inc.Revision++
	if s.Act != ActUpdate {
		inc.Spoken = e.now
	}
	channels := e.audience(inc)
	e.post(inc, e.story(inc, s), channels)
}

// mentions reports whether a message calls people: the first firing and an escalation do, an edit never; our own budget
// at a provider pages nobody.
func mentions(s Story) bool {
	pages := slices.ContainsFunc(s.Alerts, func(a Alert) bool { return a.Kind != KindLimit })
	return pages && (s.Act == ActOpen || s.Act == ActThread && s.Escalated)
}

// story fills in what every message of an incident tells.
func (e *Engine) story(inc *incident, s Story) Story {
	s.Now, s.Incident, s.Alerts, s.Kin = e.now, inc.Incident, e.incidentAlerts(inc), e.kinOf(inc)
	s.Instance, s.Region, s.URL = e.opt.Instance, e.opt.Region, e.opt.ExternalURL
	s.M, s.N, s.Zone = failM, failN, time.UTC
	t, c := e.leadCanary(s.Alerts)
	s.Marks = e.marksAround(inc.about(), began(s), e.now)
	if c == nil {
		return s
	}
	scene := c.Canary.Scene
	s.Title, s.Runbook, s.Interval = c.Canary.Target.Title, scene.Runbook, c.Canary.Interval
	if scene.Zone != nil {
		s.Zone = scene.Zone
	}
	if m := s.Alerts[0].Kind.Metric(); m != "" && s.Alerts[0].Series == t.name {
		return e.wholeTarget(s, t, m)
	}
	s.Siblings = e.siblings(t, c, s.Alerts[0].Kind)
	if lead := s.Alerts[0]; lead.Kind == KindError && lockedOut(lead.Last.Outcome) {
		s.SameKey = e.sharing(c)
	}
	return evidence(s, c)
}

// wholeTarget fills in what a message tells of a target that is slow as a whole: which canaries are, and which not.
func (e *Engine) wholeTarget(s Story, t *target, m probe.Metric) Story {
	if t.pools[m] != nil {
		q := t.quorum(m)
		s.M, s.N, s.Interval = q.M, q.N, t.interval()
	}
	s.Parts = t.parts(m, start(s.Alerts[0]))
	for _, c := range t.canaries {
		if a, ok := c.alerts[Kind(m)]; ok {
			s.Siblings = append(s.Siblings, Sibling{Name: c.within(t), State: a.State, Of: OfSize})
		}
	}
	for _, other := range ringMetrics() {
		if p := t.pools[other]; p != nil && other != m {
			s.Siblings = append(s.Siblings, Sibling{Name: strings.ToUpper(string(other)), State: p.alert.State, Of: OfMetric})
		}
	}
	s.Siblings = append(s.Siblings, e.otherTargets(t, t.canaries[0])...)
	return s
}

// within names a canary among those of its target: its size, with the scene where the target has several.
func (c *watch) within(t *target) string {
	if c.Canary.Scene.Name != t.canaries[0].Canary.Scene.Name {
		return c.Canary.Scene.Name + "/" + string(c.Canary.Size)
	}
	return string(c.Canary.Size)
}

// parts lists what the target's canaries measured since a time against their bands, the slowest first.
func (t *target) parts(m probe.Metric, from time.Time) []Part {
	var list []Part
	for _, c := range t.canaries {
		b, v := c.bands[m], c.recent.since(m, from)
		if v > 0 && b.State == bandReady && b.Mean > 0 {
			list = append(list, Part{Name: c.within(t), Value: v, Low: b.Low, Limit: b.Limit, Ratio: v / b.Mean})
		}
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(b.Ratio, a.Ratio) })
	return list
}

// evidence adds what supports the hints: the votes and values of the leading alert's series.
func evidence(s Story, c *watch) Story {
	lead := s.Alerts[0]
	q := c.quorum(lead.Kind)
	s.M, s.N = q.M, q.N
	if m := lead.Kind.Metric(); m != "" {
		s.Spark, s.SparkOf = c.recent.spark(m, s.Now), strings.ToUpper(string(m))
	}
	since := lead.FirstBreach
	s.Connect = c.recent.moved(since, func(g glance) float32 { return g.connect })
	s.Cached = c.recent.moved(since, func(g glance) float32 { return g.cached })
	s.Buffered = c.recent.turnedBuffered(since)
	return s
}

// incidentAlerts lists an incident's alerts, the leading one first, the ended ones behind the open ones.
func (e *Engine) incidentAlerts(inc *incident) []Alert {
	var list []Alert
	e.eachIn(inc, func(a Alert) Alert {
		list = append(list, a)
		return a
	})
	list = append(list, inc.ended...)
	slices.SortStableFunc(list, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(b.Worst.Ratio, a.Worst.Ratio), a.Fired.Compare(b.Fired),
			cmp.Compare(a.ID, b.ID))
	})
	return list
}

// weight orders alerts for the headline: open before ended, told before held back, firing before recovering, critical
// first, down before slow.
func weight(a Alert) int {
	w := 0
	if a.Open() {
		w += 16
	}
	if a.Suppressed == "" && !a.Muted() {
		w += 8
	}
	if a.State != StateRecovering {
		w += 4
	}
	if a.Told() == Critical {
		w += 2
	}
	if a.Kind.Metric() == "" && a.Kind != KindLimit {
		w++
	}
	return w
}

func (e *Engine) leadID(inc *incident) string {
	if list := e.incidentAlerts(inc); len(list) > 0 {
		return list[0].ID
	}
	return ""
}

// leadCanary returns the canary of the leading alert and its target; for an alert of the whole target, its first canary;
// nil when it is gone.
func (e *Engine) leadCanary(list []Alert) (*target, *watch) {
	if len(list) == 0 {
		return nil, nil
	}
	if c := e.watches[list[0].Series]; c != nil {
		return e.targets[c.Canary.Target.Name], c
	}
	if t := e.targets[targetOf(list[0])]; t != nil && len(t.canaries) > 0 {
		return t, t.canaries[0]
	}
	return nil, nil
}

// kinOf lists the targets of the provider that an incident is about, those in trouble first; none where it is about one
// target.
func (e *Engine) kinOf(inc *incident) []Kin {
	if inc.Provider == "" {
		return nil
	}
	var list []Kin
	for _, t := range e.order {
		was := slices.Contains(inc.Targets, t.name)
		if t.provider() != inc.Provider && !was {
			continue
		}
		k := Kin{Target: t.name, State: StateOK, In: t.incident == inc && e.firesAt(inc, t)}
		k.Left = was && !k.In
		for _, c := range t.canaries {
			if s := worstState(c); rank(s) > rank(k.State) {
				k.State = s
			}
		}
		list = append(list, k)
	}
	slices.SortStableFunc(list, func(a, b Kin) int { return cmp.Compare(trouble(b), trouble(a)) })
	return list
}

func trouble(k Kin) int {
	if k.In {
		return 100
	}
	return rank(k.State)
}

// siblings lists what is seen beside the leading canary: its other metrics, the target's other canaries, and other
// targets of the same scene.
func (e *Engine) siblings(t *target, lead *watch, k Kind) []Sibling {
	var list []Sibling
	for _, m := range lead.metrics() {
		if Kind(m) != k {
			list = append(list, Sibling{Name: strings.ToUpper(string(m)), State: lead.alerts[Kind(m)].State, Of: OfMetric})
		}
	}
	for _, c := range t.canaries {
		if c == lead {
			continue
		}
		name := string(c.Canary.Size)
		if c.Canary.Scene.Name != lead.Canary.Scene.Name {
			name = c.Canary.Scene.Name + "/" + name
		}
		list = append(list, Sibling{Name: name, State: worstState(c), Of: OfSize})
	}
	return append(list, e.otherTargets(t, lead)...)
}

func (e *Engine) otherTargets(t *target, lead *watch) []Sibling {
	var list []Sibling
	for _, other := range e.order {
		states := []State{}
		for _, c := range other.canaries {
			if c.Canary.Scene.Name == lead.Canary.Scene.Name {
				states = append(states, worstState(c))
			}
		}
		if other != t && len(states) > 0 {
			slices.SortFunc(states, func(a, b State) int { return rank(b) - rank(a) })
			list = append(list, Sibling{Name: other.name, State: states[0], Of: OfTarget})
		}
	}
	return list
}

// worstState is the state of a canary's worst kind.
func worstState(c *watch) State {
	if c.alerts[KindNoData].Open() && !c.down() {
		return StateNoData
	}
	out := StateOK
	for _, k := range c.kinds() {
		if s := c.alerts[k].State; rank(s) > rank(out) {
			out = s
		}
	}
	return out
}

func rank(s State) int {
	return slices.Index([]State{StateOK, StateLearning, StatePending, StateSuppressed, StateRecovering, StateFlapping, StateFiring, StateNoData}, s)
}
