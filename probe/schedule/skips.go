package schedule

import "sync"

// maxSkips is how many skips may wait for Skipped one by one; after that, those of one key and reason are added up.
const maxSkips = 4_096

// skipped is one call of Options.Skipped to come.
type skipped struct {
	tick  Tick
	why   Skip
	n     int
	count func() int // gives n where that takes a walk
}

// skips hands skips to Options.Skipped in order, one at a time, so that a slow receiver never holds the loop up.
type skips struct {
	tell func(Tick, Skip, int)
	wake chan struct{}

	mu     sync.Mutex
	queue  []skipped
	closed bool
}

func newSkips(tell func(Tick, Skip, int)) *skips {
	if tell == nil {
		tell = func(Tick, Skip, int) {}
	}
	return &skips{tell: tell, wake: make(chan struct{}, 1)}
}

// add queues s. Its bound is maxSkips plus one for each key and reason.
func (s *skips) add(one skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) < maxSkips || !s.merge(one) {
		s.queue = append(s.queue, one)
	}
	s.signal()
}

// merge adds one to the last queued skip of the same key and reason.
func (s *skips) merge(one skipped) bool {
	for i := len(s.queue) - 1; i >= 0; i-- {
		have := &s.queue[i]
		if have.tick.Key == one.tick.Key && have.why == one.why && have.count == nil && one.count == nil {
			have.n += one.n
			return true
		}
	}
	return false
}

func (s *skips) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // it wakes up already
	}
}

// deliver calls tell until close, then for what is left.
func (s *skips) deliver() {
	for {
		batch, closed := s.take()
		for _, one := range batch {
			n := one.n
			if one.count != nil {
				n = one.count()
			}
			if n > 0 {
				s.tell(one.tick, one.why, n)
			}
		}
		if closed && len(batch) == 0 {
			return
		}
		if len(batch) == 0 {
			<-s.wake
		}
	}
}

func (s *skips) take() (batch []skipped, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch, s.queue = s.queue, nil
	return batch, s.closed
}

func (s *skips) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal()
}
