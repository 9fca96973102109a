package alert

import (
	"context"
	"slices"
	"time"
)

// setBack is how far the clock must go back for what was noted meanwhile to be taken for a mistake of the clock. It is as far
// ahead as a series takes values for true.
const setBack = time.Hour

// mistimed looks whether the clock was wrong until this tick.
func (e *Engine) mistimed(ctx context.Context) {
	switch gap := e.now.Sub(e.ticked); {
	case gap < -setBack:
		e.rewind()
	case gap > setBack && e.rewound: // it was set back by mistake: what was ahead then is true
		e.log.Warn("the clock jumped ahead after it was set back: reading histories again")
		e.rewound = false
	default:
		return
	}
	if err := e.reread(ctx); err != nil {
		e.log.Error("read histories again after the clock was set", "error", err)
	}
}

// rewind undoes what a clock that was ahead has left: histories that end in the future, and whose past has left for it,
// will be read again; looks that were asked for will not be answered; silences have not ended; and nothing that is open
// began later than now.
func (e *Engine) rewind() {
	e.log.Warn("the clock was set back: reading histories again")
	e.rewound = true
	over := func(s Silence) bool { return !s.Ends.After(e.now) }
	e.silences = append(slices.Clone(e.silences), slices.DeleteFunc(slices.Clone(e.lapsed), over)...)
	e.lapsed = slices.DeleteFunc(e.lapsed, func(s Silence) bool { return !over(s) })
	for _, t := range e.order {
		for _, c := range t.canaries {
			e.forgetAsks(c)
			c.memo.Told = slices.DeleteFunc(slices.Clone(c.memo.Told), func(x told) bool { return x.To.After(e.now) })
		}
		for _, p := range t.pools {
			p.again, p.round.Shares = nil, nil
			e.tx.pools[t] = true
		}
		e.eachOpen(t, e.begunByNow)
	}
}

// forgetAsks gives up the re-probes of a canary.
func (e *Engine) forgetAsks(c *watch) {
	if len(c.memo.Asks) == 0 {
		return
	}
	c.memo.Asks = nil
	if e.opt.Reprober != nil {
		e.opt.Reprober.CancelReprobes(c.key)
	}
	e.tx.touch(c)
}

// begunByNow brings an alert's times that lie ahead to now.
func (e *Engine) begunByNow(a Alert) Alert {
	if !a.Fired.After(e.now) {
		return a
	}
	for _, at := range []*time.Time{&a.Since, &a.FirstBreach, &a.Fired, &a.Steep} {
		if at.After(e.now) {
			*at = e.now
		}
	}
	a.Calm = nil
	e.tx.alert(a)
	return a
}
