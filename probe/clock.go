package probe

import (
	"context"
	"errors"
	"sync"
	"time"
)

// grace is how long after a deadline its timer fires. Data is judged by the stamp of its read, not by which goroutine
// woke first: bytes that came before the deadline and are read within grace still count.
const grace = 10 * time.Millisecond

// phase is a deadline's name; it is also the cause that a probe's context is cancelled with.
type phase uint8

// The phases, in the order in which they win a tie.
const (
	phaseConnect phase = iota
	phaseFirstToken
	phaseIdle
	phaseProgress
	phaseTotal
	phaseBody    // of an error's body: what is there by then must do
	phaseTrailer // after a finish reason: the end, a success
	phaseDrain   // after the last marker: the end, a success
	phases
)

// Error names the deadline that passed.
func (p phase) Error() string {
	return [phases]string{"connect_timeout", "first_token_timeout", "stall_timeout: idle", "stall_timeout: no_progress",
		"total_timeout", "error body", "trailer_wait", "drain"}[p]
}

// errClosed is the cause of a context that the probe cancels itself when it is done.
var errClosed = errors.New("probe ended")

// watch cancels one context with a distinct cause when the earliest of its deadlines has passed.
type watch struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	at    [phases]time.Time // zero = not set
	timer *time.Timer
	armed time.Time // when timer fires
	done  bool
}

func newWatch(cancel context.CancelCauseFunc) *watch { return &watch{cancel: cancel} }

// set gives p a deadline, replacing an earlier one. Later deadlines cost nothing: the timer re-arms itself as it fires.
func (w *watch) set(p phase, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[p] = at
	if w.done || w.timer != nil && !at.Add(grace).Before(w.armed) {
		return
	}
	w.arm(at.Add(grace))
}

// clear takes p's deadline away.
func (w *watch) clear(list ...phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range list {
		w.at[p] = time.Time{}
	}
}

// stop ends the watch.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// late returns the deadline that had passed at t; ok is false when none had.
func (w *watch) late(t time.Time) (p phase, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, at := w.earliest()
	return p, !at.IsZero() && t.After(at)
}

// arm sets the timer; the caller holds mu.
func (w *watch) arm(at time.Time) {
	w.armed = at
	if w.timer == nil {
		w.timer = time.AfterFunc(time.Until(at), w.fire)
		return
	}
	w.timer.Reset(time.Until(at))
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	p, at := w.earliest()
	if at.IsZero() {
		w.armed = time.Now().Add(1 << 60) // nothing to wait for: set arms anew
		return
	}
	if wait := time.Until(at.Add(grace)); wait > 0 {
		w.arm(at.Add(grace))
		return
	}
	w.done = true
	w.cancel(p)
}

func (w *watch) earliest() (phase, time.Time) {
	best := phase(0)
	for p := range phases {
		if !w.at[p].IsZero() && (w.at[best].IsZero() || w.at[p].Before(w.at[best])) {
			best = p
		}
	}
	return best, w.at[best]
}
