package app

import (
	"maps"
	"sync"
	"time"

	"serin/probe"
)

// paths holds what the newest probe of each target said about the way to it.
type paths struct {
	mu sync.Mutex
	by map[string]way
}

// way is the way to one target.
type way struct {
	rtt     probe.Span
	expires time.Time // of the certificate; zero = no TLS seen
}

// put takes in a probe; what it does not say stays.
func (p *paths) put(s *probe.Sample) {
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

// keep drops what is not in targets.
func (p *paths) keep(targets map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.by, func(target string, _ way) bool { return !targets[target] })
}

// pathGauges writes the round trip and the certificate's end of every target in force.
func (d *daemon) pathGauges(g *gaugeLines) {
	d.paths.mu.Lock()
	defer d.paths.mu.Unlock()
	for _, t := range d.config().Targets {
		v, ok := d.paths.by[t.Name]
		if ok && v.rtt.Known {
			d.put(g, v.rtt.Seconds(), "serin_rtt_seconds", label{"target", t.Name})
		}
		if ok && !v.expires.IsZero() {
			d.put(g, float64(v.expires.Unix()), "serin_certificate_expiry_timestamp_seconds", label{"target", t.Name})
		}
	}
}
