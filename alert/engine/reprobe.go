package engine

import (
	"slices"
	"time"
)

// The budget of re-probes: a token bucket a canary for schedules faster than rareInterval.
const (
	reprobeBudget = 60.0 // full
	reprobeEarn   = 0.08 // for each regular probe
	roundReserve  = 20.0 // that a canary's own wishes leave to the rounds of its target
)

// reprobeApart is how near to a regular run a re-probe is not worth sending.
const reprobeApart = 15 * time.Second

// reprobeNear is how far from its time a re-probe may have been sent: it waits for room.
const reprobeNear = time.Minute

// reprobeTogether is how near to each other two wishes are one re-probe.
const reprobeTogether = 5 * time.Second

// ask is one re-probe that was asked for, and by which kinds: it is an observation of those only.
type ask struct {
	At    time.Time `json:"at"`
	Kinds []Kind    `json:"kinds"`
}

// reprobeTimes returns when to look again after a regular probe that breached or failed and ended at from.
func reprobeTimes(from time.Time, w Watched) []time.Time {
	if w.Canary.Interval <= fastInterval || w.Rule.Literal() || w.Rule.ReprobeEvery <= 0 {
		return nil
	}
	n := w.Rule.Reprobes
	if n > 0 && w.Canary.Interval >= rareInterval && w.Rule.Preset != "sharp" {
		n++
	}
	var at []time.Time
	for i := 1; i <= n; i++ {
		at = append(at, from.Add(time.Duration(i)*w.Rule.ReprobeEvery))
	}
	return apart(at, w.Due)
}

// calmTimes returns when to look again after the first calm regular probe while firing.
func calmTimes(from time.Time, w Watched) []time.Time {
	if w.Canary.Interval <= slowInterval || w.Rule.Literal() {
		return nil
	}
	return apart([]time.Time{from.Add(5 * time.Minute), from.Add(10 * time.Minute)}, w.Due)
}

// apart drops the times that are near a regular run.
func apart(at []time.Time, due func(time.Time) time.Time) []time.Time {
	if due == nil {
		return at
	}
	return slices.DeleteFunc(at, func(t time.Time) bool {
		next := due(t.Add(-reprobeApart - 1))
		return !next.IsZero() && !next.After(t.Add(reprobeApart))
	})
}

// request adds re-probes for kinds to the memo, as far as the budget goes, and returns the times that are new. One
// re-probe serves all who want it at that time. What is left in the bucket is never less than reserve.
func (m memo) request(at []time.Time, kinds []Kind, metered bool, reserve float64) (memo, []time.Time) {
	var fresh []time.Time
	asks := slices.Clone(m.Asks)
	for _, t := range at {
		i := slices.IndexFunc(asks, func(a ask) bool { return a.At.Sub(t).Abs() < reprobeTogether })
		switch {
		case i >= 0:
			asks[i].Kinds = union(asks[i].Kinds, kinds)
		case !metered || m.Tokens >= 1+reserve:
			if metered {
				m.Tokens--
			}
			asks = append(asks, ask{At: t, Kinds: slices.Clone(kinds)})
			fresh = append(fresh, t)
		}
	}
	m.Asks = asks
	return m, fresh
}

// asked reports whether a kind has a re-probe coming at about a time.
func (m memo) asked(at time.Time, k Kind) bool {
	return slices.ContainsFunc(m.Asks, func(a ask) bool {
		return a.At.Sub(at).Abs() < reprobeTogether && slices.Contains(a.Kinds, k)
	})
}

// answer takes out the ask that a re-probe sent at a time belongs to.
func (m memo) answer(at time.Time) (memo, ask, bool) {
	best := -1
	for i, a := range m.Asks {
		d := a.At.Sub(at).Abs()
		if d <= reprobeNear && (best < 0 || d < m.Asks[best].At.Sub(at).Abs()) {
			best = i
		}
	}
	if best < 0 {
		return m, ask{}, false
	}
	got := m.Asks[best]
	m.Asks = slices.Delete(slices.Clone(m.Asks), best, best+1)
	return m, got, true
}

// drop takes a kind out of what was asked for; it reports whether a re-probe is not needed any more, and gives its
// token back.
func (m memo) drop(k Kind, metered bool) (memo, bool) {
	var keep []ask
	for _, a := range m.Asks {
		kinds := slices.DeleteFunc(slices.Clone(a.Kinds), func(x Kind) bool { return x == k })
		if len(kinds) > 0 {
			keep = append(keep, ask{At: a.At, Kinds: kinds})
		} else if metered {
			m.Tokens++
		}
	}
	cut := len(keep) < len(m.Asks)
	m.Asks, m.Tokens = keep, min(m.Tokens, reprobeBudget)
	return m, cut
}

// lapse drops asks whose probe must have come by now.
func (m memo) lapse(now time.Time, longest time.Duration) memo {
	m.Asks = slices.DeleteFunc(slices.Clone(m.Asks), func(a ask) bool { return now.Sub(a.At) > longest+reprobeNear })
	return m
}

// times lists the asks that are still ahead.
func (m memo) times(now time.Time) []time.Time {
	var at []time.Time
	for _, a := range m.Asks {
		if a.At.After(now) {
			at = append(at, a.At)
		}
	}
	return at
}

func union(a, b []Kind) []Kind {
	out := slices.Clone(a)
	for _, k := range b {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func (c *watch) metered() bool { return c.Canary.Interval < rareInterval }

// ask asks the scheduler for the times that the budget allows.
func (e *Engine) ask(c *watch, at []time.Time, kinds []Kind) {
	if e.opt.Reprober == nil || len(at) == 0 || len(kinds) == 0 {
		return
	}
	var fresh []time.Time
	c.memo, fresh = c.memo.request(at, kinds, c.metered(), e.reserve(c, kinds))
	if len(fresh) > 0 {
		e.opt.Reprober.Reprobe(c.key, fresh)
	}
}

// reserve is what a wish leaves in the bucket: where a target is judged as a whole its rounds go first, or a noisy canary
// would spend on itself what all of them need.
func (e *Engine) reserve(c *watch, kinds []Kind) float64 {
	if isPoolKind(kinds[0]) || kinds[0].Metric() == "" || len(e.targets[c.Canary.Target.Name].pools) == 0 {
		return 0
	}
	return roundReserve
}

// unask cancels what was asked for by a kind alone.
func (e *Engine) unask(c *watch, k Kind, now time.Time) {
	if len(c.memo.Asks) == 0 {
		return
	}
	var cut bool
	if c.memo, cut = c.memo.drop(k, c.metered()); !cut || e.opt.Reprober == nil {
		return
	}
	e.reask(c, now)
}

// reask makes the scheduler's extra runs those of the memo.
func (e *Engine) reask(c *watch, now time.Time) {
	e.opt.Reprober.CancelReprobes(c.key)
	if at := c.memo.times(now); len(at) > 0 {
		e.opt.Reprober.Reprobe(c.key, at)
	}
}
