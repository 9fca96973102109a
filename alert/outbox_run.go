package alert

import (
	"context"
	"sync"
	"time"
)

// Run delivers, while the lease is held, until ctx ends, which cuts a call under way, or until Stop. It returns nil when
// all its goroutines have ended. It runs once.
func (b *Outbox) Run(ctx context.Context) error {
	defer close(b.done)
	b.mu.Lock()
	b.running = true
	b.mu.Unlock()
	waiting, cancel := context.WithCancel(ctx) // for the lease: Stop ends it too
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-b.stop:
			cancel()
		case <-waiting.Done():
		}
	})
	defer func() { cancel(); watch.Wait() }()
	for first := true; ; first = false {
		held, release, err := b.opt.Lease.Acquire(waiting)
		if err != nil || waiting.Err() != nil || b.stops() {
			if err == nil {
				release()
			}
			return nil
		}
		if first || b.reread(held) {
			b.send(ctx, held)
		}
		release()
	}
}

// send runs a goroutine a channel until the lease or ctx ends, or the outbox stops.
func (b *Outbox) send(ctx, held context.Context) {
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	var lanes sync.WaitGroup
	b.mu.Lock()
	b.spawn = func(l *lane) {
		if !l.running {
			l.running = true
			lanes.Go(func() { l.run(cut) })
		}
	}
	for _, l := range b.lanes {
		b.spawn(l)
	}
	b.mu.Unlock()
	select {
	case <-b.stop: // without cutting a call under way
	case <-ctx.Done():
	case <-held.Done():
		if ctx.Err() == nil && !b.stops() {
			b.opt.Log.Warn("another daemon sends now: the lease is lost")
			cancel()
		}
	}
	b.mu.Lock()
	b.spawn = nil
	b.mu.Unlock()
	lanes.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		l.running = false
	}
}

// stops reports whether Stop was called.
func (b *Outbox) stops() bool {
	select {
	case <-b.stop:
		return true
	default:
		return false
	}
}

// rereadWait is the pause after a store that could not be read.
const rereadWait = 5 * time.Second

// reread takes what the journal owes in place of what was in memory: another daemon has sent meanwhile.
func (b *Outbox) reread(ctx context.Context) bool {
	if b.opt.Reread == nil {
		return true
	}
	list, err := b.opt.Reread(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return false
	default:
		b.opt.Log.Error("read what is owed", "error", b.opt.Redact(err.Error()))
		select {
		case <-time.After(rereadWait):
		case <-ctx.Done():
		}
		return false
	}
	b.mu.Lock()
	for _, l := range b.lanes {
		clear(l.topics)
	}
	b.mu.Unlock()
	b.Restore(list)
	return true
}
