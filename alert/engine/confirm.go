package engine

import (
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// roundsMost follow a regular round that looks slow, until it does not any more.
const roundsMost = 9

// confirmation is a round of re-probes.
type confirmation struct {
	at     time.Time
	wanted []string // canaries
	shares map[string]share
}

// confirm asks for rounds of the canaries that spoke, the short ones first.
func (r *rounds) confirm(e *Engine, pooled []*canary, shares map[string]share) {
	rule := r.series.lead.Rule
	if r.pace() <= fastInterval || rule.Reprobes <= 0 || rule.ReprobeEvery <= 0 {
		return
	}
	var at []time.Time
	for i := 1; i <= roundsMost; i++ {
		at = append(at, e.now.Add(time.Duration(i)*rule.ReprobeEvery))
	}
	r.confirmAt(e, slices.DeleteFunc(slices.Clone(pooled), func(c *canary) bool { return !shares[c.key].known }), at)
}

// confirmAt asks for a round at each time; one that fewer than two canaries have the budget for is none.
func (r *rounds) confirmAt(e *Engine, members []*canary, at []time.Time) {
	for _, c := range bySize(members) {
		c.request(e, at, []alert.Kind{roundKind(r.metric)})
	}
	for _, t := range at {
		x := confirmation{at: t}
		for _, c := range bySize(members) {
			if c.hasAsked(t, roundKind(r.metric)) {
				x.wanted = append(x.wanted, c.key)
			}
		}
		if len(x.wanted) >= 2 {
			r.confirms = append(r.confirms, x)
		}
	}
}

// bySize lists canaries, those with short prompts first.
func bySize(list []*canary) []*canary {
	sizes := probe.Sizes()
	return slices.SortedStableFunc(slices.Values(list), func(a, b *canary) int {
		return slices.Index(sizes, a.Canary.Size) - slices.Index(sizes, b.Canary.Size)
	})
}

// addConfirmation adds a re-probe to the round that asked for it.
func (r *rounds) addConfirmation(e *Engine, c *canary, x share) {
	best := -1
	for i, y := range r.confirms {
		_, came := y.shares[c.key]
		if came || !slices.Contains(y.wanted, c.key) {
			continue
		}
		if best < 0 || y.at.Sub(x.at).Abs() < r.confirms[best].at.Sub(x.at).Abs() {
			best = i
		}
	}
	if best < 0 {
		return
	}
	y := &r.confirms[best]
	if y.shares == nil {
		y.shares = map[string]share{}
	}
	y.shares[c.key] = x
	if len(y.shares) == len(y.wanted) {
		r.closeConfirmation(e, best)
	}
}

func (r *rounds) closeConfirmation(e *Engine, i int) {
	x := r.confirms[i]
	r.confirms = slices.Delete(r.confirms, i, i+1)
	o, ok := r.observe(r.pooled(), x.wanted, x.shares)
	if !ok {
		return
	}
	o.Trigger = probe.Reprobe
	if t := r.step(e, o); t.View.Enough() && !r.series.alert.IsFiring() {
		r.cancel(e)
	}
}

// cancel takes back the rounds that were asked for.
func (r *rounds) cancel(e *Engine) {
	if e.folding {
		return
	}
	r.confirms = nil
	for _, c := range r.target.canaries {
		c.cancel(e, roundKind(r.metric))
	}
}

// recallConfirmations finds the rounds of re-probes that were under way or over in what canaries asked for.
func (r *rounds) recallConfirmations() {
	r.confirms = nil
	k := roundKind(r.metric)
	for _, c := range r.target.canaries {
		for _, a := range c.state.Asks {
			if slices.Contains(a.Kinds, k) {
				r.wantConfirmation(c.key, a.At)
			}
		}
	}
	slices.SortFunc(r.confirms, func(a, b confirmation) int { return a.at.Compare(b.at) })
	r.confirms = slices.DeleteFunc(r.confirms, func(x confirmation) bool { return len(x.wanted) < 2 })
}

func (r *rounds) wantConfirmation(key string, at time.Time) {
	i := slices.IndexFunc(r.confirms, func(x confirmation) bool { return x.at.Sub(at).Abs() < reprobeTogether })
	if i < 0 {
		r.confirms = append(r.confirms, confirmation{at: at})
		i = len(r.confirms) - 1
	}
	r.confirms[i].wanted = append(r.confirms[i].wanted, key)
}
