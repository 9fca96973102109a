package app

import (
	"maps"
	"sync"
	"time"

	"serin/probe"
)

// lastSeen holds the newest successful regular values of each canary, for gauges.
type lastSeen struct {
	mu sync.Mutex
	by map[string]lastValues
}

type lastValues struct {
	target, scene, size string
	at                  time.Time
	values              map[probe.Metric]float64 // seconds
	outcome             probe.Outcome            // of the newest regular probe, success or not
}

func (v lastValues) key() string { return v.target + "/" + v.scene + "/" + v.size }

func (l *lastSeen) put(s *probe.Sample) {
	if !s.Regular() || s.Outcome == probe.Skipped {
		return
	}
	if !s.Outcome.Success() {
		l.failed(s)
		return
	}
	v := lastValues{target: s.Target, scene: s.Scene, size: string(s.Size), at: s.Time, values: map[probe.Metric]float64{}, outcome: s.Outcome}
	for _, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		if x := s.Measure(m); x.Known {
			v.values[m] = x.Seconds()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]lastValues{}
	}
	l.by[s.Key()] = v
}

// failed notes the outcome and leaves the newest values as they are.
func (l *lastSeen) failed(s *probe.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]lastValues{}
	}
	v := l.by[s.Key()]
	v.target, v.scene, v.size, v.outcome = s.Target, s.Scene, string(s.Size), s.Outcome
	l.by[s.Key()] = v
}

// keep drops what is not in canaries.
func (l *lastSeen) keep(canaries map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.by, func(key string, _ lastValues) bool { return !canaries[key] })
}

func (l *lastSeen) all() []lastValues {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]lastValues, 0, len(l.by))
	for _, v := range l.by {
		out = append(out, v)
	}
	return out
}
