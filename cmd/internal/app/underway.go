package app

import (
	"slices"
	"sync"
	"time"
)

// underWay knows since when the probes of each canary run. It is safe for concurrent use.
type underWay struct {
	mu    sync.Mutex
	since map[string][]time.Time // by canary, oldest first
}

// begin takes note of a probe that starts at a time; the caller calls end when it is over.
func (u *underWay) begin(key string, at time.Time) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since == nil {
		u.since = map[string][]time.Time{}
	}
	u.since[key] = append(u.since[key], at)
	return func() { u.end(key, at) }
}

func (u *underWay) end(key string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.since[key]
	if i := slices.Index(list, at); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if u.since[key] = list; len(list) == 0 {
		delete(u.since, key)
	}
}

// longerThan reports whether the oldest running probe of a canary has run for longer than limit.
func (u *underWay) longerThan(key string, limit time.Duration, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.since[key]
	return len(list) > 0 && now.Sub(list[0]) > limit
}
