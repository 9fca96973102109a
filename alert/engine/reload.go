package engine

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Reload watches another set of canaries, owes notices to other channels and groups by other options. Those that stay keep votes, alerts, incidents and bands; where spec, zone,
// interval, metrics or the rule's threshold changed, the series is read again. The alerts of one that leaves resolve
// with reason "removed", those of one whose spec changed with "spec_changed". An error means that a history could not
// be read; the set is the new one all the same.
func (e *Engine) Reload(ctx context.Context, watched []Watched, channels []string, opt IncidentOptions, now time.Time) error {
	e.opt.Channels, e.opt.Incident = channels, opt
	e.open(now)
	e.catchUp()
	next := map[string]bool{}
	var made []Record
	var failed error
	for _, w := range watched {
		next[w.Canary.Key()] = true
		records, err := e.renew(ctx, w)
		made = append(made, records...)
		if err != nil && failed == nil {
			failed = err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.watches)) {
		if !next[key] {
			e.leave(e.watches[key])
		}
	}
	for _, t := range e.order {
		e.repool(t)
		e.tx.pools[t] = true
	}
	e.retireRates()
	e.commitRecords(ctx, made)
	if err := e.finish(ctx); err != nil {
		return err
	}
	e.bareTargets()
	e.publishAll()
	return failed
}

// renew takes one canary of the new set.
func (e *Engine) renew(ctx context.Context, w Watched) ([]Record, error) {
	c := e.watches[w.Canary.Key()]
	if c == nil {
		return e.welcome(ctx, w)
	}
	old := c.Watched
	c.watch(w)
	c.respecced = c.respecced || old.Spec != w.Spec && e.opt.Baseline.OnChange != "keep"
	if c.Due != nil {
		if due := c.Due(c.runs.due.Add(-1)); !due.Equal(c.runs.due) {
			c.runs.due, c.runs.missed = c.Due(e.now), 0
		}
	}
	if len(c.memo.Asks) > 0 && e.opt.Reprober != nil {
		e.reask(c, e.now)
	}
	e.tx.touch(c)
	e.tx.tell(e.targets[w.Canary.Target.Name])
	if old.Spec != w.Spec {
		e.markSpec(c)
	}
	if old.Spec == w.Spec && judgedAlike(old, w) {
		return nil, nil
	}
	return e.rejudge(ctx, c, old)
}

func (e *Engine) welcome(ctx context.Context, w Watched) ([]Record, error) {
	c := e.add(w)
	records, p, err := e.read(ctx, c)
	if err != nil {
		e.series(c, past{}) // it learns from now on
	}
	c.restart()
	e.recount(e.remember(c, p.recent))
	e.tx.touch(c)
	return records, err
}

// judgedAlike reports whether two versions of a canary make the same bands.
func judgedAlike(a, b Watched) bool {
	return a.Canary.Interval == b.Canary.Interval && zoneName(a) == zoneName(b) &&
		slices.Equal(a.Canary.Scene.Metrics, b.Canary.Scene.Metrics) && reflect.DeepEqual(a.Rule.Threshold, b.Rule.Threshold)
}

func zoneName(w Watched) string {
	if w.Canary.Scene.Zone == nil {
		return time.UTC.String()
	}
	return w.Canary.Scene.Zone.String()
}

// rejudge reads a canary's series again after its config changed.
func (e *Engine) rejudge(ctx context.Context, c *watch, old Watched) ([]Record, error) {
	respec := old.Spec != c.Spec && e.opt.Baseline.OnChange != "keep"
	for _, k := range c.kinds() {
		a := c.alerts[k]
		if respec && a.Open() && k.Metric() != "" {
			a, t := resolve(a, whySpec, e.now, turn{From: a.State})
			e.take(c, k, a, t)
		}
	}
	e.dropKinds(c, old)
	records, _, err := e.read(ctx, c)
	if err != nil {
		e.series(c, past{}) // with what is in memory
	}
	for _, m := range c.metrics() {
		c.series[m].Recompute()
		a := c.alerts[Kind(m)]
		c.series[m].Freeze(a.Open() && a.State != StateFlapping)
		c.setBand(m, c.series[m].Band(e.now))
		_, known := c.alerts[Kind(m)]
		if !known || respec && !a.Open() {
			c.alerts[Kind(m)] = c.blank(Kind(m))
		}
	}
	e.rest(c)
	return records, err
}

// dropKinds ends the alerts of metrics that are not judged any more.
func (e *Engine) dropKinds(c *watch, old Watched) {
	t := e.targets[c.Canary.Target.Name]
	kinds := c.kinds()
	for _, m := range old.Canary.Scene.Metrics {
		k := Kind(m)
		if slices.Contains(kinds, k) {
			continue
		}
		if a := c.alerts[k]; a.Open() {
			e.retire(t, a, whyRemoved)
		}
		delete(c.alerts, k)
		delete(c.series, m)
		c.bands = maps.Clone(c.bands)
		delete(c.bands, m)
		e.forget(e.tx, seriesKey(c, m))
		delete(c.marks, m)
	}
}

// leave ends all that a canary that left has open.
func (e *Engine) leave(c *watch) {
	t := e.targets[c.Canary.Target.Name]
	for _, a := range c.openAlerts() {
		e.retire(t, a, whyRemoved)
	}
	if e.opt.Reprober != nil {
		e.opt.Reprober.CancelReprobes(c.key)
	}
	e.handOver(c)
	delete(e.watches, c.key)
	t.canaries = slices.DeleteFunc(t.canaries, func(x *watch) bool { return x == c })
	t.seen = slices.DeleteFunc(t.seen, func(v vote) bool { return v.canary == c.key })
	e.forget(e.tx, blobCanary+c.key)
	for _, m := range c.metrics() {
		e.forget(e.tx, seriesKey(c, m))
	}
	e.tx.tell(t)
}

// retireRates ends the rate alerts of targets that no canary watches any more.
func (e *Engine) retireRates() {
	for _, t := range e.order {
		for _, k := range rateKinds() {
			if a := t.rates[k]; len(t.canaries) == 0 && a.Open() {
				t.rates[k] = Alert{Series: t.name, Kind: k, State: StateOK}
				e.retire(t, a, whyRemoved)
			}
		}
	}
}

// bareTargets drops targets that have neither canaries nor an incident.
func (e *Engine) bareTargets() {
	e.order = slices.DeleteFunc(e.order, func(t *target) bool {
		gone := len(t.canaries) == 0 && t.incident == nil
		if gone {
			delete(e.targets, t.name)
		}
		return gone
	})
}
