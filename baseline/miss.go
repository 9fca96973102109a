package baseline

import (
	"cmp"
	"slices"
	"time"

	"serin/probe"
)

// Value returns what s says of metric m, or why that is missing: failed, first, cold_start, client_suspect, or
// absent where the probe could not measure it. A missing value is neither breach nor calm and enters no band.
func Value(s *probe.Sample, m probe.Metric) (v time.Duration, missing string) {
	switch d := s.Measure(m); {
	case !s.Outcome.Success():
		return 0, "failed"
	case s.First:
		return 0, "first"
	case s.Has(probe.ColdStart): // the model was loaded for it
		return 0, "cold_start"
	case s.Has(probe.ClientSuspect):
		return 0, "client_suspect"
	case !d.Known || d.D <= 0:
		return 0, "absent"
	default:
		return d.D, ""
	}
}

// miss is a regular sample that could not enter the history.
type miss struct {
	at  int64 // Unix nanoseconds
	why string
}

func (s *Series) missesSince(t int64) int {
	i, _ := slices.BinarySearchFunc(s.misses, t, func(m miss, t int64) int { return cmp.Compare(m.at, t) })
	return i
}

func (s *Series) missesIn(w interval) []miss {
	from := s.missesSince(w.from)
	return s.misses[from:max(from, s.missesSince(w.to))]
}

// Miss notes a regular sample that could not be added and why (failed, first, client_suspect, spec), so that bands can
// say what they left out.
func (s *Series) Miss(at time.Time, why string) {
	t := at.UnixNano()
	i := s.missesSince(t)
	if i < len(s.misses) && s.misses[i].at == t {
		return
	}
	s.misses = slices.Insert(s.misses, i, miss{t, why})
	s.see(t)
	s.misses = slices.Delete(s.misses, 0, s.missesSince(s.oldest()))
}
