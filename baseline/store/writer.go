package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"serin/alert"
)

// writer owns the goroutine that writes, and the queue before it.
type writer struct {
	path   string
	db     *sql.DB
	log    *slog.Logger
	limits limits
	ids    *ids // of the writing goroutine alone
	zone   func(scene string) *time.Location

	failures, dropped atomic.Int64

	mu       sync.Mutex
	q        queue
	broken   error // why the last write failed; nil = healthy
	closed   bool
	notifier *healthNotifier

	wake chan struct{} // something to write
	now  chan struct{} // do not wait for company
	quit chan struct{} // closed by stop: drain and end

	abandon chan struct{} // closed by stop: end without draining
	done    chan struct{} // closed when the goroutine has ended
}

func startWriter(s *Store, l limits) *writer {
	w := &writer{path: s.path, db: s.write, log: s.log, limits: l, ids: newIDs(), zone: s.opt.zoned, notifier: newHealthNotifier(s.opt.OnHealth),
		wake: make(chan struct{}, 1), now: make(chan struct{}, 1), quit: make(chan struct{}),
		abandon: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

var errClosed = errors.New("store is closed")

func (w *writer) commit(ctx context.Context, c alert.Change) error {
	e := newEntry(w.ops(c), c)
	if len(e.ops) == 0 {
		return nil
	}
	return w.submit(ctx, e)
}

// awaitAll waits for all that was committed before.
func (w *writer) awaitAll(ctx context.Context) error {
	return w.submit(ctx, &entry{urgent: true, done: make(chan error, 1)})
}

// submit puts a change into the queue and waits for the disk where it is urgent.
func (w *writer) submit(ctx context.Context, e *entry) error {
	broken, err := w.enqueue(e)
	if err != nil {
		return err
	}
	if !e.urgent {
		return nil
	}
	poke(w.now)
	if broken != nil {
		return fmt.Errorf("commit: not on disk yet: %w", broken)
	}
	return w.await(ctx, e)
}

// enqueue returns why the store is broken, if it is; the change is in the queue all the same unless err is not nil.
func (w *writer) enqueue(e *entry) (broken, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errClosed
	}
	w.q.add(e)
	if n := w.q.dropOldest(w.limits.bytes, w.limits.records); n > 0 {
		w.dropped.Add(int64(n))
		w.log.Warn("store queue is full: oldest samples dropped", "path", w.path, "dropped", n, "dropped_total", w.dropped.Load())
	}
	poke(w.wake)
	if w.q.bytes > w.limits.batch {
		poke(w.now) // company enough
	}
	return w.broken, nil
}

func (w *writer) await(ctx context.Context, e *entry) error {
	limit := time.NewTimer(w.limits.answer)
	defer limit.Stop()
	select {
	case err := <-e.done:
		if err != nil {
			return fmt.Errorf("commit: not on disk yet: %w", err)
		}
		return nil
	case <-limit.C:
		w.hang(e)
		return fmt.Errorf("commit: not on disk after %v: store %q: %w", w.limits.answer, w.path, errHung)
	case <-ctx.Done():
		return fmt.Errorf("commit: not on disk yet: %w", context.Cause(ctx))
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // already poked
	}
}

// run gathers and writes until stop; a failed write is tried again, later and later up to 5 s, or at once when a notice
// comes in.
func (w *writer) run() {
	defer close(w.done)
	for w.gather() {
		pause := 50 * time.Millisecond
		for !w.flush() {
			if !w.rest(pause) {
				return
			}
			pause = min(2*pause, 5*time.Second)
		}
	}
}

// gather waits until there is something to write and its time has come; false means that the store is closing and
// nothing is left.
func (w *writer) gather() bool {
	select {
	case <-w.wake:
	case <-w.quit:
		changes, _ := w.pending()
		return changes > 0
	}
	company := time.NewTimer(w.limits.gather)
	defer company.Stop()
	select {
	case <-company.C:
	case <-w.now:
	case <-w.quit:
	}
	return true
}

// rest waits before a write is tried again; false means to give up, because the store is closing.
func (w *writer) rest(pause time.Duration) bool {
	quit := w.quit
	if w.closing() {
		quit, pause = nil, min(pause, 100*time.Millisecond)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.now:
	case <-quit:
	case <-w.abandon:
		return false
	}
	return true
}

// flush writes what the queue holds, transaction by transaction; false means that one failed.
func (w *writer) flush() bool {
	for {
		w.mu.Lock()
		batch := w.q.take(w.limits.batch)
		w.mu.Unlock()
		if len(batch) == 0 {
			return true
		}
		hung := time.AfterFunc(w.limits.answer, func() { w.hang(batch[0]) })
		err := w.store(batch)
		hung.Stop()
		w.settle(batch, err)
		if err != nil {
			return false
		}
	}
}

// store writes a batch in one transaction. Where SQLite refuses a row itself, that row alone is given up, aloud: neither the other
// rows of its change nor what is behind it may wait for it.
func (w *writer) store(batch []*entry) error {
	err := inTx(context.Background(), w.db, w.ids, func(t *txn) error {
		for _, e := range batch {
			if err := e.apply(t); err != nil {
				return err
			}
		}
		return nil
	})
	if !refused(err) {
		return explain(w.path, err)
	}
	for _, e := range batch {
		if err := w.storeAlone(e); err != nil {
			return explain(w.path, err)
		}
	}
	return nil
}

func (e *entry) apply(t *txn) error {
	for _, o := range e.ops {
		if err := o.apply(t); err != nil {
			return err
		}
	}
	return nil
}

// storeAlone writes one change without the rows that SQLite refuses: a statement that fails leaves its transaction as it was.
func (w *writer) storeAlone(e *entry) error {
	var lost []error
	err := inTx(context.Background(), w.db, w.ids, func(t *txn) error {
		lost = nil
		for _, o := range e.ops {
			if err := o.apply(t); refused(err) {
				lost = append(lost, err)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(lost) == 0 {
		return err
	}
	w.failures.Add(1)
	w.log.Error("rows refused by the store and given up", "path", w.path, "rows", len(lost), "of", len(e.ops), "error", lost[0])
	e.answer(explain(w.path, lost[0]))
	return nil
}

// stop drains the queue and ends the goroutine. What cannot be written within the limits is given up, with an error.
func (w *writer) stop() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	close(w.quit)
	if !w.ended(w.limits.close) {
		close(w.abandon)
		if !w.ended(w.limits.answer) {
			changes, _ := w.pending()
			return fmt.Errorf("%d changes not written: %w", changes, errHung)
		}
	}
	w.notifier.stop()
	if changes, _ := w.pending(); changes > 0 {
		_, why := w.healthy()
		return fmt.Errorf("%d changes not written: %w", changes, why)
	}
	return nil
}

func (w *writer) ended(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-w.done:
		return true
	case <-timer.C:
		return false
	}
}

func (w *writer) closing() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

func (w *writer) pending() (changes, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.q.entries), w.q.bytes
}
