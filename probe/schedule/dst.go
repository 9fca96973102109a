package schedule

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// allHours are the bits of an hour field that matches every hour.
const allHours = 1<<24 - 1

// DSTNotes says in sentences what the clock changes of zone do to s in the year from from: the runs that do not happen and
// those that happen twice. It is empty for schedules that run every hour, for "@every", and for zones without changes.
func DSTNotes(s cron.Schedule, zone *time.Location, from time.Time) []string {
	f, ok := s.(fields)
	if !ok || zone == nil || f.Hour&allHours == allHours {
		return nil
	}
	var notes []string
	for t := from.In(zone); ; {
		_, change := t.ZoneBounds()
		if change.IsZero() || change.After(from.AddDate(1, 0, 0)) {
			return notes
		}
		if note := f.note(change.In(zone)); note != "" {
			notes = append(notes, note)
		}
		t = change.In(zone)
	}
}

// note describes the change of the clock at t; "" when no run is touched.
func (f fields) note(t time.Time) string {
	_, before := t.Add(-time.Nanosecond).Zone()
	_, after := t.Zone()
	old, young := local(t, before), local(t, after)
	begin, end := old, young
	if after < before {
		begin, end = young, old
	}
	n := 0
	first := time.Time{}
	for run := range Runs(f.SpecSchedule, begin, end) {
		if n++; n == 1 {
			first = run
		}
	}
	what := "does not have"
	if after < before {
		what = "has twice"
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s %s %s the run of %s", begin.Format(time.DateOnly), f.zone, what, first.Format("15:04"))
	}
	return fmt.Sprintf("%s %s %s the %d runs from %s to %s", begin.Format(time.DateOnly), f.zone, what, n,
		first.Format("15:04"), end.Format("15:04"))
}

// local returns the wall clock's reading at t under an offset of seconds, as a UTC time.
func local(t time.Time, offset int) time.Time {
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
