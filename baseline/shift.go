package baseline

import (
	"slices"
	"time"
)

// Shift is one correction of a history, taken when a new level became the normal one. It is laid over the values when
// they are read; the history itself stays as it was measured, so that taking a shift back is exact.
type Shift struct {
	Before int64   `json:"before,omitempty"` // values before this instant (Unix nanoseconds) count C higher; 0 = none
	From   int64   `json:"from"`             // what is left of values in [From, To) counts C lower, without an offset:
	To     int64   `json:"to"`               // they were judged against the level before the shift
	C      float64 `json:"c"`                // ln units
}

func (h Shift) raises(t int64) bool { return t < h.Before }
func (h Shift) lowers(t int64) bool { return t >= h.From && t < h.To }

// y is a point's value with the history's shifts.
func (s *Series) y(p *point) float64 { return float64(p.y) + s.raised(p.at) }

func (s *Series) raised(t int64) (c float64) {
	for _, h := range s.shifts {
		if h.raises(t) {
			c += h.C
		}
	}
	return c
}

// r is what a judged point was from usual without the offset of its day.
func (s *Series) r(p *point) float64 {
	for _, h := range s.shifts {
		if h.lowers(p.at) {
			e, _ := s.e(p)
			return e
		}
	}
	return float64(p.r)
}

func (s *Series) lowered(t int64) (c float64) {
	for _, h := range s.shifts {
		if h.lowers(t) {
			c += h.C
		}
	}
	return c
}

// Rescale makes c (ln units) the distance between the level before first and the one since: every value before first
// counts c higher, and what is left of the values from first until now c lower. The frozen mean, sw and sL are computed
// anew with the next value.
func (s *Series) Rescale(first, now time.Time, c float64) {
	s.shift(Shift{Before: first.UnixNano(), From: first.UnixNano(), To: now.UnixNano(), C: c})
}

// Unscale takes back the Rescale of first and then, at now; false when the series has none such.
func (s *Series) Unscale(first, then, now time.Time) bool {
	i := slices.IndexFunc(s.shifts, func(h Shift) bool { return h.Before == first.UnixNano() && h.To == then.UnixNano() })
	if i < 0 {
		return false
	}
	c := s.shifts[i].C
	s.shifts = slices.Delete(slices.Clone(s.shifts), i, i+1)
	s.shift(Shift{From: then.UnixNano(), To: now.UnixNano(), C: -c}) // these were judged against the level taken back
	return true
}

func (s *Series) shift(h Shift) {
	oldest := s.oldest()
	kept := slices.DeleteFunc(slices.Clone(s.shifts), func(old Shift) bool { return max(old.Before, old.To) < oldest })
	s.shifts = append(kept, h)
	s.revision++
	s.Recompute()
}

// Gap returns the median of y − mu over the judged values from from on and before to, excluded ones too, and how many
// they are. Without any it is 0.
func (s *Series) Gap(from, to time.Time) (gap float64, n int) {
	w := interval{from.UnixNano(), to.UnixNano()}
	list := s.appendE(make([]float64, 0, len(s.pts.in(w))), w)
	return median(list), len(list)
}

// MeanGap is Gap with the mean of e clipped at its 10th and 90th percentiles, as mu is one, in place of the median: of a series that is
// fast now and slow then by turns the two differ for ever.
func (s *Series) MeanGap(from, to time.Time) (gap float64, n int) {
	w := interval{from.UnixNano(), to.UnixNano()}
	list := s.appendE(make([]float64, 0, len(s.pts.in(w))), w)
	clip(list)
	return mean(list), len(list)
}

// Fell reports whether Gap may be below a level, which costs a tenth of it: half of the values are.
func (s *Series) Fell(from, to time.Time, below float64) bool {
	part := s.pts.in(interval{from.UnixNano(), to.UnixNano()})
	n, fell := 0, 0
	for i := range part {
		if e, ok := s.e(&part[i]); ok {
			n++
			if e < below {
				fell++
			}
		}
	}
	return n > 0 && fell >= n/2
}

// Usual returns the median value from from on and before to, ln seconds, and of how many.
func (s *Series) Usual(from, to time.Time) (y float64, n int) {
	part := s.pts.in(interval{from.UnixNano(), to.UnixNano()})
	list := make([]float64, 0, len(part))
	for i := range part {
		list = append(list, float64(part[i].y))
	}
	return median(list), len(list)
}

// Newest returns the instant of the newest value; the zero time when there is none.
func (s *Series) Newest() time.Time {
	if len(s.pts) == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.pts[len(s.pts)-1].at)
}

// Grown reports whether the history reaches a whole window back from now.
func (s *Series) Grown(now time.Time) bool {
	return len(s.pts) > 0 && now.Sub(time.Unix(0, s.pts[0].at)) >= s.opt.Window
}

// Reset forgets all values before now for good: learning starts again, also after a restart.
func (s *Series) Reset(now time.Time) {
	s.Forget()
	s.shifts, s.since, s.change = nil, now.UnixNano(), 0
	s.see(now.UnixNano())
}

// changeNeeds is how many values of a changed spec say how far its level is from that of the old one.
const changeNeeds = 12

// Changed says that values from now on are of another spec, whose level is not known yet: they are not judged until
// there are 12 of them; then the history is rescaled to their level.
func (s *Series) Changed(spec string, now time.Time) {
	s.key.Spec = spec
	s.change = now.UnixNano()
	s.hold = Hold{}
}

// settle rescales the history once the level of a changed spec is known.
func (s *Series) settle(t int64) {
	if s.change == 0 {
		return
	}
	from, to := time.Unix(0, s.change), time.Unix(0, t)
	if c, n := s.Gap(from, to); n >= changeNeeds {
		s.change = 0
		s.Rescale(from, to, c)
	}
}
