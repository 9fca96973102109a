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
}

func (v lastValues) key() string { return v.target + "/" + v.scene + "/" + v.size }

func (l *lastSeen) put(s *probe.Sample) {
	if !s.Regular() || !s.Outcome.Success() {
		return
	}
	v := lastValues{target: s.Target, scene: s.Scene, size: string(s.Size), at: s.Time, values: map[probe.Metric]float64{}}
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
