package engine

import (
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// recentProbe is what a message shows of one past regular probe; NaN is not known.
type recentProbe struct {
	at              int64 // unix nanoseconds
	values          [4]float32
	connect, cached float32
	buffered        bool
}

// ring holds the newest regular probes of a canary, in the order they came.
type ring []recentProbe

// The ring's bounds: the last hour's line of a schedule of minutes, and what was usual before. A fleet keeps many rings: so many
// probes fill 3 KiB.
const (
	ringMost = 76
	sparkFor = time.Hour
)

// latencyMetrics are the places in recentProbe.values.
func latencyMetrics() [4]probe.Metric {
	return [4]probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E}
}

func newRecentProbe(s *probe.Sample) recentProbe {
	nan := float32(math.NaN())
	g := recentProbe{at: s.Time.UnixNano(), connect: nan, cached: nan, buffered: s.Has(probe.BufferedSuspect)}
	for i, m := range latencyMetrics() {
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
	case n >= ringMost:
		r = r[:copy(r, r[n-ringMost+1:])]
	case n == cap(r): // append would go far beyond the most
		r = append(make(ring, 0, min(max(2*n, 8), ringMost)), r...)
	}
	return append(r, newRecentProbe(s))
}

// Recent says what a canary's newest regular probes say of a latency kind beside trouble that began at since.
func (e *Engine) Recent(canary string, k alert.Kind, since time.Time) alert.Recent {
	c := e.canaries[canary]
	if c == nil {
		return alert.Recent{}
	}
	known := latencyMetrics()
	out := alert.Recent{Interval: c.Canary.Interval, Connect: c.recent.compare(since, func(g recentProbe) float32 { return g.connect }),
		Cached: c.recent.compare(since, func(g recentProbe) float32 { return g.cached }), Buffered: c.recent.turnedBuffered(since)}
	if i := slices.Index(known[:], k.Metric()); i >= 0 {
		out.Values, out.Since = c.recent.values(i, e.now), c.recent.median(i, since)
	}
	return out
}

// values returns a metric's values of the last hour, seconds, oldest first; NaN = a failed probe.
func (r ring) values(metric int, now time.Time) (out []float64) {
	for _, g := range r {
		if age := now.Sub(time.Unix(0, g.at)); age >= 0 && age <= sparkFor {
			out = append(out, float64(g.values[metric]))
		}
	}
	return out
}

// median returns the median of a metric's values since a time, seconds; 0 = none.
func (r ring) median(metric int, from time.Time) float64 {
	var list []float64
	for _, g := range r {
		if v := float64(g.values[metric]); g.at >= from.UnixNano() && !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return 0
	}
	return alert.Median(list)
}

// compare compares the probes since a time with those before it: medians, zero where not known.
func (r ring) compare(since time.Time, get func(recentProbe) float32) alert.BeforeAfter {
	var before, after []float64
	for _, g := range r {
		v := float64(get(g))
		switch {
		case math.IsNaN(v):
		case g.at < since.UnixNano():
			before = append(before, v)
		default:
			after = append(after, v)
		}
	}
	if len(before) < 3 || len(after) == 0 {
		return alert.BeforeAfter{}
	}
	return alert.BeforeAfter{Before: alert.Median(before), After: alert.Median(after)}
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
