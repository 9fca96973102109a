package schedule

import (
	"slices"
	"time"
)

// lane is a Lane with what holds it and what waits for it.
type lane struct {
	max   int // 0 = no bound
	used  int
	queue []*waiter // in order of arrival
	gone  int       // how many of queue wait no longer
}

func (l *lane) full() bool { return l.max > 0 && l.used >= l.max }

// waiter is a due run without room.
type waiter struct {
	entry    *entry
	tick     Tick
	deadline time.Time // on the monotonic clock
	gone     bool      // fired, skipped or dropped
}

// setLanes makes the lanes what the entries say, and starts what has room now; the caller holds mu.
func (r *Runner) setLanes() {
	for _, l := range r.lanes {
		l.max, l.queue, l.gone = 0, nil, 0
	}
	used := map[*lane]bool{}
	for _, e := range r.entries {
		e.lanes = e.lanes[:0:0] // a new slice: running ones hold the old one
		for _, want := range e.Lanes {
			l := r.lane(want)
			used[l] = true
			if !slices.Contains(e.lanes, l) {
				e.lanes = append(e.lanes, l)
			}
		}
	}
	for name, l := range r.lanes {
		if !used[l] && l.used == 0 {
			delete(r.lanes, name)
		}
	}
	for _, w := range r.waiting {
		if !w.gone {
			r.enqueue(w)
		}
	}
	for _, w := range r.waiting {
		if !w.gone && w.entry.fits() {
			r.admit(w)
		}
	}
}

// lane returns the lane of that name with its bound lowered to want's.
func (r *Runner) lane(want Lane) *lane {
	l := r.lanes[want.Name]
	if l == nil {
		l = &lane{}
		r.lanes[want.Name] = l
	}
	if want.Max > 0 && (l.max == 0 || want.Max < l.max) {
		l.max = want.Max
	}
	return l
}

// launch starts a due run, or makes it wait, or skips it when its entry has one waiting already.
func (r *Runner) launch(e *entry, t Tick, at instant) {
	if e.fits() {
		r.begin(e, t)
		return
	}
	if w := e.waiter; w != nil {
		if t.Extra || !w.tick.Extra {
			r.skips.add(skipped{tick: t, why: e.why(), n: 1})
			return
		}
		r.forget(w) // a regular run takes the place of an extra one
		r.skips.add(skipped{tick: w.tick, why: e.why(), n: 1})
	}
	w := &waiter{entry: e, tick: t, deadline: at.now.Add(r.options.Wait)}
	e.waiter = w
	r.waiting = append(r.waiting, w)
	r.enqueue(w)
}

func (r *Runner) enqueue(w *waiter) {
	for _, l := range w.entry.lanes {
		l.queue = append(l.queue, w)
	}
}

// fits reports whether all lanes of e have room.
func (e *entry) fits() bool {
	return !slices.ContainsFunc(e.lanes, (*lane).full)
}

// why says whose runs take the room: SkipOverlap when every full lane would have room were it not for e's own earlier runs.
func (e *entry) why() Skip {
	for _, l := range e.lanes {
		if l.full() && !e.holds(l) {
			return SkipNoRoom
		}
	}
	return SkipOverlap
}

func (e *entry) holds(l *lane) bool {
	return slices.ContainsFunc(e.runs, func(x *run) bool { return slices.Contains(x.lanes, l) })
}

// begin fires one run in its own goroutine; the caller holds mu and knows that there is room.
func (r *Runner) begin(e *entry, t Tick) {
	this := &run{lanes: e.lanes}
	for _, l := range this.lanes {
		l.used++
	}
	e.runs = append(e.runs, this)
	r.inFlight++
	r.runs.Go(func() {
		r.options.Fire(e.ctx, t)
		r.finish(e, this)
	})
}

// finish frees the lanes of a run and hands them to whoever waits.
func (r *Runner) finish(e *entry, this *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range this.lanes {
		l.used--
	}
	e.runs = slices.DeleteFunc(e.runs, func(x *run) bool { return x == this })
	r.inFlight--
	if r.stopped {
		return
	}
	for _, l := range this.lanes {
		r.serve(l)
	}
}

// serve starts waiting runs of l in order of arrival; one that waits for another lane too holds nobody up.
func (r *Runner) serve(l *lane) {
	for !l.full() {
		i := slices.IndexFunc(l.queue, func(w *waiter) bool { return !w.gone && w.entry.fits() })
		if i < 0 {
			return
		}
		r.admit(l.queue[i])
	}
}

// admit starts a waiting run.
func (r *Runner) admit(w *waiter) {
	r.forget(w)
	r.begin(w.entry, w.tick)
}

// forget takes w out of the waiting ones. The lists keep it a while, marked as gone, so that 10 000 expiries do not
// cost 10 000 searches.
func (r *Runner) forget(w *waiter) {
	w.gone = true
	w.entry.waiter = nil
	for _, l := range w.entry.lanes {
		if l.gone++; 2*l.gone > len(l.queue) {
			l.queue = slices.DeleteFunc(l.queue, func(x *waiter) bool { return x.gone })
			l.gone = 0
		}
	}
}

// expire skips the runs that waited long enough.
func (r *Runner) expire(now time.Time) {
	n := 0
	for _, w := range r.waiting {
		if !w.gone && w.deadline.After(now) {
			break
		}
		if n++; !w.gone {
			why := w.entry.why()
			r.forget(w)
			r.skips.add(skipped{tick: w.tick, why: why, n: 1})
		}
	}
	r.waiting = slices.Delete(r.waiting, 0, n)
}
