package engine

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"serin/alert"
)

// Reload watches another set of canaries. Those that stay keep votes, alerts and bands; where spec, zone, interval, metrics or the
// rule's threshold changed, the series is read again. The alerts of one that leaves resolve because it was removed, those of one whose
// spec changed because of that. An error means that a history could not be read; the set is the new one all the same.
func (e *Engine) Reload(ctx context.Context, watched []alert.Watched, windows []alert.Maintenance, now time.Time) (alert.Judged, error) {
	e.begin(now)
	e.windows = newWindows(windows)
	next := map[string]bool{}
	var failed error
	for _, w := range watched {
		next[w.Canary.Key()] = true
		if err := e.renew(ctx, w); err != nil && failed == nil {
			failed = err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.canaries)) {
		if !next[key] {
			e.leave(e.canaries[key])
		}
	}
	for _, t := range slices.Clone(e.order) {
		if len(t.canaries) == 0 {
			e.dropTarget(t)
			continue
		}
		t.pool(e)
		e.change.target(t)
		t.busy = true
	}
	judged := e.commit()
	e.publishAll()
	return judged, failed
}

// renew takes one canary of the new set.
func (e *Engine) renew(ctx context.Context, w alert.Watched) error {
	c := e.canaries[w.Canary.Key()]
	if c == nil {
		return e.welcome(ctx, w)
	}
	old := c.Watched
	gone := c.configure(w)
	for _, s := range gone {
		s.drop(e)
		e.forget(SeriesKey(c.key, s.kind.Metric()))
	}
	c.unsaved = true
	e.change.canary(c)
	if c.Due != nil {
		if due := c.Due(c.runs.due.Add(-1)); !due.Equal(c.runs.due) {
			c.runs.due, c.runs.missed = c.Due(e.now), 0
		}
	}
	c.reask = c.reask || len(c.state.Asks) > 0
	if old.Spec != w.Spec {
		e.targetEvent(c.target, alert.EventSpec, specChanged, e.now)
	}
	if old.Spec == w.Spec && judgedAlike(old, w) {
		return nil
	}
	return e.rejudge(ctx, c, old.Spec != w.Spec && e.opt.Baseline.OnChange != onChangeKeep)
}

func (e *Engine) welcome(ctx context.Context, w alert.Watched) error {
	c := e.add(w)
	p, err := c.read(ctx, e) // after an error it learns from now on
	e.change.Records = append(e.change.Records, c.build(e, p, nil)...)
	c.settle(nil)
	c.remember(p)
	c.unsaved = true
	e.change.canary(c)
	return err
}

// judgedAlike reports whether two versions of a canary make the same bands.
func judgedAlike(a, b alert.Watched) bool {
	return a.Canary.Interval == b.Canary.Interval && zoneName(a) == zoneName(b) &&
		slices.Equal(a.Canary.Scene.Metrics, b.Canary.Scene.Metrics) && reflect.DeepEqual(a.Rule.Threshold, b.Rule.Threshold)
}

func zoneName(w alert.Watched) string {
	if w.Canary.Scene.Zone == nil {
		return time.UTC.String()
	}
	return w.Canary.Scene.Zone.String()
}

// rejudge reads a canary's series again after its config changed; with respec their level is another.
func (e *Engine) rejudge(ctx context.Context, c *canary, respec bool) error {
	c.respecced = c.respecced || respec
	for _, s := range c.series {
		if respec && s.alert.IsFiring() && s.isLatency() {
			s.resolve(e, alert.EndSpec)
		}
	}
	p, err := c.read(ctx, e) // after an error with what is in memory
	e.change.Records = append(e.change.Records, c.build(e, p, nil)...)
	for _, s := range c.series {
		if !s.isLatency() {
			continue
		}
		h := c.history(s.kind.Metric())
		h.Recompute()
		h.Freeze(s.alert.IsFiring())
		h.band = h.Band(e.now)
		if respec || s.alert.State == "" {
			s.alert = s.blank()
		}
	}
	c.rest(e)
	return err
}

// leave ends all that fires of a canary that left.
func (e *Engine) leave(c *canary) {
	t := c.target
	for _, s := range c.series {
		s.drop(e)
	}
	if len(c.state.Asks) > 0 {
		e.change.Reprobes = append(e.change.Reprobes, alert.Reprobe{Canary: c.key})
	}
	delete(e.canaries, c.key)
	t.canaries = slices.DeleteFunc(t.canaries, func(x *canary) bool { return x == c })
	t.rate = slices.DeleteFunc(t.rate, func(o outcome) bool { return o.canary == c })
	e.forget(blobCanary + c.key)
	for _, h := range c.metrics {
		e.forget(SeriesKey(c.key, h.metric))
	}
}

// dropTarget ends all that fires of a target that no canary watches any more.
func (e *Engine) dropTarget(t *target) {
	for s := range t.all() {
		s.drop(e)
	}
	for _, r := range t.rounds {
		e.forget(roundsKey(t.name, r.metric))
	}
	delete(e.targets, t.name)
	e.order = slices.DeleteFunc(e.order, func(x *target) bool { return x == t })
}

// Imported takes in history that changed underneath: every series is read again. Alerts keep their state. An error means that a history
// could not be read.
func (e *Engine) Imported(ctx context.Context, now time.Time) (alert.Judged, error) {
	e.begin(now)
	err := e.reread(ctx)
	return e.commit(), err
}
