package engine

import (
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// The budget of re-probes: a token bucket a canary for schedules faster than rareInterval.
const (
	reprobeBudget = 60.0 // full
	reprobeEarn   = 0.08 // for each regular probe
	roundReserve  = 20.0 // that a canary's own series leave to the rounds of its target
)

const (
	reprobeApart    = 15 * time.Second // nearer to a regular run a re-probe is not worth sending
	reprobeNear     = time.Minute      // how far from its time a re-probe may have been sent: it waits for room
	reprobeTogether = 5 * time.Second  // two that are wanted nearer to each other are one
)

const (
	fastInterval = time.Minute      // at this and less there are no re-probes
	slowInterval = 10 * time.Minute // slower: the first calm run is followed by re-probes
	rareInterval = 15 * time.Minute // this and slower: one re-probe more, and no budget
)

// ask is one re-probe that was asked for, and by which kinds: it is an observation of those only. Once a sample has answered it, it is
// kept for as long as stored samples may be stepped again.
type ask struct {
	At    time.Time    `json:"at"`
	Kinds []alert.Kind `json:"kinds"`
	By    time.Time    `json:"by,omitzero"` // when the sample that answered was sent
}

func (a *ask) isOpen() bool { return a.By.IsZero() }

// roundKind is how a re-probe says that a round asked for it.
func roundKind(m probe.Metric) alert.Kind { return alert.Kind("round/" + m) }

func isRoundKind(k alert.Kind) bool { return len(k) > 6 && k[:6] == "round/" }

// reprobeTimes returns when to look again after a regular probe that breached or failed and ended at from.
func reprobeTimes(from time.Time, w alert.Watched) []time.Time {
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
	return at
}

// calmTimes returns when to look again after the first calm run while an alert fires, of what comes at an interval.
func calmTimes(from time.Time, interval time.Duration) []time.Time {
	if interval <= slowInterval {
		return nil
	}
	return []time.Time{from.Add(5 * time.Minute), from.Add(10 * time.Minute)}
}

// apart drops the times that are near a regular run.
func apart(at []time.Time, due func(time.Time) time.Time) []time.Time {
	if due == nil {
		return at
	}
	return slices.DeleteFunc(slices.Clone(at), func(t time.Time) bool {
		next := due(t.Add(-reprobeApart - 1))
		return !next.IsZero() && !next.After(t.Add(reprobeApart))
	})
}

func (c *canary) isMetered() bool { return c.Canary.Interval < rareInterval }

// earn fills the bucket by what a regular probe earns. That is not stored: a start counts the probes since.
func (c *canary) earn() { c.state.Tokens = min(c.state.Tokens+reprobeEarn, reprobeBudget) }

// request asks for re-probes at times for kinds, as far as the budget goes. One re-probe serves all who want it at that time.
func (c *canary) request(e *Engine, at []time.Time, kinds []alert.Kind) {
	if !e.opt.Reprobes || e.folding || len(at) == 0 {
		return
	}
	reserve := c.reserve(kinds)
	asks := slices.Clone(c.state.Asks)
	for _, t := range apart(at, c.Due) {
		i := slices.IndexFunc(asks, func(a ask) bool { return a.isOpen() && a.At.Sub(t).Abs() < reprobeTogether })
		switch {
		case i >= 0:
			asks[i].Kinds = union(asks[i].Kinds, kinds)
			c.unsaved = true
		case !c.isMetered() || c.state.Tokens >= 1+reserve:
			if c.isMetered() {
				c.state.Tokens--
			}
			asks = append(asks, ask{At: t, Kinds: slices.Clone(kinds)})
			c.unsaved, c.reask = true, true
		}
	}
	c.state.Asks = asks
	e.change.canary(c)
}

// reserve is what kinds leave in the bucket: where a target is judged as a whole its rounds go first, or a noisy canary would
// spend on itself what all of them need.
func (c *canary) reserve(kinds []alert.Kind) float64 {
	if isRoundKind(kinds[0]) || kinds[0].Metric() == "" || len(c.target.rounds) == 0 {
		return 0
	}
	return roundReserve
}

// hasAsked reports whether a kind has a re-probe coming at about a time.
func (c *canary) hasAsked(at time.Time, k alert.Kind) bool {
	return slices.ContainsFunc(c.state.Asks, func(a ask) bool {
		return a.isOpen() && a.At.Sub(at).Abs() < reprobeTogether && slices.Contains(a.Kinds, k)
	})
}

// requestCalm asks for re-probes after the first calm run on a slow schedule.
func (s *series) requestCalm(e *Engine, o alert.Observation, t alert.Turn) {
	if t.Calm && isRegular(o.Trigger) && s.alert.IsFiring() && !s.lead.Rule.Literal() {
		s.lead.request(e, calmTimes(e.now, s.lead.Canary.Interval), []alert.Kind{s.kind})
	}
}

// answer finds the re-probe that a sample answers, by when it was due, and returns the kinds that it is an observation of.
func (c *canary) answer(e *Engine, s *probe.Sample, due time.Time) []alert.Kind {
	best := -1
	for i := range c.state.Asks {
		a := &c.state.Asks[i]
		d := a.At.Sub(due).Abs()
		if a.isOpen() && d <= reprobeNear && (best < 0 || d < c.state.Asks[best].At.Sub(due).Abs()) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	if s.Outcome == probe.Skipped {
		c.refund() // never sent
	}
	c.state.Asks = slices.Clone(c.state.Asks)
	c.state.Asks[best].By = s.Time
	c.unsaved = true
	return c.state.Asks[best].Kinds
}

// answered returns the kinds that a stored sample was an observation of.
func (c *canary) answered(s *probe.Sample) []alert.Kind {
	if s.Regular() {
		return c.kinds
	}
	for _, a := range c.state.Asks {
		if a.By.Equal(s.Time) {
			return a.Kinds
		}
	}
	return nil
}

func (c *canary) refund() {
	if c.isMetered() {
		c.state.Tokens = min(c.state.Tokens+1, reprobeBudget)
	}
}

// cancelReprobes takes back what a series alone has asked for.
func (s *series) cancelReprobes(e *Engine) {
	if r, ok := s.judge.(*rounds); ok {
		r.cancel(e)
	} else if !s.isWhole() {
		s.lead.cancel(e, s.kind)
	}
}

func (c *canary) cancel(e *Engine, k alert.Kind) {
	if e.folding || !slices.ContainsFunc(c.state.Asks, func(a ask) bool { return a.isOpen() && slices.Contains(a.Kinds, k) }) {
		return
	}
	keep := make([]ask, 0, len(c.state.Asks))
	for _, a := range c.state.Asks {
		if a.isOpen() {
			a.Kinds = slices.DeleteFunc(slices.Clone(a.Kinds), func(x alert.Kind) bool { return x == k })
		}
		if len(a.Kinds) > 0 {
			keep = append(keep, a)
			continue
		}
		c.refund()
		c.reask = true
	}
	c.state.Asks, c.unsaved = keep, true
	e.change.canary(c)
}

// dropLateReprobes drops those whose probe must have come by now, and answered ones that nothing looks back to.
func (c *canary) dropLateReprobes(e *Engine) {
	late := func(a ask) bool {
		if a.isOpen() {
			return e.now.Sub(a.At) > c.Canary.Target.TotalTimeout+reprobeNear
		}
		return e.now.Sub(a.By) > c.lookback()
	}
	if slices.ContainsFunc(c.state.Asks, late) {
		c.state.Asks = slices.DeleteFunc(slices.Clone(c.state.Asks), late)
		c.unsaved = true
		e.change.canary(c)
	}
}

// wantReprobes returns the re-probes of a canary that are still ahead, where they changed.
func (c *canary) wantReprobes(e *Engine) {
	if !c.reask {
		return
	}
	c.reask = false
	var at []time.Time
	for _, a := range c.state.Asks {
		if a.isOpen() && a.At.After(e.now) {
			at = append(at, a.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	e.change.Reprobes = append(e.change.Reprobes, alert.Reprobe{Canary: c.key, At: at})
}

func union(a, b []alert.Kind) []alert.Kind {
	out := slices.Clone(a)
	for _, k := range b {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
