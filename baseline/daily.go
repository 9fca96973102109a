package baseline

import (
	"math"
	"slices"
	"time"
)

// DailyPart is the length of the parts of a slot that are looked at by themselves.
const DailyPart = 5 * time.Minute

const (
	dailyPart   = int64(DailyPart)
	dailyAround = 5 * minute // around a part, or half an interval if that is longer
	dailyLocal  = 6 * hour   // excluded values are of something daily only if there are others this near on both sides
	dailyLeast  = 2          // standard deviations of one day's median there
	dailyWhole  = 1          // of each part, where all of the slot is above usual
)

// daily returns the parts of a level's slot, by time, in which the clock's time is above mu on most days, and by how much: a nightly job
// begins and ends where it does, and the slot's window with its neighbours smears that. It is the median over the days of each one's
// median there, where that is far enough out for a day's; or not so far, but all through the slot.
func (s *Series) daily(lv *Level) []Raise {
	slot := int64(s.opt.Slot)
	around := max(dailyAround, int64(s.key.Interval)/2)
	days := s.clockDays(lv.Slot, slot, around)
	begun := mod(s.clock.wall(lv.Slot), slot) // of the slot, where it began at a change of offset
	var far, all []Raise
	whole := true
	for from := int64(0); from < slot; from += dailyPart {
		start, end := max(from-begun, 0), min(from+dailyPart, slot)-begun
		if end <= start {
			continue
		}
		by, sd := s.above(lv, days, from-around, from+dailyPart+around)
		r := Raise{s.clock.at(lv.Slot + start), s.clock.at(lv.Slot + end), by}
		if by > dailyLeast*sd {
			far = append(far, r)
		}
		all = append(all, r)
		whole = whole && by > dailyWhole*sd
	}
	if whole {
		return all
	}
	return far
}

// above is how far the median of the days' medians between two places of the clock is above mu, and what one such median scatters by:
// without end where too few days have one.
func (s *Series) above(lv *Level, days []clockDay, from, to int64) (by, sd float64) {
	each, y := make([]float64, 0, len(days)), make([]float64, 0, 16)
	n := 0
	for i := range days {
		if y = days[i].between(y[:0], from, to); len(y) > 0 {
			each = append(each, median(y))
			n += len(y)
		}
	}
	if len(each) < enoughDays {
		return 0, math.Inf(1)
	}
	sd = max(leastSD, lv.WSD)
	if s.noise.Ready {
		sd = math.Hypot(s.noise.SL, s.noise.SW*math.Sqrt(float64(len(each))/float64(n)))
	}
	return median(each) - lv.Mu, sd * kappa(presetKappa, len(each)) / presetKappa
}

// clockDay is what a day had around a slot: values, and where on the clock, nanoseconds from the slot's beginning.
type clockDay struct {
	place []int64
	y     []float64
}

func (d *clockDay) between(list []float64, from, to int64) []float64 {
	for i, p := range d.place {
		if p >= from && p < to {
			list = append(list, d.y[i])
		}
	}
	return list
}

// clockDays returns the window's days around the slot that began at start. Excluded values are in it, where they were of something short:
// what fires each night is left out of the band, and would never be learned.
func (s *Series) clockDays(start, slot, around int64) []clockDay {
	first := s.clock.wall(start)
	first -= mod(first, slot)
	list := make([]clockDay, 0, s.days)
	var room [4]span
	for d := s.days; d >= 1; d-- {
		var out clockDay
		begin := first - int64(d)*day
		for _, w := range s.clock.spans(room[:0], begin-around, begin+slot+around) {
			w.to = min(w.to, start)
			short := !s.anyExcluded(w) || s.anyIn([]span{{w.from - dailyLocal, w.from}}, false) && s.anyIn([]span{{w.to, w.to + dailyLocal}}, false)
			ahead := s.clock.wall(w.from) - w.from - begin
			part := s.pts.in(w)
			out.place, out.y = slices.Grow(out.place, part.len()), slices.Grow(out.y, part.len())
			for i := range part.cells {
				if short || !part.cells[i].excluded() {
					out.place, out.y = append(out.place, part.at(i)+ahead), append(out.y, s.yAt(part, i))
				}
			}
		}
		if len(out.y) > 0 {
			list = append(list, out)
		}
	}
	return list
}

func (s *Series) anyExcluded(w span) bool {
	part := s.pts.in(w).cells
	for i := range part {
		if part[i].excluded() {
			return true
		}
	}
	return false
}

// raiseAt is by how much usual is above the slot's mean at an instant, ln.
func raiseAt(raises []Raise, at time.Time) float64 {
	for _, r := range raises {
		if !at.Before(r.From) && at.Before(r.To) {
			return r.By
		}
	}
	return 0
}

// In returns the band as it is at another instant of its slot.
func (b Band) In(at time.Time) Band {
	by := raiseAt(b.Raises, at)
	if by == b.Daily {
		return b
	}
	least := 0.0 // between mean and limit, where the rule asks for it
	if b.Limit > math.Exp(b.Mu+b.Offset+b.Line)*(1+1e-9) {
		least = b.Limit - b.Mean
	}
	b.Mu, b.Daily = b.Mu-b.Daily+by, by
	b.place(least)
	return b
}

// muAt is what is usual at an instant of the level's slot, ln seconds.
func (lv *Level) muAt(t int64) float64 { return lv.Mu + raiseAt(lv.Raises, time.Unix(0, t)) }
