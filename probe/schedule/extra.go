package schedule

import "time"

// maxExtras bounds the pending extra runs of one entry; more are skipped.
const maxExtras = 64

// Extra adds runs of key at the given times on top of its schedule (re-probes). They obey the lanes and the same rules of lateness;
// a time that is pending already is not added again. An unknown key is ignored: its entry was removed meanwhile. At most 64
// may be pending an entry; more are skipped for want of room. Whoever asks takes care that none falls next to a
// regular run.
func (r *Runner) Extra(key string, at []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[key]
	if e == nil {
		return
	}
	for _, t := range at {
		r.addExtra(e, t.Round(0))
	}
	r.wakeUp()
}

func (r *Runner) addExtra(e *entry, t time.Time) {
	for _, it := range e.extras {
		if it.due.Equal(t) {
			return
		}
	}
	it := &item{entry: e, due: t, at: t, extra: true}
	if len(e.extras) >= maxExtras {
		r.skips.add(skipped{tick: it.tick(r.read()), why: SkipNoRoom, n: 1})
		return
	}
	e.extras = append(e.extras, it)
	r.plan.add(it)
}

// CancelExtra drops the pending and waiting extra runs of key; running ones go on.
func (r *Runner) CancelExtra(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[key]
	if e == nil {
		return
	}
	r.dropExtras(e)
	if e.waiter != nil && e.waiter.tick.Extra {
		r.forget(e.waiter)
	}
}

func (r *Runner) dropExtras(e *entry) {
	for _, it := range e.extras {
		r.plan.remove(it)
	}
	e.extras = nil
}
