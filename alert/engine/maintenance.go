package engine

import (
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
	"serin/probe/glob"
)

// window is a maintenance window with its next time, as last asked for.
type window struct {
	alert.Maintenance
	asked, from, to time.Time
	ok              bool
}

func newWindows(list []alert.Maintenance) []window {
	windows := make([]window, len(list))
	for i, m := range list {
		windows[i].Maintenance = m
	}
	return windows
}

// overlaps reports whether the window is on at some time of a probe.
func (w *window) overlaps(from, to time.Time) bool {
	if w.asked.IsZero() || from.Before(w.asked) || w.ok && !from.Before(w.to) {
		w.asked = from
		w.from, w.to, w.ok = w.Next(from)
	}
	return w.ok && !w.from.After(to)
}

// flagMaintenance flags a sample whose probe ran within a maintenance window: it enters no band.
func (e *Engine) flagMaintenance(c *canary, s *probe.Sample, rec *alert.Record) {
	for i := range e.windows {
		w := &e.windows[i]
		if w.overlaps(s.Time, e.now) && w.Matches(c.Canary) && aboutLatency(w.Match) {
			s.Flags = append(slices.Clone(s.Flags), probe.InMaintenance)
			rec.Sample = *s
			return
		}
	}
}

// aboutLatency reports whether matchers can be about a latency at all.
func aboutLatency(ms alert.Matchers) bool {
	return !slices.ContainsFunc(ms, func(m alert.Matcher) bool {
		return m.Name == "kind" && !slices.ContainsFunc(alert.Kinds(), func(k alert.Kind) bool {
			return k.Metric() != "" && glob.Match(m.Pattern, string(k)) != m.Not
		})
	})
}
