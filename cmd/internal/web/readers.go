package web

import (
	"context"
	"sync"
	"time"
)

// Bounds of the work of lists: what is kept in memory is at most listsAtOnce · maxLimit elements.
const (
	listsAtOnce  = 4
	listWithin   = 30 * time.Second
	listPatience = 5 * time.Second
	slowAfter    = 10 * time.Second // a reader who takes longer than this gives up its place to one who waits
)

// readers are those who read lists: each has one of a few places.
type readers struct {
	places chan struct{}
	mu     sync.Mutex
	taking map[*array]time.Time // the answers that are on their way, and since when
}

func newReaders() *readers {
	return &readers{places: make(chan struct{}, listsAtOnce), taking: map[*array]time.Time{}}
}

// enter waits a little for a place; false means that all stayed taken. The slowest reader is cut for whom waits.
func (r *readers) enter(ctx context.Context) bool {
	select {
	case r.places <- struct{}{}:
		return true
	default:
	}
	r.cutSlowest()
	patience, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	select {
	case r.places <- struct{}{}:
		return true
	case <-patience.Done():
		return false
	}
}

func (r *readers) leave() { <-r.places }

// begin notes that an answer is on its way; the returned function notes its end.
func (r *readers) begin(a *array) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taking[a] = time.Now()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.taking, a)
	}
}

// cutSlowest cuts the answer that has been on its way for the longest, if it is slow.
func (r *readers) cutSlowest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var slowest *array
	for a, since := range r.taking {
		if time.Since(since) > slowAfter && (slowest == nil || since.Before(r.taking[slowest])) {
			slowest = a
		}
	}
	if slowest != nil {
		delete(r.taking, slowest)
		slowest.cut()
	}
}
