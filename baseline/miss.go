package baseline

import (
	"slices"
	"time"

	"serin/probe"
)

// Value returns what s says of metric m, or why that is missing: failed, first, cold_start, client_suspect, or
// absent where the probe could not measure it. A missing value is neither breach nor calm and enters no band.
func Value(s *probe.Sample, m probe.Metric) (v time.Duration, missing string) {
	switch span := s.Measure(m); {
	case !s.Outcome.Success():
		return 0, "failed"
	case s.First:
		return 0, "first"
	case s.Has(probe.ColdStart): // the model was loaded for it
		return 0, "cold_start"
	case s.Has(probe.ClientSuspect):
		return 0, "client_suspect"
	case !span.Known || span.D <= 0:
		return 0, "absent"
	default:
		return span.D, ""
	}
}

// miss is a regular sample that could not enter the history: its grain, and below it, in 8 bits, the place of the reason.
type miss int64

// misses are by time, no two in one grain.
type misses struct {
	list []miss
	whys []string // a handful
}

func (m miss) at() int64 { return int64(m>>8) * grain }

func (ms *misses) why(m miss) string { return ms.whys[m&0xff] }

func (ms *misses) since(t int64) int {
	i, _ := slices.BinarySearch(ms.list, miss(grains(t)<<8))
	return i
}

func (ms *misses) in(s span) []miss { return ms.list[ms.since(s.from):ms.since(grainsUp(s.to)*grain)] }

// place is where a reason is kept; beyond 256 of them all are the last.
func (ms *misses) place(why string) miss {
	i := slices.Index(ms.whys, why)
	if i < 0 && len(ms.whys) <= 0xff {
		ms.whys = append(ms.whys, why)
	}
	if i < 0 {
		i = len(ms.whys) - 1
	}
	return miss(i)
}

// Miss notes a regular sample that could not be added and why (failed, first, client_suspect, spec), so that bands can
// say what they left out.
func (s *Series) Miss(at time.Time, why string) {
	t, ms := at.UnixNano(), &s.misses
	i := ms.since(t)
	if i < len(ms.list) && ms.list[i]>>8 == miss(grains(t)) {
		return
	}
	ms.list = slices.Insert(ms.list, i, miss(grains(t)<<8)|ms.place(why))
	s.see(t)
	if oldest := s.oldest(); ms.list[0].at() < oldest {
		ms.list = slices.Delete(ms.list, 0, ms.since(oldest))
	}
}
