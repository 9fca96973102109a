package daemon

import "sync"

// syncSlice is a list that grows and is read from many goroutines.
type syncSlice[T any] struct {
	mu   sync.Mutex
	list []T
}

func (s *syncSlice[T]) add(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, v)
}

func (s *syncSlice[T]) all() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[:len(s.list):len(s.list)]
}
