package alert

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shared is a lease that tests give and take.
type shared struct {
	mu    sync.Mutex
	given chan struct{} // closed while it may be held
	lose  context.CancelFunc
	had   int // times it was acquired, and …
	back  int // … released
}

var _ Lease = (*shared)(nil)

func (s *shared) Acquire(ctx context.Context) (held context.Context, release func(), err error) {
	s.mu.Lock()
	given := s.given
	s.mu.Unlock()
	select {
	case <-given:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	held, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = cancel
	s.had++
	return held, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.back++
	}, nil
}

func (s *shared) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.given)
}

func (s *shared) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = make(chan struct{})
	s.lose()
}

// TestLease: nothing goes out before the lease is held and after it is lost; the call under way is cut, and what another
// daemon sent meanwhile is not sent again.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &shared{given: make(chan struct{})}
		j := &memJournal{}
		ch := &fakeChannel{name: "slack", edits: true, delay: 3 * time.Second, start: time.Now()}
		fails := true
		box := NewOutbox(OutboxOptions{Journal: j, Channels: []Channel{ch}, Lease: l, Reread: func(context.Context) ([]Notice, error) {
			if fails {
				fails = false
				return nil, errors.New("database is away")
			}
			return j.restore(), nil
		}})
		done := make(chan error)
		go func() { done <- box.Run(t.Context()) }()
		b := &bench{t: t, journal: j, box: box}
		b.tell(note("a", 1, ActOpen), note("b", 1, ActOpen), note("c", 1, ActOpen))
		advance(time.Minute)
		ch.want(t)
		l.give()
		advance(4 * time.Second) // a is taken, b is under way
		l.take()
		advance(time.Minute)
		ch.want(t, `1m0s open a.1 "a open"`, `1m3s open b.1 "b open"`)
		other := j.row(note("c", 1, ActOpen))
		other.State, other.Receipt = NoticeSent, Receipt{Channel: "C1", TS: "other"}
		b.tell(other, note("c", 2, ActResolve))
		l.give()
		advance(time.Minute)
		ch.want(t, `1m0s open a.1 "a open"`, `1m3s open b.1 "b open"`, `2m9s open b.1 "b open"`, `2m12s resolve c.2 on other "c resolve"`)
		box.Stop()
		if err := <-done; err != nil || l.back != l.had || l.had < 3 {
			t.Errorf("%v, acquired %d times, released %d times", err, l.had, l.back)
		}
	})
}

func TestStopWithoutTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := NewOutbox(OutboxOptions{Journal: &memJournal{}, Lease: &shared{given: make(chan struct{})}})
		done := make(chan error)
		go func() { done <- box.Run(t.Context()) }()
		synctest.Wait()
		go box.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
