package schedule

import (
	"iter"
	"math/bits"
	"time"

	"github.com/robfig/cron/v3"
)

// Week is the span over which a schedule is judged.
const Week = 7 * 24 * time.Hour

// Runs returns the runs of s from from (included) to to (excluded), in order.
func Runs(s cron.Schedule, from, to time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for t := s.Next(from.Add(-time.Nanosecond)); !t.IsZero() && t.Before(to); t = s.Next(t) {
			if !yield(t) {
				return
			}
		}
	}
}

// WeekCount returns how many runs s has in the seven days from from, and on how many different days of its zone.
func WeekCount(s cron.Schedule, from time.Time) (runs, days int) {
	if e, ok := s.(every); ok {
		return e.weekCount(from)
	}
	last := -1
	for t := range Runs(s, from, from.Add(Week)) {
		runs++
		if day := t.Year()*366 + t.YearDay(); day != last {
			last = day
			days++
		}
	}
	return runs, days
}

// weekCount counts without walking through up to 604 800 runs.
func (e every) weekCount(from time.Time) (runs, days int) {
	first := e.Next(from.Add(-time.Nanosecond))
	end := from.Add(Week)
	if !first.Before(end) {
		return 0, 0
	}
	runs = int((end.Sub(first)-1)/time.Duration(e)) + 1
	for day := from.UTC().Truncate(24 * time.Hour); day.Before(end); day = day.Add(24 * time.Hour) {
		begin := day
		if begin.Before(from) {
			begin = from
		}
		if t := e.Next(begin.Add(-time.Nanosecond)); t.Before(end) && t.Before(day.Add(24*time.Hour)) {
			days++
		}
	}
	return runs, days
}

// Interval returns the shortest gap between two runs of s in the seven days from at. With fewer than two runs in them
// it is the gap between the next two runs whenever they are, and 0 when there are none.
func Interval(s cron.Schedule, at time.Time) time.Duration {
	if e, ok := s.(every); ok {
		return time.Duration(e)
	}
	least := time.Duration(0)
	floor := shortest(s)
	last := s.Next(at.Add(-time.Nanosecond))
	for end := at.Add(Week); !last.IsZero(); {
		next := s.Next(last)
		if next.IsZero() || (least > 0 && !next.Before(end)) {
			break
		}
		if gap := next.Sub(last); least == 0 || gap < least {
			least = gap
		}
		if least <= floor {
			break // no pair of its minutes is closer, so the rest of the week need not be walked
		}
		last = next
	}
	return least
}

// shortest returns a lower bound of the gaps of s from its minutes alone, on a day without a change of the clock.
func shortest(s cron.Schedule) time.Duration {
	f, ok := s.(fields)
	if !ok {
		return 0
	}
	minutes := f.Minute &^ (1 << 63) // the top bit marks a star
	first, least := bits.TrailingZeros64(minutes), 60
	for last, rest := first, minutes&(minutes-1); rest != 0; rest &= rest - 1 {
		n := bits.TrailingZeros64(rest)
		least, last = min(least, n-last), n
	}
	final := 63 - bits.LeadingZeros64(minutes)
	return time.Duration(min(least, 60-final+first)) * time.Minute
}
