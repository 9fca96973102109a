package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// column is one field of a cron expression.
type column struct {
	name     string
	min, max int
	hint     string // for values out of range
}

// columns lists the fields in their order.
func columns() [5]column {
	return [5]column{
		{"minute", 0, 59, "use 0 to 59"},
		{"hour", 0, 23, "use 0 to 23"},
		{"day of month", 1, 31, "use 1 to 31"},
		{"month", 1, 12, "use 1 to 12 or jan to dec"},
		{"day of week", 0, 6, "use 0 (Sunday) to 6, or sun to sat; 7 is written 0"},
	}
}

// reference is an instant of a leap year, from which a schedule that ever fires does so within five years.
func reference() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }

func parseFields(text string, zone *time.Location) (s cron.Schedule, what, fix string) {
	words := strings.Fields(text)
	if len(words) == 6 {
		return nil, "has six fields", "drop the seconds: minute, hour, day of month, month, day of week"
	}
	if len(words) != 5 {
		return nil, fmt.Sprintf("has %d fields", len(words)), "write five: minute, hour, day of month, month, day of week"
	}
	for i, c := range columns() {
		if what, fix := c.check(words[i]); what != "" {
			return nil, what, fix
		}
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil { // kept for what the columns let through, such as a range that ends before it begins
		return nil, "is not a cron expression (" + err.Error() + ")", `write five fields such as "*/5 8-20 * * mon-fri"`
	}
	spec := inUTC(parsed)
	if spec.Next(reference()).IsZero() {
		return nil, "never fires", "no year has such a day: change day of month or month"
	}
	return fields{SpecSchedule: spec, text: text, zone: zone}, "", ""
}

// check finds what the cron parser lets pass (empty list elements, steps beyond the field) or says unclearly.
func (c column) check(word string) (what, fix string) {
	for _, part := range strings.Split(word, ",") {
		span, step, stepped := strings.Cut(part, "/")
		if span == "" {
			return fmt.Sprintf("has an empty value in its %s field", c.name), "remove the stray comma or slash"
		}
		low, high := c.span(span)
		if low < c.min || high > c.max {
			return fmt.Sprintf("has %q in its %s field", part, c.name), c.hint
		}
		if !stepped {
			continue
		}
		if !strings.Contains(span, "-") {
			high = c.max // "N/step" runs to the end of the field
		}
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 {
			return fmt.Sprintf("has the step %q in its %s field", step, c.name), "a step is a whole number from 1"
		}
		if n > 1 && n > high-low {
			return fmt.Sprintf("has a step of %d in its %s field, which leaves one value only", n, c.name),
				fmt.Sprintf("use at most %d, or the value alone", max(high-low, 1))
		}
	}
	return "", ""
}

// span returns the bounds of *, ?, N or N-M; names and what is no number count as within the field, for the parser to
// judge.
func (c column) span(word string) (low, high int) {
	if word == "*" || word == "?" {
		return c.min, c.max
	}
	first, last, ranged := strings.Cut(word, "-")
	low, high = c.min, c.max
	if n, err := strconv.Atoi(first); err == nil {
		low = n
		if !ranged {
			high = n
		}
	}
	if n, err := strconv.Atoi(last); err == nil && ranged {
		high = n
	}
	return low, high
}

// fields is a five-field schedule on one zone's clock. The embedded schedule counts in UTC.
type fields struct {
	*cron.SpecSchedule
	text string
	zone *time.Location
}

// searched bounds the search for the next run: leap days are at most eight years apart.
const searched = 9 * 366 * 24 * time.Hour

// Next returns the first run after t, in the schedule's zone. The search goes from one change of the clock to the next:
// between two changes local time is UTC plus a constant, so that no gap, repeat or odd shift can mislead it.
func (f fields) Next(t time.Time) time.Time {
	t = t.Round(0).In(f.zone)
	for limit := t.Add(searched); t.Before(limit); {
		_, offset := t.Zone()
		shift := time.Duration(offset) * time.Second
		_, end := t.ZoneBounds()
		next := f.SpecSchedule.Next(t.Add(shift).UTC())
		if !next.IsZero() {
			next = next.Add(-shift).In(f.zone)
			if end.IsZero() || next.Before(end) {
				return next
			}
		}
		switch {
		case !end.IsZero():
			if t = end; f.at(end) { // Next is strictly after t, so the change itself is looked at apart
				return end
			}
		default:
			t = t.Add(4 * 366 * 24 * time.Hour) // no run in five years: a leap day around 2100
		}
	}
	return time.Time{}
}

// at reports whether t, a whole second, is a run.
func (f fields) at(t time.Time) bool {
	_, offset := t.Zone()
	local := t.Add(time.Duration(offset) * time.Second).UTC()
	return f.SpecSchedule.Next(local.Add(-time.Second)).Equal(local)
}

// Zone returns the zone whose clock the schedule is read on.
func (f fields) Zone() *time.Location { return f.zone }

// String returns the expression as written.
func (f fields) String() string { return f.text }

// every fires at the multiples of itself since the Unix epoch.
type every time.Duration

// Next returns the first multiple after t, in UTC.
func (e every) Next(t time.Time) time.Time {
	seconds := int64(time.Duration(e) / time.Second)
	n := t.Unix()
	past := n % seconds
	if past < 0 {
		past += seconds
	}
	return time.Unix(n-past+seconds, 0).UTC()
}

// String returns the expression.
func (e every) String() string { return "@every " + time.Duration(e).String() }
