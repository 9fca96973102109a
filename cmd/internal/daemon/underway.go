package daemon

import (
	"slices"
	"sync"
	"time"

	"serin/probe"
)

// flight is one probe that runs.
type flight struct {
	since    time.Time
	progress probe.Progress
}

// silence returns how long nothing has been generated: since the latest token, or since the start where none has come.
func (f *flight) silence(now time.Time) time.Duration {
	if token := f.progress.LastToken(); !token.IsZero() {
		return now.Sub(token)
	}
	return now.Sub(f.since)
}

// underWay knows the running probes of each canary. It is safe for concurrent use.
type underWay struct {
	mu      sync.Mutex
	flights map[string][]*flight // by canary, oldest first
}

// begin takes note of a probe that starts at a time and is to keep progress; the caller calls end when it is over.
func (u *underWay) begin(key string, at time.Time) (progress *probe.Progress, end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.flights == nil {
		u.flights = map[string][]*flight{}
	}
	f := &flight{since: at}
	u.flights[key] = append(u.flights[key], f)
	return &f.progress, func() { u.end(key, f) }
}

func (u *underWay) end(key string, f *flight) {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.flights[key]
	if i := slices.Index(list, f); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if u.flights[key] = list; len(list) == 0 {
		delete(u.flights, key)
	}
}

// hangs reports whether the oldest running probe of a canary has been silent for longer than limit. A long answer that flows
// does not hang.
func (u *underWay) hangs(key string, limit time.Duration, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := u.flights[key]
	return len(list) > 0 && list[0].silence(now) > limit
}
