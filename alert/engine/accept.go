package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"serin/probe"
)

// When a level counts as having changed, and as having come back.
const (
	acceptLeast = 3                  // values that say where the new level is
	undoWithin  = 7 * 24 * time.Hour // of an automatic acceptance
	// undoOver is a whole day, so that the same hours are compared on the whole: the load of a weekend alone brings the
	// median of 3 h down to the old level while the shift still stands.
	undoOver  = 24 * time.Hour // whose median …
	undoNear  = 1.10           // … is within this ratio of the old level
	downBelow = -.10           // ln: so far below usual is a new level
)

// accepted is a new normal that was taken, while it may still be taken back.
type accepted struct {
	Metric probe.Metric `json:"metric"`
	First  time.Time    `json:"first"` // first breach: values before it were raised
	At     time.Time    `json:"at"`
	C      float64      `json:"c"`            // ln ratio of the new level to the old
	By     string       `json:"by,omitempty"` // "" = by itself
}

// acceptDue takes a long alert's level for the new normal, where nothing speaks against it.
func (e *Engine) acceptDue(c *watch, k Kind) {
	a, m := c.alerts[k], k.Metric()
	if m == "" || !a.Open() || c.Rule.AcceptAfter <= 0 || e.now.Sub(a.Fired) < c.Rule.AcceptAfter || !c.mayAccept(a, m, e.now) {
		return
	}
	if p := e.targets[c.Canary.Target.Name].pools[m]; p != nil && p.alert.Open() && c.Rule.Corroborate {
		return // the whole target's level is taken, this canary's with it
	}
	e.accept(c, k, "", "fired for "+elapsed(e.now.Sub(a.Fired)))
}

// mayAccept reports whether a level may become normal without a person: never above a critical limit that the user set,
// nor while the canary fails, nor one that was held against a fixed limit or only comes and goes.
func (c *watch) mayAccept(a Alert, m probe.Metric, now time.Time) bool {
	if a.Fixed || a.State == StateFlapping || c.Rule.Literal() || c.down() {
		return false
	}
	y, n := c.series[m].Usual(a.FirstBreach, now)
	limit := userLimit(c.Watched, m).Critical
	return n >= acceptLeast && (limit <= 0 || math.Exp(y) <= limit.Seconds())
}

// accept makes the level since an alert's first breach the normal one, and ends the alert.
func (e *Engine) accept(c *watch, k Kind, who, why string) bool {
	a := c.alerts[k]
	gap, ok := e.raiseLevel(c, k.Metric(), a.FirstBreach, who, why)
	if !ok {
		return false
	}
	a.Excluding = false
	a, t := resolve(a.acceptedAt(gap, who, e.undoOf(c.key)), endNewNormal, e.now, turn{From: a.State})
	e.take(c, k, a, t)
	e.log.Warn("a slower level is the new normal", "series", c.key, "kind", string(k), "ratio", a.Accepted, "by", who, "reason", why,
		"undo", a.Undo)
	return true
}

func (a Alert) acceptedAt(gap float64, who, undo string) Alert {
	a.Accepted, a.Unasked, a.Undo = math.Exp(gap), who == "", undo
	return a
}

// undoOf is the command that takes an acceptance back, "" where none is known.
func (e *Engine) undoOf(series string) string {
	if e.opt.UndoCommand == "" {
		return ""
	}
	return fmt.Sprintf(e.opt.UndoCommand, series)
}

// raiseLevel rescales a canary's history to the level since first.
func (e *Engine) raiseLevel(c *watch, m probe.Metric, first time.Time, who, why string) (gap float64, ok bool) {
	s := c.series[m]
	gap, n := s.Gap(first, e.now)
	if n < acceptLeast {
		return 0, false
	}
	s.Rescale(first, e.now, gap)
	e.leaveOut(c, m, first, e.now.Add(-1), false)
	c.memo.Accepts = append(slices.Clone(c.memo.Accepts), accepted{Metric: m, First: first, At: e.now, C: gap, By: who})
	e.regroup(c, m)
	e.happened(c, Kind(m), EventAccept, byWhom(fmt.Sprintf("×%.2f of the old level is normal: %s", math.Exp(gap), why), who),
		Evidence{At: e.now, Ratio: math.Exp(gap)})
	return gap, true
}

// regroup makes the target's pool measure its level anew.
func (e *Engine) regroup(c *watch, m probe.Metric) {
	t := e.targets[c.Canary.Target.Name]
	c.alerts[Kind(m)] = c.alerts[Kind(m)].relevelled()
	if p := t.pools[m]; p != nil {
		p.group.Recompute()
		p.alert = p.alert.relevelled()
		e.tx.pools[t] = true
	}
}

func byWhom(text, who string) string {
	if who == "" {
		return text
	}
	return text + ", by " + oneLine(who, 80)
}

