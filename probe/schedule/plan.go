package schedule

import (
	"container/heap"
	"time"
)

const (
	// jump is how far the wall clock may run away from the monotonic one between two turns before it counts as a suspend or a
	// step. Slewing moves it by 0.5 ms a second.
	jump = time.Second
	// maxRepeat is the longest step back whose repeated time stays without runs.
	maxRepeat = time.Hour
	// maxMissed bounds the count of missed runs of one entry: a clock that was years wrong must not be walked through.
	maxMissed = 100_000
)

// item is one planned run.
type item struct {
	entry *entry
	due   time.Time // cron time, or the time asked for
	at    time.Time // when to send it, wall clock
	extra bool
	index int // in the plan
}

// tick returns the run as the caller sees it; its Sched is measured from the instant, so that it is monotonic where the
// clock is.
func (it *item) tick(now instant) Tick {
	return Tick{Key: it.entry.Key, Due: it.due, Sched: now.now.Add(it.at.Sub(now.wall)), Extra: it.extra}
}

// plan holds all planned runs, the earliest first.
type plan struct{ items byTime }

func (p *plan) add(it *item) { heap.Push(&p.items, it) }

// remove takes it out; nil and items that are out already are fine.
func (p *plan) remove(it *item) {
	if it != nil && it.index < len(p.items) && p.items[it.index] == it {
		heap.Remove(&p.items, it.index)
	}
}

func (p *plan) first() *item {
	if len(p.items) == 0 {
		return nil
	}
	return p.items[0]
}

// byTime is a heap.
type byTime []*item

var _ heap.Interface = (*byTime)(nil)

func (b byTime) Len() int { return len(b) }

func (b byTime) Less(i, j int) bool {
	if c := b[i].at.Compare(b[j].at); c != 0 {
		return c < 0
	}
	return b[i].entry.Key < b[j].entry.Key
}

func (b byTime) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = i, j
}

func (b *byTime) Push(x any) {
	it := x.(*item)
	it.index = len(*b)
	*b = append(*b, it)
}

func (b *byTime) Pop() any {
	last := len(*b) - 1
	it := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	it.index = -1
	return it
}

// turn fires and skips what is due and returns how long the loop may sleep.
func (r *Runner) turn() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.read()
	r.turned.Store(&at.now)
	r.advance(at)
	return r.sleep(at)
}

// advance fires and skips what is due at at; the caller holds mu.
func (r *Runner) advance(at instant) {
	reached := at.wall // up to here the time really went by
	switch jumped := at.wall.Sub(r.seen.wall) - at.now.Sub(r.seen.now); {
	case jumped > jump:
		reached = at.wall.Add(-jumped)
	case jumped < -jump:
		r.setBack(-jumped, at.wall)
	}
	r.seen = at
	r.expire(at.now) // first, so that a run due now may take the waiting place of one that gives up now
	for it := r.plan.first(); it != nil && !it.at.After(at.wall); it = r.plan.first() {
		if it.extra {
			r.dueExtra(it, at, reached)
		} else {
			r.dueRegular(it, at, reached)
		}
	}
}

// sleep returns the time until something is to be done.
func (r *Runner) sleep(at instant) time.Duration {
	d := heartbeat
	if it := r.plan.first(); it != nil {
		d = min(d, it.at.Sub(at.wall))
	}
	if len(r.waiting) > 0 {
		d = min(d, r.waiting[0].deadline.Sub(at.now))
	}
	return max(d, 0)
}

func (r *Runner) dueExtra(it *item, at instant, reached time.Time) {
	r.plan.remove(it)
	e := it.entry
	for i, have := range e.extras {
		if have == it {
			e.extras = append(e.extras[:i], e.extras[i+1:]...)
			break
		}
	}
	if it.at.After(reached) || reached.Sub(it.at) > r.options.Wait {
		r.skips.add(skipped{tick: it.tick(at), why: SkipMissed, n: 1})
		return
	}
	r.launch(e, it.tick(at), at)
}

// dueRegular plans the entry's next run and fires the one that is due, which is the latest where several are; the others were
// missed.
func (r *Runner) dueRegular(it *item, at instant, reached time.Time) {
	e := it.entry
	first, horizon := it.due, at.wall.Add(-e.offset) // cron times up to horizon are due
	fresh := e.fresh(first, reached.Add(-e.offset), r.options.Wait)
	next := e.Schedule.Next(first)
	if fresh.Equal(first) && (next.IsZero() || next.After(horizon)) {
		e.last = first
	} else {
		r.miss(e, first, horizon, fresh, at)
		e.last = horizon
		next = e.Schedule.Next(horizon)
	}
	r.plan.remove(it)
	r.place(e, next)
	if !fresh.IsZero() {
		due := item{entry: e, due: fresh, at: fresh.Add(e.offset)}
		r.launch(e, due.tick(at), at)
	}
}

// fresh returns the latest cron time from first to reached that is not older than wait; zero when there is none.
func (e *entry) fresh(first, reached time.Time, wait time.Duration) (latest time.Time) {
	t := first
	if oldest := reached.Add(-wait); t.Before(oldest) {
		t = e.Schedule.Next(oldest.Add(-time.Nanosecond))
	}
	for ; !t.IsZero() && !t.After(reached); t = e.Schedule.Next(t) {
		latest = t
	}
	return latest
}

// miss counts the cron times from first to horizon but fresh. The walk is left to the goroutine that calls Skipped.
func (r *Runner) miss(e *entry, first, horizon, fresh time.Time, at instant) {
	s := e.Schedule
	from := first
	if from.Equal(fresh) {
		from = s.Next(first)
	}
	missed := item{entry: e, due: from, at: from.Add(e.offset)}
	r.skips.add(skipped{tick: missed.tick(at), why: SkipMissed, count: func() int {
		n := 0
		for t := range Runs(s, from, horizon.Add(time.Nanosecond)) {
			if !t.Equal(fresh) {
				n++
			}
			if n == maxMissed {
				break
			}
		}
		return n
	}})
}

// place plans the entry's run of cron time due; the zero time plans none.
func (r *Runner) place(e *entry, due time.Time) {
	e.next = nil
	if due.IsZero() {
		return
	}
	e.next = &item{entry: e, due: due, at: due.Add(e.offset)}
	r.plan.add(e.next)
}

// replan plans the entry's first run that is sent after wall and was not fired before.
func (r *Runner) replan(e *entry, wall time.Time) {
	after := wall.Add(-e.offset)
	if after.Before(e.last) {
		after = e.last
	}
	r.plan.remove(e.next)
	r.place(e, e.Schedule.Next(after))
}

// setBack follows a clock that was set back by d to wall. Extra runs keep their distance in real time.
func (r *Runner) setBack(d time.Duration, wall time.Time) {
	for _, e := range r.entries {
		for _, it := range e.extras {
			it.due, it.at = it.due.Add(-d), it.at.Add(-d)
		}
	}
	heap.Init(&r.plan.items)
	if d <= maxRepeat {
		return
	}
	for _, e := range r.entries {
		e.last = time.Time{}
		r.replan(e, wall)
	}
}
