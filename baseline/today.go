package baseline

import (
	"math"
	"slices"
	"time"
)

// today is what was measured in the hours that say how today runs: how far each value was from usual, sorted. The window moves on
// from question to question, and few values come and go.
type today struct {
	of       []*Series
	edition  int   // of all of them, when they were asked last
	from, to int64 // grains: the values are of [from, to)
	e        []float32
}

// offset is o(t): how far today runs beside usual, from the residuals of the last hours without the last half hour, which may
// already be the fault. Excluded samples count: today is today. It is 0 of fewer than 8 values, and clipped to a ratio of most either
// way. Each of series is measured once in an interval.
func (d *today) offset(at int64, interval time.Duration, most float64, series ...*Series) float64 {
	d.move(offsetWindow(at, interval), series)
	if len(d.e) < 8 {
		return 0
	}
	limit := math.Log(max(1, most))
	return min(max(.8*middle(d.e), -limit), limit)
}

// offsetWindow is where the values lie that say how today runs.
func offsetWindow(at int64, interval time.Duration) span {
	if interval > 15*time.Minute {
		return span{at - 12*hour, at - 60*minute + 1}
	}
	return span{at - 3*hour, at - 30*minute + 1}
}

// move brings the values to those that series have in a window.
func (d *today) move(w span, series []*Series) {
	from, to := grains(w.from), grainsUp(w.to)
	edition := 0
	for _, s := range series {
		edition += s.edition // each only grows
		s.told = max(s.told, to)
	}
	if edition != d.edition || from < d.from || from > d.to || to < d.to || !slices.Equal(series, d.of) {
		d.from, d.to, d.e = from, from, d.e[:0]
		d.of = append(d.of[:0], series...)
	}
	for _, s := range series {
		s.usuals(d.from, from, d.drop)
		s.usuals(d.to, to, d.take)
	}
	d.edition, d.from, d.to = edition, from, to
}

func (d *today) take(e float32) {
	i, _ := slices.BinarySearch(d.e, e)
	d.e = slices.Insert(d.e, i, e)
}

func (d *today) drop(e float32) {
	if i, held := slices.BinarySearch(d.e, e); held {
		d.e = slices.Delete(d.e, i, i+1)
	}
}

// usuals tells how far from usual the judged values in [from, to) were, grains.
func (s *Series) usuals(from, to int64, tell func(float32)) {
	if from >= to {
		return
	}
	part := points{s.pts.base, s.pts.cells[s.pts.from(from):s.pts.from(to)]}
	for i := range part.cells {
		if e, ok := s.eAt(part, i); ok {
			tell(float32(e))
		}
	}
}

// middle returns the mean of sorted values from the 20th to the 80th percentile, both included.
func middle(x []float32) float64 {
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