// poolMayAccept holds the guards of each canary for the whole target.
func (e *Engine) poolMayAccept(t *target, p *pool) bool {
	for _, c := range t.pooled(p.metric) {
		if !c.mayAccept(p.alert, p.metric, e.now) {
			return false
		}
	}
	return t.pooled(p.metric) != nil
}

// acceptPool makes the level since a target's alert began the normal one of each canary, each by its own median.
func (e *Engine) acceptPool(t *target, p *pool, who, why string) bool {
	a, list := p.alert, t.pooled(p.metric)
	var gaps []float64
	for _, c := range list {
		own := c.alerts[Kind(p.metric)]
		if own.Open() && own.State != StateFlapping && e.accept(c, Kind(p.metric), who, why) {
			gaps = append(gaps, math.Log(c.acceptedRatio(p.metric)))
			continue
		}
		if gap, ok := e.raiseLevel(c, p.metric, a.FirstBreach, who, why); ok {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return false
	}
	a.Excluding = false
	a, tn := resolve(a.acceptedAt(median(gaps), who, e.undoOf(t.name)), endNewNormal, e.now, turn{From: a.State})
	e.takePool(t, p, a, tn)
	e.log.Warn("a slower level is the new normal", "series", t.name, "kind", string(p.metric), "ratio", a.Accepted, "by", who, "reason", why)
	return true
}

// acceptedRatio is that of the newest acceptance of a metric, 1 without one.
func (c *watch) acceptedRatio(m probe.Metric) float64 {
	for _, x := range slices.Backward(c.memo.Accepts) {
		if x.Metric == m {
			return math.Exp(x.C)
		}
	}
	return 1
}

// watchLevel looks once an hour, after a regular value came in, whether an accepted level has gone back or the level has come
// down for good.
func (e *Engine) watchLevel(c *watch, m probe.Metric) {
	hour := c.series[m].Newest().Unix() / 3600
	if c.mark(m).hour == hour {
		return
	}
	c.mark(m).hour = hour
	e.undoDue(c, m)
	e.downDue(c, m)
}

// undoDue takes an automatic acceptance back where the old level has returned.
func (e *Engine) undoDue(c *watch, m probe.Metric) {
	over := max(undoOver, acceptLeast*c.Canary.Interval)
	for _, x := range slices.Clone(c.memo.Accepts) {
		age := e.now.Sub(x.At)
		if x.Metric != m || age < over {
			continue
		}
		if age > undoWithin {
			c.memo.Accepts = slices.DeleteFunc(slices.Clone(c.memo.Accepts), func(y accepted) bool { return y == x })
			continue
		}
		gap, n := c.series[m].Gap(e.now.Add(-over), e.now.Add(1))
		back := gap + x.C // over the old level
		if x.By == "" && n >= acceptLeast && math.Abs(back) <= math.Log(undoNear) && math.Abs(back) < math.Abs(gap) {
			// The median turns when half of the time is at the old level again.
			e.undo(c, x, "", "the median of the last "+elapsed(over)+" is the old level again", e.now.Add(-over/2))
		}
	}
}

// undo takes an acceptance back; the values of the level taken back leave the band, until back.
func (e *Engine) undo(c *watch, x accepted, who, why string, back time.Time) {
	c.series[x.Metric].Unscale(x.First, x.At, e.now)
	if back.After(x.First) {
		e.leaveOut(c, x.Metric, x.First, back.Add(-1), true)
	}
	c.memo.Accepts = slices.DeleteFunc(slices.Clone(c.memo.Accepts), func(y accepted) bool { return y == x })
	e.regroup(c, x.Metric)
	e.happened(c, Kind(x.Metric), EventUndo, byWhom(why, who), Evidence{At: e.now, Ratio: math.Exp(-x.C)})
}

// downDue rescales a history whose level has come down for good. It waits while anything of the target fires.
func (e *Engine) downDue(c *watch, m probe.Metric) {
	after := c.Rule.DownAfter
	if after <= 0 || c.Rule.Literal() || e.anyOpen(c) {
		return
	}
	from := e.now.Add(-after)
	if !c.series[m].Fell(from, e.now.Add(1), downBelow) {
		return
	}
	gap, n := c.series[m].MeanGap(from, e.now.Add(1))
	if gap >= downBelow || 2*n < int(after/c.Canary.Interval) {
		return
	}
	c.series[m].Rescale(from, e.now, gap)
	e.regroup(c, m)
	e.happened(c, Kind(m), EventDown, fmt.Sprintf("×%.2f of usual for %s: the band follows", math.Exp(gap), elapsed(after)),
		Evidence{At: e.now, Ratio: math.Exp(gap)})
}

// anyOpen reports whether the canary or its target as a whole has an alert.
func (e *Engine) anyOpen(c *watch) bool {
	for _, a := range c.alerts {
		if a.Open() {
			return true
		}
	}
	for _, p := range e.targets[c.Canary.Target.Name].pools {
		if p.alert.Open() {
			return true
		}
	}
	return false
}
