package engine

import (
	"math"
	"slices"
	"time"

	"serin/probe"
)

// glance is what a message shows of one past regular probe; NaN is not known.
type glance struct {
	at              int64 // unix nanoseconds
	values          [4]float32
	connect, cached float32
	buffered        bool
}

// ring holds the newest regular probes of a canary, in the order they came.
type ring []glance

// The ring's bounds: the last hour's line of a schedule of minutes, and what was usual before. A fleet keeps many rings: so many
// glances fill 3 KiB.
const (
	ringMax  = 76
	sparkFor = time.Hour
)

// ringMetrics are the places in glance.values.
func ringMetrics() [4]probe.Metric {
	return [4]probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E}
}

func glanceOf(s *probe.Sample) glance {
	nan := float32(math.NaN())
	g := glance{at: s.Time.UnixNano(), connect: nan, cached: nan, buffered: s.Has(probe.BufferedSuspect)}
	for i, m := range ringMetrics() {
		g.values[i] = nan
		if v := s.Measure(m); v.Known && v.D > 0 {
			g.values[i] = float32(v.Seconds())
		}
	}
	if s.Connect.Known {
		g.connect = float32(s.Connect.Seconds())
	}
	if s.CachedInputTokens.Known {
		g.cached = float32(s.CachedInputTokens.V)
	}
	return g
}

func (r ring) add(s *probe.Sample) ring {
	switch n := len(r); {
	case n >= ringMax:
		r = r[:copy(r, r[n-ringMax+1:])]
	case n == cap(r): // append would go far beyond the most
		r = append(make(ring, 0, min(max(2*n, 8), ringMax)), r...)
	}
	return append(r, glanceOf(s))
}

// spark returns a metric's values of the last hour, seconds, oldest first; NaN = a failed probe.
func (r ring) spark(m probe.Metric, now time.Time) []float64 {
	known := ringMetrics()
	at := slices.Index(known[:], m)
	if at < 0 {
		return nil
	}
	var out []float64
	for _, g := range r {
		if age := now.Sub(time.Unix(0, g.at)); age >= 0 && age <= sparkFor {
			out = append(out, float64(g.values[at]))
		}
	}
	return out
}

// since returns the median of a metric's values since a time, seconds; 0 = none.
func (r ring) since(m probe.Metric, from time.Time) float64 {
	known := ringMetrics()
	at := slices.Index(known[:], m)
	var list []float64
	for _, g := range r {
		if at >= 0 && g.at >= from.UnixNano() && measured(float64(g.values[at])) {
			list = append(list, float64(g.values[at]))
		}
	}
	if len(list) == 0 {
		return 0
	}
	return median(list)
}

// moved compares the probes since a time with those before it: medians, zero where not known.
func (r ring) moved(since time.Time, get func(glance) float32) Moved {
	var old, now []float64
	for _, g := range r {
		v := float64(get(g))
		switch {
		case math.IsNaN(v):
		case g.at < since.UnixNano():
			old = append(old, v)
		default:
			now = append(now, v)
		}
	}
	if len(old) < 3 || len(now) == 0 {
		return Moved{}
	}
	return Moved{Now: median(now), Usual: median(old)}
}

// turnedBuffered reports whether all probes since a time were flagged buffered and at most a tenth before.
func (r ring) turnedBuffered(since time.Time) bool {
	var old, now, oldBuf, nowBuf int
	for _, g := range r {
		n, buf := &now, &nowBuf
		if g.at < since.UnixNano() {
			n, buf = &old, &oldBuf
		}
		*n++
		if g.buffered {
			*buf++
		}
	}
	return now > 0 && nowBuf == now && old > 0 && oldBuf*10 <= old
}

// median returns the middle of values, which it sorts; values is not empty.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
