package alert

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/probe"
	"serin/probe/glob"
)

// Accept makes the level of every open latency alert that matches the new normal, at once. pattern is a glob over
// target/scene/size, or over its first parts; who and why go into the journal. It returns the series accepted; an error
// says that the pattern is none, or that nothing that matches fires.
func (e *Engine) Accept(ctx context.Context, pattern, who, why string, now time.Time) ([]string, error) {
	return e.command(ctx, pattern, now, "no latency alert of such a series fires, or it has too few values yet", func(t *target, c *watch) []string {
		var done []string
		for _, k := range c.kinds() {
			a := c.alerts[k]
			if k.Metric() != "" && a.Open() && !c.Rule.Literal() && e.accept(c, k, who, why) {
				done = append(done, c.key+" "+string(k))
			}
		}
		return done
	}, func(t *target) []string {
		var done []string
		for _, m := range ringMetrics() {
			if p := t.pools[m]; p != nil && p.alert.Open() && e.acceptPool(t, p, who, why) {
				done = append(done, t.name+" "+string(m))
			}
		}
		return done
	})
}

// Undo takes back the acceptances of the last 7 days of every series that matches.
func (e *Engine) Undo(ctx context.Context, pattern, who, why string, now time.Time) ([]string, error) {
	return e.command(ctx, pattern, now, "nothing was accepted there in the last 7 days", func(_ *target, c *watch) []string {
		var done []string
		for _, x := range slices.Backward(slices.Clone(c.memo.Accepts)) {
			e.undo(c, x, who, why, e.now)
			done = append(done, c.key+" "+string(x.Metric))
		}
		return done
	}, nil)
}

// ResetBaseline forgets the history of every series that matches, for good: they learn anew. Their open latency alerts
// end with reason "reset".
func (e *Engine) ResetBaseline(ctx context.Context, pattern, who, why string, now time.Time) ([]string, error) {
	return e.command(ctx, pattern, now, "no canary matches", func(t *target, c *watch) []string {
		for _, m := range c.metrics() {
			k := Kind(m)
			if a := c.alerts[k]; a.Open() {
				a.Excluding = false
				a, tn := resolve(a, whyReset, e.now, turn{From: a.State})
				e.take(c, k, a, tn)
			}
			c.series[m].Reset(e.now)
			c.setBand(m, c.series[m].Band(e.now))
			c.alerts[k] = c.blank(k)
			e.regroup(c, m)
			e.happened(c, k, EventReset, byWhom(why, who), Evidence{})
		}
		c.memo.Accepts, c.memo.Armed = nil, map[probe.Metric]bool{}
		return []string{c.key}
	}, nil)
}

// whyReset is why an alert ends whose history was forgotten.
const whyReset = "reset"

// command does something to every canary, and with whole to every target, that a pattern matches.
func (e *Engine) command(ctx context.Context, pattern string, now time.Time, nothing string, one func(*target, *watch) []string, whole func(*target) []string) ([]string, error) {
	if !glob.ValidKey(pattern) {
		return nil, fmt.Errorf("pattern %q: write target/scene/size, with * for any", pattern)
	}
	e.open(latest(e.now, now))
	e.catchUp()
	var done []string
	for _, t := range e.order {
		if whole != nil && glob.MatchKey(pattern, t.name) {
			done = append(done, whole(t)...)
		}
		for _, c := range t.canaries {
			if glob.MatchKey(pattern, c.key) {
				done = append(done, one(t, c)...)
			}
		}
	}
	if err := e.finish(ctx); err != nil {
		return done, err
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("pattern %q: %s", pattern, nothing)
	}
	return done, nil
}
