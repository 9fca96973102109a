package engine

import (
	"iter"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// canary is all that the engine knows of one canary.
type canary struct {
	alert.Watched
	key     string
	target  *target
	kinds   []alert.Kind // of series
	series  []*series    // failures first: what is down holds back what is slow
	metrics []*history
	state   canaryState
	runs    runs
	recent  ring
	seen    []attempt // the newest samples, so that a duplicate changes nothing; oldest first from next on
	next    int
	fails   alert.Kind // its newest probe failed so; "" = it did not

	shown alert.CanaryStatus // as it was shown last, unless it is …
	stale bool

	respecced bool // what is stored is of another spec
	changed   bool // in the running call
	unsaved   bool // state is to be stored
	reask     bool // the re-probes that are wanted changed
}

// attempt is a sample's instant in nanoseconds with the number of its attempt, modulo 4, below it.
type attempt uint64

// seenMax bounds how many samples are remembered for telling duplicates.
const seenMax = 64

func newCanary(w alert.Watched, t *target) *canary {
	c := &canary{Watched: w, key: w.Canary.Key(), target: t, state: canaryState{Tokens: reprobeBudget}}
	for _, k := range []alert.Kind{alert.KindTimeout, alert.KindError, alert.KindLimit, alert.KindNoData} {
		c.series = append(c.series, newSeries(c.key, k, t, failures{}))
	}
	c.configure(w)
	return c
}

// configure takes the canary as a config has it: it gets series for metrics that are new, and those that are gone are returned.
func (c *canary) configure(w alert.Watched) (gone []*series) {
	c.Watched = w
	metrics := w.Canary.Scene.Metrics
	if len(metrics) == 0 {
		metrics = []probe.Metric{probe.TTFT, probe.TPOT}
	}
	for _, m := range metrics {
		if c.of(alert.Kind(m)) == nil {
			h := newHistory(c, m)
			c.metrics = append(c.metrics, h)
			c.series = append(c.series, newSeries(c.key, alert.Kind(m), c.target, h))
		}
	}
	left := func(m probe.Metric) bool { return m != "" && !slices.Contains(metrics, m) }
	c.metrics = slices.DeleteFunc(c.metrics, func(h *history) bool { return left(h.metric) })
	c.series = slices.DeleteFunc(c.series, func(s *series) bool {
		if left(s.kind.Metric()) {
			gone = append(gone, s)
			return true
		}
		return false
	})
	c.kinds = c.kinds[:0]
	for _, s := range c.series {
		s.lead, s.quorum = c, alert.NewQuorum(w.Rule, s.kind, w.Canary.Interval)
		if s.kind == alert.KindNoData {
			s.quorum = alert.Quorum{M: missedMax, N: missedMax, ResolveN: 1, Failures: true, Window: missedWindow}
		}
		c.kinds = append(c.kinds, s.kind)
	}
	return gone
}

// of returns the canary's series of a kind; nil when it has none.
func (c *canary) of(k alert.Kind) *series {
	for _, s := range c.series {
		if s.kind == k {
			return s
		}
	}
	return nil
}

// history returns the canary's history of a metric; nil when it has none.
func (c *canary) history(m probe.Metric) *history {
	for _, h := range c.metrics {
		if h.metric == m {
			return h
		}
	}
	return nil
}

// isDown reports whether the canary's timeouts or errors fire.
func (c *canary) isDown() bool {
	return slices.ContainsFunc(c.series, func(s *series) bool { return s.kind.IsDown() && s.alert.IsFiring() })
}

// isDuplicate reports whether the sample was seen already, and remembers it.
func (c *canary) isDuplicate(s *probe.Sample) bool {
	a := attempt(s.Time.UnixNano())<<2 | attempt(max(s.Attempt, 1)&3)
	if slices.Contains(c.seen, a) {
		return true
	}
	if len(c.seen) < seenMax {
		c.seen = append(c.seen, a)
		return false
	}
	c.seen[c.next] = a
	c.next = (c.next + 1) % seenMax
	return false
}

// joins reports whether the canary may be judged together with others of its target.
func (c *canary) joins() bool { return c.Rule.Corroborate && !c.Rule.Literal() }

// isOwn reports whether a sample was made under the canary's present spec; imported ones carry none.
func (c *canary) isOwn(s *probe.Sample, opt baseline.Options) bool {
	return s.Spec == "" || c.Spec == "" || s.Spec == c.Spec || outlivesSpec(opt)
}

// What a changed spec does to a history; the default is to learn anew.
const (
	onChangeKeep    = "keep"
	onChangeRescale = "rescale" // shifts it to the new level once that is known
)

// outlivesSpec reports whether a history goes on when the spec of its values changes.
func outlivesSpec(opt baseline.Options) bool {
	return opt.OnChange == onChangeKeep || opt.OnChange == onChangeRescale
}

// target is the canaries of one target and what is judged of the whole of it.
type target struct {
	name     string
	canaries []*canary // by key
	rate     rate
	rates    []*series // timeouts, errors
	rounds   []*rounds // by metric
	changed  bool      // in the running call
	busy     bool      // something is pending or fires, or may be
}

func newTarget(name string) *target {
	t := &target{name: name, busy: true}
	for _, k := range rateKinds() {
		s := newSeries(name, k, t, failures{})
		s.quorum = alert.Quorum{M: 1, N: 1, ResolveN: 1, Failures: true, Window: rateWindow}
		t.rates = append(t.rates, s)
	}
	return t
}

// all lists the target's series: its canaries', its rates, its rounds.
func (t *target) all() iter.Seq[*series] {
	return func(yield func(*series) bool) {
		for _, c := range t.canaries {
			for _, s := range c.series {
				if !yield(s) {
					return
				}
			}
		}
		for _, s := range t.rates {
			if !yield(s) {
				return
			}
		}
		for _, r := range t.rounds {
			if !yield(r.series) {
				return
			}
		}
	}
}

// down is how many of the target's canaries have no answers.
func (t *target) down() (n int) {
	for _, c := range t.canaries {
		if c.isDown() {
			n++
		}
	}
	return n
}

// round returns the target's rounds of a metric; nil when there are none.
func (t *target) round(m probe.Metric) *rounds {
	for _, r := range t.rounds {
		if r.metric == m {
			return r
		}
	}
	return nil
}

// interval is that of the target's fastest schedule.
func (t *target) interval() time.Duration {
	least := t.canaries[0].Canary.Interval
	for _, c := range t.canaries {
		least = min(least, c.Canary.Interval)
	}
	return least
}

// grown reports whether every canary of the target that judges a metric has a whole window of history.
func (t *target) grown(m probe.Metric, now time.Time) bool {
	for _, c := range t.canaries {
		if h := c.history(m); h != nil && !c.Rule.Literal() && !h.Grown(now) {
			return false
		}
	}
	return true
}

// corroborates reports whether the target is judged as a whole in the metric of one of its canaries' series, so that it pages when
// they are slow together.
func (t *target) corroborates(s *series, now time.Time) bool {
	r := t.round(s.kind.Metric())
	return r != nil && s.lead.joins() && r.pooled() != nil && t.grown(r.metric, now)
}
