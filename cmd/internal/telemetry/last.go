package telemetry

import (
	"maps"
	"sync"
	"time"

	"serin/probe"
)

// LastSeen holds the newest successful regular values of each canary, for gauges.
type LastSeen struct {
	mu sync.Mutex
	by map[string]Values
}

// Values are the newest ones of one canary.
type Values struct {
	target, scene, size string
	At                  time.Time
	Values              map[probe.Metric]float64 // seconds
	Outcome             probe.Outcome            // of the newest regular probe, success or not
}

// Key is the canary's.
func (v Values) Key() string { return v.target + "/" + v.scene + "/" + v.size }

// Put takes in a sample.
func (l *LastSeen) Put(s *probe.Sample) {
	if !s.Regular() || s.Outcome == probe.Skipped {
		return
	}
	if !s.Outcome.Success() {
		l.failed(s)
		return
	}
	v := Values{target: s.Target, scene: s.Scene, size: string(s.Size), At: s.Time, Values: map[probe.Metric]float64{}, Outcome: s.Outcome}
	for _, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		if x := s.Measure(m); x.Known {
			v.Values[m] = x.Seconds()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]Values{}
	}
	l.by[s.Key()] = v
}

// failed notes the outcome and leaves the newest values as they are.
func (l *LastSeen) failed(s *probe.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]Values{}
	}
	v := l.by[s.Key()]
	v.target, v.scene, v.size, v.Outcome = s.Target, s.Scene, string(s.Size), s.Outcome
	l.by[s.Key()] = v
}

// Keep drops what is not in canaries.
func (l *LastSeen) Keep(canaries map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.by, func(key string, _ Values) bool { return !canaries[key] })
}

// All returns the newest values of every canary.
func (l *LastSeen) All() []Values {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Values, 0, len(l.by))
	for _, v := range l.by {
		out = append(out, v)
	}
	return out
}

// Gauges writes the newest values of every canary that has had a success.
func (l *LastSeen) Gauges(g *Gauges) {
	for _, v := range l.All() {
		if v.At.IsZero() { // never a success
			continue
		}
		id := CanaryLabels(v.target, v.scene, v.size)
		g.Add(float64(v.At.UnixMilli())/1000, "serin_last_success_timestamp_seconds", id...)
		for m, x := range v.Values {
			g.Add(x, "serin_last_seconds", append(id[:6:6], "metric", string(m))...)
		}
	}
}
