package alert

import (
	"fmt"
	"slices"
	"time"

	"serin/probe"
)

// promoteRatio is how slow a single series must be to page beside its target's own series.
const promoteRatio = 2

// stepPool brings a round to the target's alert.
func (e *Engine) stepPool(t *target, p *pool, o Observation) turn {
	if p.alert.Open() {
		p.alert = p.alert.count(probe.OK)
	}
	a, tn := step(p.alert, t.quorum(p.metric), o, e.now)
	e.traced(a)
	if tn.FirstCalm && o.Trigger == probe.Schedule && t.pace(p.metric) > slowInterval {
		e.askCalm(t, p)
	}
	e.takePool(t, p, a, tn)
	return tn
}

// pace is how often the rounds of a metric come. Two canaries make one: it is the interval of the second fastest schedule of
// those that are judged together.
func (t *target) pace(m probe.Metric) time.Duration {
	every := []time.Duration{t.interval()}
	if list := t.pooled(m); list != nil {
		every = every[:0]
		for _, c := range list {
			every = append(every, c.Canary.Interval)
		}
	}
	slices.Sort(every)
	return every[min(1, len(every)-1)]
}

// askCalm asks for rounds after the first calm one of a slow schedule.
func (e *Engine) askCalm(t *target, p *pool) {
	shares := map[string]spoken{}
	pooled := t.pooled(p.metric)
	for _, c := range pooled {
		shares[c.key] = spoken{Known: true}
	}
	e.askRoundsAt(p, pooled, shares, []time.Time{e.now.Add(5 * time.Minute), e.now.Add(10 * time.Minute)})
}

// takePool makes a the target's alert of its metric: history, log, band, re-probes and incident follow.
func (e *Engine) takePool(t *target, p *pool, a Alert, tn turn) {
	e.tx.pools[t] = true
	if a.State != tn.From {
		e.transit(a, tn)
	}
	if tn.Fired {
		if a.Severity == Info {
			a.Severity = Warning
		}
		if !t.grown(p.metric, e.now) {
			a.Severity = Info
		}
		p.group.Freeze(true)
	}
	if tn.Fired || tn.Resolved {
		e.dropRounds(t, p)
	}
	if tn.Flaps {
		p.group.Freeze(false)
		a.Excluding = false
	}
	if tn.Resolved {
		p.group.Freeze(false)
		if a.Excluding {
			a = e.includePool(t, p, a)
		}
		p.alert = Alert{Series: t.name, Kind: Kind(p.metric), State: StateOK}.after(a)
		e.bury(t, a)
	} else {
		p.alert = a
	}
	if a.Open() || tn.Resolved {
		e.tx.alert(a)
	}
	if tn.Fired || tn.Resolved || tn.Escalated || tn.Flaps {
		e.tx.tell(t, flapNews(a, tn)...)
	}
}

// poolExcludes reports whether the target's own alert leaves a canary's samples out of its band.
func (e *Engine) poolExcludes(c *watch, m probe.Metric) bool {
	t := e.targets[c.Canary.Target.Name]
	if t == nil {
		return false
	}
	p := t.pools[m]
	return p != nil && p.alert.Open() && p.alert.Excluding && c.Rule.Corroborate && !c.Rule.Literal()
}

// longPool does what a long alert of the whole target does: its samples leave the bands of each canary; at last the
// level is the new normal.
func (e *Engine) longPool(t *target, p *pool) {
	a, rule := p.alert, t.lead(p.metric).Rule
	if !a.Open() || a.State == StateFlapping {
		return
	}
	lasted := e.now.Sub(a.Fired)
	if !a.Excluding && rule.ExcludeAfter > 0 && lasted >= rule.ExcludeAfter {
		a.Excluding = true
		p.alert = a
		for _, c := range t.pooled(p.metric) {
			e.leaveOut(c, p.metric, a.FirstBreach, e.now, true)
		}
		e.tx.alert(a)
		e.log.Info("samples leave the bands", "series", a.Series, "kind", string(a.Kind), "since", a.FirstBreach, "alert", a.ID)
	}
	if rule.AcceptAfter > 0 && lasted >= rule.AcceptAfter && e.poolMayAccept(t, p) {
		e.acceptPool(t, p, "", fmt.Sprintf("fired for %s", elapsed(lasted)))
	}
}

