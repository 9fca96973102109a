package schedule

import (
	"slices"
	"time"

	"github.com/robfig/cron/v3"
)

// Windows says when planned windows are: Next returns the earliest one that ends after a time, its end not included. ok is
// false when none will come. Windows that touch or overlap are one.
type Windows interface {
	Next(after time.Time) (from, to time.Time, ok bool)
}

var (
	_ Windows = Spans{}
	_ Windows = Starts{}
	_ Windows = Daily{}
)

// Span is one window; To is not in it.
type Span struct{ From, To time.Time }

// Spans are windows at instants.
type Spans []Span

// Next returns the earliest window that ends after a time.
func (s Spans) Next(after time.Time) (from, to time.Time, ok bool) {
	return earliest(s, after)
}

// Starts are windows that a cron expression begins, each of the same length. What the clock does to its starts is the
// expression's own: a local time that exists twice begins two windows. One that does not exist begins its window when the
// clock jumps over it, because what was planned for it is done then.
type Starts struct {
	Cron cron.Schedule // by Parse
	For  time.Duration
}

// startsMerged bounds how many starts make one window.
const startsMerged = 100

// Next returns the earliest window that ends after a time. A start before the end of the window before makes that longer.
func (s Starts) Next(after time.Time) (from, to time.Time, ok bool) {
	from = s.next(after.Add(-s.For))
	if from.IsZero() {
		return from, from, false
	}
	to = from.Add(s.For)
	for at, n := from, 0; n < startsMerged; n++ {
		if at = s.next(at); at.IsZero() || at.After(to) {
			break
		}
		to = at.Add(s.For)
	}
	return from, to, true
}

// next returns the first start after t, those included that fall into a gap of the clock.
func (s Starts) next(t time.Time) time.Time {
	at := s.Cron.Next(t)
	f, zoned := s.Cron.(fields)
	for c := t; zoned; {
		_, change := c.In(f.zone).ZoneBounds()
		switch {
		case change.IsZero(), !at.IsZero() && !change.Before(at), change.Sub(t) > searched:
			return at
		case f.skippedBy(change):
			return change
		}
		c = change
	}
	return at
}

// skippedBy reports whether the expression has a run at a local time that the clock jumps over at an instant.
func (f fields) skippedBy(jump time.Time) bool {
	_, before := jump.Add(-time.Second).In(f.zone).Zone()
	_, now := jump.In(f.zone).Zone()
	if now <= before {
		return false
	}
	gap := jump.Add(time.Duration(before) * time.Second).UTC() // the first local time that is not there, as if it were UTC
	run := f.SpecSchedule.Next(gap.Add(-time.Second))
	return !run.IsZero() && run.Before(gap.Add(time.Duration(now-before)*time.Second))
}

// Daily are windows between two times of the day, on some days of the week. A window whose Until is not after From ends on
// the next day. A local time that exists twice begins its window the first time and ends it the second time; one that does
// not exist is the instant of the jump, so that a window within the gap is not.
type Daily struct {
	From, Until time.Duration  // since local midnight
	Days        []time.Weekday // on which it begins; none = all
	Zone        *time.Location
}

// Next returns the earliest window that ends after a time.
func (d Daily) Next(after time.Time) (from, to time.Time, ok bool) {
	y, m, day := after.In(d.Zone).Date()
	var list []Span
	for i := -2; i <= 9; i++ { // a week, and a day of windows that touch
		noon := time.Date(y, m, day+i, 12, 0, 0, 0, time.UTC)
		if len(d.Days) > 0 && !slices.Contains(d.Days, noon.Weekday()) {
			continue
		}
		midnight := noon.Add(-12 * time.Hour)
		end := midnight.Add(d.Until)
		if d.Until <= d.From {
			end = end.AddDate(0, 0, 1)
		}
		s := Span{first(midnight.Add(d.From), d.Zone), last(end, d.Zone)}
		if s.To.After(s.From) {
			list = append(list, s)
		}
	}
	from, to, ok = earliest(list, after)
	return from.In(d.Zone), to.In(d.Zone), ok
}

// first returns the instant at which a local time, given as if it were UTC, is reached; last the one at which it is
// reached for the last time.
func first(local time.Time, zone *time.Location) time.Time { return instants(local, zone)[0] }
func last(local time.Time, zone *time.Location) time.Time {
	list := instants(local, zone)
	return list[len(list)-1]
}

// instants lists the instants of a local time, in order; one that the clock jumps over is that of the jump.
func instants(local time.Time, zone *time.Location) (list []time.Time) {
	const reach = 26 * time.Hour // no zone is farther from UTC
	jump := local
	for t := local.Add(-reach).In(zone); t.Before(local.Add(reach)); {
		_, offset := t.Zone()
		start, end := t.ZoneBounds()
		at := local.Add(-time.Duration(offset) * time.Second).In(zone)
		if !at.Before(start) && (end.IsZero() || at.Before(end)) {
			list = append(list, at)
		}
		if end.IsZero() {
			break
		}
		if !at.Before(end) && local.Before(localOf(end)) {
			jump = end
		}
		t = end
	}
	if len(list) == 0 {
		return []time.Time{jump.In(zone)}
	}
	return list
}

// localOf is what the clock shows at an instant, as if it were UTC.
func localOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// earliest returns the earliest of the spans that end after a time, those that touch as one. It needs no order.
func earliest(list []Span, after time.Time) (from, to time.Time, ok bool) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Span) int { return a.From.Compare(b.From) })
	for i := 0; i < len(list); {
		from, to = list[i].From, list[i].To
		for i++; i < len(list) && !list[i].From.After(to); i++ {
			if list[i].To.After(to) {
				to = list[i].To
			}
		}
		if to.After(after) {
			return from, to, true
		}
	}
	return time.Time{}, time.Time{}, false
}
