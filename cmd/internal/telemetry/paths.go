package telemetry

import (
	"maps"
	"sync"
	"time"

	"serin/probe"
)

// Paths holds what the newest probe of each target said about the way to it.
type Paths struct {
	mu sync.Mutex
	by map[string]way
}

// way is the way to one target.
type way struct {
	rtt     probe.Span
	expires time.Time // of the certificate; zero = no TLS seen
}

// Put takes in a probe; what it does not say stays.
func (p *Paths) Put(s *probe.Sample) {
	if !s.RTT.Known && !s.CertDays.Known {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]way{}
	}
	v := p.by[s.Target]
	if s.RTT.Known {
		v.rtt = s.RTT
	}
	if s.CertDays.Known {
		v.expires = s.Time.Add(time.Duration(s.CertDays.V) * 24 * time.Hour)
	}
	p.by[s.Target] = v
}

// Keep drops what is not in targets.
func (p *Paths) Keep(targets map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.by, func(target string, _ way) bool { return !targets[target] })
}

// Gauges writes the round trip and the certificate's end of every target in force.
func (p *Paths) Gauges(g *Gauges, targets []*probe.Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range targets {
		v, ok := p.by[t.Name]
		if ok && v.rtt.Known {
			g.Add(v.rtt.Seconds(), "serin_rtt_seconds", "target", t.Name)
		}
		if ok && !v.expires.IsZero() {
			g.Add(float64(v.expires.Unix()), "serin_certificate_expiry_timestamp_seconds", "target", t.Name)
		}
	}
}
