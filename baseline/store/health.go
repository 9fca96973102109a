package store

import (
	"fmt"
	"sync"
)

// settle takes in how a write ended: it tells the commits that wait, and, once each, log and hook of a change of health.
func (w *writer) settle(batch []*entry, err error) {
	if err != nil {
		w.failures.Add(1)
	}
	w.mu.Lock()
	was := w.broken
	w.broken = err
	if err == nil {
		w.q.written()
	} else {
		w.q.failed()
	}
	left := len(w.q.entries)
	w.mu.Unlock()
	for _, e := range batch {
		e.answer(err)
	}
	switch {
	case was == nil && err != nil:
		w.broke(err, left)
	case was != nil && err == nil:
		w.log.Info("store is written again", "path", w.path, "changes_left", left, "dropped_total", w.dropped.Load())
		w.notifier.notify(true, nil)
	}
}

// hang is called when the write of e has not come back in time. It may come late, when that write has ended and the next
// is under way, which then is not blamed.
func (w *writer) hang(e *entry) {
	err := fmt.Errorf("store %q: %w", w.path, errHung)
	w.mu.Lock()
	was, left := w.broken, len(w.q.entries)
	if was == nil && w.q.writing(e) {
		w.broken = err
	}
	now := w.broken
	w.mu.Unlock()
	if was == nil && now != nil {
		w.failures.Add(1)
		w.broke(err, left)
	}
}

func (w *writer) broke(err error, waiting int) {
	w.log.Error("store cannot be written; changes wait in memory and are tried again", "path", w.path, "waiting", waiting, "error", err)
	w.notifier.notify(false, err)
}

func (w *writer) healthy() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken == nil, w.broken
}

// healthNotifier calls the health hook, in order, on a goroutine of its own: the hook may commit, which waits for the writer.
type healthNotifier struct {
	mu   sync.Mutex
	news chan health // nil once stopped
	done chan struct{}
}

type health struct {
	ok  bool
	why error
}

func newHealthNotifier(hook func(bool, error)) *healthNotifier {
	news := make(chan health, 64)
	t := &healthNotifier{news: news, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for h := range news {
			if hook != nil {
				hook(h.ok, h.why)
			}
		}
	}()
	return t
}

// notify never waits: a hook that is 64 changes behind misses one, the log has it.
func (t *healthNotifier) notify(ok bool, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.news <- health{ok, why}: // never, once news is nil
	default:
	}
}

// stop waits for the hook to come to an end.
func (t *healthNotifier) stop() {
	t.mu.Lock()
	if t.news != nil {
		close(t.news)
		t.news = nil
	}
	t.mu.Unlock()
	<-t.done
}
