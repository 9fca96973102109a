package engine

import (
	"slices"
	"time"

	"serin/probe"
)

// askRounds asks for rounds of the same canaries, the short ones first.
func (e *Engine) askRounds(t *target, p *pool, pooled []*watch, shares map[string]spoken) {
	rule := t.lead(p.metric).Rule
	if t.pace(p.metric) <= fastInterval || rule.Reprobes <= 0 || rule.ReprobeEvery <= 0 {
		return
	}
	var at []time.Time
	for i := 1; i <= reRounds; i++ {
		at = append(at, e.now.Add(time.Duration(i)*rule.ReprobeEvery))
	}
	e.askRoundsAt(p, pooled, shares, at)
}

// askRoundsAt asks for a round at each time; one that fewer than two canaries have the budget for is none.
func (e *Engine) askRoundsAt(p *pool, pooled []*watch, shares map[string]spoken, at []time.Time) {
	if e.opt.Reprober == nil {
		return
	}
	rounds := make([]reRound, len(at))
	for i := range at {
		rounds[i].At = at[i]
	}
	for _, c := range bySize(pooled) {
		if !shares[c.key].Known {
			continue
		}
		e.ask(c, apart(slices.Clone(at), c.Due), []Kind{poolKind(p.metric)})
		for i := range rounds {
			if c.memo.asked(rounds[i].At, poolKind(p.metric)) {
				rounds[i].Want = append(rounds[i].Want, c.key)
			}
		}
		e.tx.touch(c)
	}
	for _, r := range rounds {
		if len(r.Want) >= 2 {
			p.again = append(p.again, r)
		}
	}
}

// bySize lists canaries, those with short prompts first.
func bySize(list []*watch) []*watch {
	sizes := probe.Sizes()
	return slices.SortedStableFunc(slices.Values(list), func(a, b *watch) int {
		return slices.Index(sizes, a.Canary.Size) - slices.Index(sizes, b.Canary.Size)
	})
}

// pourAgain adds a re-probe to the round that asked for it.
func (e *Engine) pourAgain(t *target, p *pool, c *watch, x spoken) {
	best := -1
	for i, r := range p.again {
		_, came := r.Shares[c.key]
		if came || !slices.Contains(r.Want, c.key) {
			continue
		}
		if best < 0 || r.At.Sub(x.At).Abs() < p.again[best].At.Sub(x.At).Abs() {
			best = i
		}
	}
	if best < 0 {
		return
	}
	e.tx.pour(t)
	p.again = slices.Clone(p.again)
	r := &p.again[best]
	if r.Shares == nil {
		r.Shares = map[string]spoken{}
	}
	r.Shares[c.key] = x
	if len(r.Shares) == len(r.Want) {
		e.closeAgain(t, p, best)
	}
}

func (e *Engine) closeAgain(t *target, p *pool, i int) {
	r := p.again[i]
	p.again = slices.Delete(slices.Clone(p.again), i, i+1)
	e.tx.pools[t] = true
	o, ok := e.weighRound(t, p, t.pooled(p.metric), r.Want, r.Shares)
	if ok {
		o.Trigger = probe.Reprobe
		if tn := e.stepPool(t, p, o); tn.view.enough() && !p.alert.Open() {
			e.dropRounds(t, p)
		}
	}
}

// dropRounds takes back the rounds that were asked for.
func (e *Engine) dropRounds(t *target, p *pool) {
	p.again = nil
	for _, c := range t.canaries {
		e.unask(c, poolKind(p.metric), e.now)
		e.tx.touch(c)
	}
}