// includePool takes the calm rounds that resolved an alert back into the bands.
func (e *Engine) includePool(t *target, p *pool, a Alert) Alert {
	a.Excluding = false
	if n := len(a.Calm); n > 0 && a.Reason != endNewNormal {
		for _, c := range t.pooled(p.metric) {
			if own := c.alerts[Kind(p.metric)]; !own.Excluding {
				e.leaveOut(c, p.metric, a.Calm[0].Add(-time.Minute), a.Calm[n-1], false)
			}
		}
	}
	return a
}

// leaveOut flips a canary's samples out of its band, or back into it.
func (e *Engine) leaveOut(c *watch, m probe.Metric, from, to time.Time, out bool) {
	c.series[m].Exclude(from, to, out)
	e.tx.Exclusions = append(e.tx.Exclusions, exclusion(c, m, from, to, out))
	e.tx.touch(c)
}

// promote makes a single series' alert page that its target's own series has not: it has fired for long, or is very slow.
func (e *Engine) promote(c *watch, k Kind) {
	a := c.alerts[k]
	if a.State != StateFiring || a.Severity != Info || k.Metric() == "" {
		return
	}
	if a.Last.Ratio < promoteRatio && e.now.Sub(a.Fired) < c.Rule.PromoteAfter {
		return
	}
	a.Severity = Warning
	c.alerts[k] = a
	e.tx.alert(a)
	e.tx.touch(c)
	e.tx.tell(e.targets[c.Canary.Target.Name])
	e.log.Info("alert promoted", "series", a.Series, "kind", string(k), "alert", a.ID, "ratio", a.Last.Ratio)
}

// holdPools holds the whole target's alerts back while most of it is down.
func (e *Engine) holdPools(t *target, most bool, down int) {
	by := ""
	if most {
		by = fmt.Sprintf("timeouts or errors on %d of %d canaries", down, len(t.canaries))
	}
	for _, m := range ringMetrics() {
		p := t.pools[m]
		if p == nil || !p.alert.Open() || p.alert.Suppressed == by {
			continue
		}
		fresh := p.alert.Suppressed == "" && p.alert.Announced
		p.alert.Suppressed = by
		e.tx.alert(p.alert)
		if fresh {
			e.tx.tell(t, News{What: TurnSuppressed, Alert: p.alert.ID, Detail: by})
		}
	}
}

// silent reports whether no round has come for as long as its votes count, nor can one: too many canaries do not know the scatter
// of their probes, as after a change of their interval, or fail since their past changed. Nothing would ever end an alert then.
func (t *target) silent(p *pool, q Quorum, now time.Time) bool {
	if now.Sub(p.alert.Last.At).Abs() <= q.Window {
		return false
	}
	n := 0
	for _, c := range t.canaries {
		if s := c.series[p.metric]; s != nil && c.Rule.Corroborate && (s.Pools() || s.MayPool() && !c.down() && !c.alerts[KindNoData].State.open()) {
			n++
		}
	}
	return n < poolLeast
}

// agePool does what time alone does to a target's alert.
func (e *Engine) agePool(t *target, p *pool) {
	a := p.alert
	if !a.Open() && a.State != StatePending {
		return
	}
	q := t.quorum(p.metric)
	switch {
	case a.Open() && (t.banded(p.metric) < poolLeast || t.silent(p, q, e.now)):
		a, tn := resolve(a, whyLearning, e.now, turn{From: a.State})
		e.takePool(t, p, a, tn)
	case a.Open() && a.Severity == Info && t.grown(p.metric, e.now):
		a.Severity = Warning
		p.alert = a
		e.tx.alert(a)
		e.tx.tell(t)
	case a.State == StatePending:
		if a, dropped := a.aged(q, e.now); dropped {
			tn := turn{From: a.State}
			a.settle(StateOK, e.now, &tn)
			e.takePool(t, p, a, tn)
		}
	}
	e.longPool(t, p)
}
