package baseline

import (
	"math"
	"slices"
	"time"
)

// intraday is what was measured in the hours that say how today runs: how far each value was from usual, sorted. The window moves on
// from question to question, and few values come and go.
type intraday struct {
	of       []*Series
	revision int   // of all of them, when they were asked last
	from, to int64 // the values are of [from, to)
	e        []float32
}

// offset is o(t): how far today runs beside usual, from the residuals of the last hours without the last half hour, which may
// already be the fault. Excluded samples count: today is today. It is 0 of fewer than 8 values, and clipped to a ratio of most either
// way. Each of series is measured once in an interval.
func (d *intraday) offset(at int64, every time.Duration, most float64, series ...*Series) float64 {
	d.move(offsetWindow(at, every), series)
	if len(d.e) < 8 {
		return 0
	}
	limit := math.Log(max(1, most))
	return min(max(.8*interquintileMean(d.e), -limit), limit)
}

// offsetWindow is where the values lie that say how today runs.
func offsetWindow(at int64, every time.Duration) interval {
	if every > 15*time.Minute {
		return interval{at - 12*hour, at - 60*minute + 1}
	}
	return interval{at - 3*hour, at - 30*minute + 1}
}

// move brings the values to those that series have in a window.
func (d *intraday) move(w interval, series []*Series) {
	from, to := w.from, w.to
	revision := 0
	for _, s := range series {
		revision += s.revision // each only grows
		s.queriedUntil = max(s.queriedUntil, to)
	}
	if revision != d.revision || from < d.from || from > d.to || to < d.to || !slices.Equal(series, d.of) {
		d.from, d.to, d.e = from, from, d.e[:0]
		d.of = append(d.of[:0], series...)
	}
	var room [2][160]float32 // a few rounds of a great target
	gone, come := room[0][:0], room[1][:0]
	for _, s := range series {
		gone, come = s.usuals(gone, d.from, from), s.usuals(come, d.to, to)
	}
	slices.Sort(gone)
	slices.Sort(come)
	d.e = mergeSorted(subtractSorted(d.e, gone), come)
	d.revision, d.from, d.to = revision, from, to
}

// usuals appends how far from usual the judged values in [from, to) were.
func (s *Series) usuals(list []float32, from, to int64) []float32 {
	if from >= to {
		return list
	}
	part := s.pts[s.pts.since(from):]
	for i := range part { // few, mostly
		if part[i].at >= to {
			break
		}
		if e, ok := s.e(&part[i]); ok {
			list = append(list, float32(e))
		}
	}
	return list
}

// subtractSorted takes out of x what is in gone, in place. Both are sorted, and x has all of it.
func subtractSorted(x, gone []float32) []float32 {
	if len(gone) == 0 {
		return x
	}
	at, _ := slices.BinarySearch(x, gone[0])
	kept := x[:at]
	for _, v := range x[at:] {
		if len(gone) > 0 && v == gone[0] {
			gone = gone[1:]
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// mergeSorted puts come into x, in place where there is room. Both are sorted.
func mergeSorted(x, come []float32) []float32 {
	at, n := len(x), len(come)
	x = append(x, come...)
	for n > 0 {
		if at > 0 && x[at-1] > come[n-1] {
			x[at+n-1] = x[at-1]
			at--
		} else {
			x[at+n-1] = come[n-1]
			n--
		}
	}
	return x
}

// interquintileMean returns the mean of sorted values from the 20th to the 80th percentile, both included.
func interquintileMean(x []float32) float64 {
	if len(x) == 0 {
		return 0
	}
	last := float64(len(x) - 1)
	const close = 1e-9 // .2 and .8 are no binary fractions: a position that is whole must count as whole
	low, high := int(math.Ceil(.2*last-close)), int(math.Floor(.8*last+close))
	var sum float64
	for _, e := range x[low : high+1] {
		sum += float64(e)
	}
	return sum / float64(high-low+1)
}
