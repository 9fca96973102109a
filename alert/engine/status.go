package engine

import (
	"maps"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// view is what Status shows. Entries are replaced, never written to.
type view struct {
	at       time.Time
	canaries []alert.CanaryStatus // by key
	index    map[string]int       // canary → its place
	firing   []alert.Alert
}

// Status returns what the engine shows now: its canaries by key and the alerts that fire. It is safe for concurrent use.
func (e *Engine) Status() (at time.Time, canaries []alert.CanaryStatus, firing []alert.Alert) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view.at, slices.Clone(e.view.canaries), e.view.firing
}

// publish shows what a call changed.
func (e *Engine) publish() {
	if e.opt.Recorded {
		return
	}
	var firing []alert.Alert
	if len(e.change.Alerts) > 0 {
		firing = e.Firing("")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.view.at = e.now
	for _, c := range e.change.canaries {
		if i, ok := e.view.index[c.key]; ok && e.canaries[c.key] == c {
			e.view.canaries[i] = c.show()
		}
	}
	if len(e.change.Alerts) > 0 {
		e.view.firing = firing
	}
}

// publishAll shows the whole set of canaries anew.
func (e *Engine) publishAll() {
	v := view{at: e.now, firing: e.Firing(""), index: map[string]int{}}
	for i, key := range slices.Sorted(maps.Keys(e.canaries)) {
		v.index[key] = i
		v.canaries = append(v.canaries, e.canaries[key].show())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.view = v
}

// show returns the canary's status, made anew where something changed since the last time.
func (c *canary) show() alert.CanaryStatus {
	if c.stale || c.shown.Canary == nil {
		c.shown, c.stale = c.status(), false
	}
	return c.shown
}

func (c *canary) status() alert.CanaryStatus {
	s := alert.CanaryStatus{Canary: c.Canary, Rule: c.Rule, Fails: c.fails, States: make(map[alert.Kind]alert.State, len(c.series)),
		Bands: make(map[probe.Metric]baseline.Band, len(c.metrics))}
	for _, x := range c.series {
		s.States[x.kind] = x.alert.State
	}
	for _, h := range c.metrics {
		if h.band.State != "" {
			s.Bands[h.metric] = h.band
		}
	}
	if n := len(c.recent); n > 0 {
		s.Last = time.Unix(0, c.recent[n-1].at)
	}
	return s
}

// Targets lists the watched targets by name.
func (e *Engine) Targets() []alert.Target {
	list := make([]alert.Target, len(e.order))
	for i, t := range e.order {
		list[i].Target = t.canaries[0].Canary.Target
		for _, c := range t.canaries {
			list[i].Canaries = append(list[i].Canaries, c.show())
		}
	}
	return list
}

// Firing lists the alerts of a target that have fired and not resolved: its canaries', its rates', then those of the whole of it. "" is
// all targets, by name.
func (e *Engine) Firing(target string) (list []alert.Alert) {
	for _, t := range e.order {
		if target != "" && t.name != target {
			continue
		}
		for s := range t.all() {
			if s.alert.IsFiring() {
				list = append(list, s.alert)
			}
		}
	}
	return list
}
