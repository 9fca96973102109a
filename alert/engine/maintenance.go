package engine

import (
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// entering returns the value with which a sample enters its band, or why it does not.
func entering(s *probe.Sample, m probe.Metric) (v time.Duration, why string) {
	if v, why = baseline.Value(s, m); why == "" && s.Has(probe.InMaintenance) {
		why = string(probe.InMaintenance)
	}
	return v, why
}

// inMaintenance marks a sample whose probe ran within a window: it enters no band.
func (e *Engine) inMaintenance(c *watch, s *probe.Sample, rec *Record) {
	for _, w := range e.windows {
		if w.Matches(c.Canary) && w.aboutLatency() && (overlap(w.now, s.Time, e.now) || overlap(w.last, s.Time, e.now)) {
			s.Flags = append(slices.Clone(s.Flags), probe.InMaintenance)
			rec.Sample = *s
			return
		}
	}
}

func overlap(s span, from, to time.Time) bool {
	return from.Before(s.to) && !to.Before(s.from) && !s.to.IsZero()
}

// aboutLatency reports whether the window can be about a latency at all.
func (w *window) aboutLatency() bool {
	for _, m := range w.Match {
		if m.Name == "kind" && !slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Metric() != "" && Glob(m.Pattern, string(k)) != m.Not }) {
			return false
		}
	}
	return true
}
