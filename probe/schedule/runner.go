package schedule

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
)

// ErrRemoved is the cause of a run's cancelled context when Set took its entry away.
var ErrRemoved = errors.New("entry was removed")

const (
	defaultWait = 10 * time.Second
	// heartbeat bounds one sleep of the loop: a suspend or a step of the clock is seen this late at most, because timers
	// count on a clock that knows neither.
	heartbeat = time.Second
)

// Runner fires entries when they are due. One loop sleeps until the next run; every run has its own goroutine. The
// methods are safe for concurrent use. Make one with New.
//
// A run is sent at its cron time plus Entry.Offset. Start-up, Set and Extra fire nothing that lies in the past: what was
// due before is another process's, or nobody's. A run that could not be sent within Wait of its time, because the
// process was stopped, the machine slept or the clock was set forward, is missed: it is counted through
// Options.Skipped and never made up for. When the clock is set back, the runs of the repeated time are not fired again,
// so a step of an hour gives an hour without runs; a longer step back means that the clock was wrong before, and the
// schedules start anew from the new time.
type Runner struct {
	options Options
	skew    func() time.Duration // added to the wall clock; nil outside tests

	wake   chan struct{} // the plan changed
	turned atomic.Pointer[time.Time]
	runs   sync.WaitGroup
	skips  *skips

	mu       sync.Mutex
	started  bool
	stopped  bool
	entries  map[string]*entry
	lanes    map[string]*lane
	plan     plan
	waiting  []*waiter // by deadline
	inFlight int
	seen     instant // of the last turn
}

// instant is one reading of both clocks: elapsed by now, which is monotonic where the clock gives that, wall for schedules.
type instant struct{ now, wall time.Time }

// entry is an Entry with what the Runner knows about it.
type entry struct {
	Entry
	offset time.Duration
	lanes  []*lane
	next   *item // regular run; nil = the schedule has none any more
	extras []*item
	last   time.Time // cron time of the last run fired or missed: nothing up to it is planned again
	waiter *waiter   // at most one waiting run
	runs   []*run    // going on
	gone   bool      // removed by Set
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// run is one call of Fire that goes on, with the lanes it holds.
type run struct{ lanes []*lane }

// New returns a Runner without entries. Options.Fire must be set.
func New(o Options) *Runner {
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	if o.BaseContext == nil {
		o.BaseContext = context.Background()
	}
	return &Runner{options: o, wake: make(chan struct{}, 1), skips: newSkips(o.Skipped),
		entries: map[string]*entry{}, lanes: map[string]*lane{}}
}

// Set replaces the entries, at first and at a reload. An entry that stays keeps its place and its pending, waiting and
// running runs; when its schedule or spread changed, it continues from now, and never with a time that it already had.
// The runs of an entry that is gone are cut: pending and waiting ones silently, running ones by their context with the cause
// ErrRemoved. Keys must be unique; of two equal ones the last counts.
func (r *Runner) Set(entries []Entry) {
	offsets := make([]time.Duration, len(entries)) // outside the lock: they walk through a week at worst
	for i, e := range entries {
		offsets[i] = e.Offset()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.read()
	switch {
	case r.seen.now.IsZero():
		r.seen = at
	case r.started && !r.stopped:
		r.advance(at) // what is due at this very instant is still the old entries'
	}
	keep := make(map[string]bool, len(entries))
	for i, e := range entries {
		keep[e.Key] = true
		r.put(e, offsets[i], at.wall)
	}
	for key, e := range r.entries {
		if !keep[key] {
			r.remove(e)
		}
	}
	r.setLanes()
	r.wakeUp()
}

// put adds or changes one entry; the caller holds mu.
func (r *Runner) put(e Entry, offset time.Duration, wall time.Time) {
	have := r.entries[e.Key]
	if have == nil {
		have = &entry{}
		have.ctx, have.cancel = context.WithCancelCause(r.options.BaseContext)
		r.entries[e.Key] = have
	}
	same := have.Schedule != nil && have.offset == offset && equal(have.Schedule, e.Schedule)
	have.Entry, have.offset = e, offset
	if !same {
		r.replan(have, wall)
	}
}

// equal reports whether two schedules give the same runs, as far as can be told.
func equal(a, b cron.Schedule) bool {
	if fa, ok := a.(fields); ok {
		fb, ok := b.(fields)
		return ok && fa.text == fb.text && fa.zone.String() == fb.zone.String()
	}
	return reflect.DeepEqual(a, b)
}

// remove takes an entry away; the caller holds mu.
func (r *Runner) remove(e *entry) {
	delete(r.entries, e.Key)
	r.plan.remove(e.next)
	r.dropExtras(e)
	if e.waiter != nil {
		r.forget(e.waiter)
	}
	e.gone = true
	e.cancel(ErrRemoved)
}

// Run fires what is due until ctx ends, then drops what waits, waits for the runs that go on and for the last call of
// Skipped, and returns nil. It runs once: a second call is an error.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.start(); err != nil {
		return err
	}
	var told sync.WaitGroup
	told.Go(r.skips.deliver)
	r.loop(ctx)
	r.stop()
	r.runs.Wait()
	r.skips.close()
	told.Wait()
	r.release()
	return nil
}

func (r *Runner) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return errors.New("run schedule: runner was started before")
	}
	if r.options.Fire == nil {
		return errors.New("run schedule: Options.Fire is not set")
	}
	r.started = true
	if r.seen.now.IsZero() {
		r.seen = r.read()
	}
	return nil
}

func (r *Runner) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return // when both are ready, nothing is fired after the end
		}
		timer.Reset(r.turn())
	}
}

func (r *Runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, w := range r.waiting {
		if !w.gone {
			r.forget(w)
		}
	}
}

// release frees the contexts of all entries.
func (r *Runner) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		e.cancel(context.Canceled)
	}
}

func (r *Runner) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default: // it wakes up already
	}
}

// read takes both clocks at once.
func (r *Runner) read() instant {
	now := time.Now()
	wall := now.Round(0)
	if r.skew != nil {
		wall = wall.Add(r.skew())
	}
	return instant{now: now, wall: wall}
}

// InFlight returns how many runs go on.
func (r *Runner) InFlight() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight
}

// Turned returns when the loop last turned, at most about a second ago while it lives; zero before Run.
func (r *Runner) Turned() time.Time {
	if t := r.turned.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// Next returns when the next regular run of key will be sent (cron time plus offset, in the schedule's zone); zero when
// the key is unknown or its schedule has no further run.
func (r *Runner) Next(key string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil && e.next != nil {
		return e.next.at
	}
	return time.Time{}
}
