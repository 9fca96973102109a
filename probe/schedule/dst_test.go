package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parsed(t *testing.T, spec, zoneName string) cron.Schedule {
	t.Helper()
	s, err := Parse(spec, zone(t, zoneName))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChangesOfTheClock(t *testing.T) {
	f := func(spec, zoneName, from, to string, want ...string) {
		t.Helper()
		var got []string
		for run := range Runs(parsed(t, spec, zoneName), at(t, from), at(t, to)) {
			got = append(got, run.Format(time.RFC3339))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in %s: %s", spec, zoneName, diff)
		}
	}
	// A gap skips the day of a daily run inside it.
	f("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z", "2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00")
	f("0 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-30T12:00:00Z", "2026-03-30T02:00:00+02:00")
	f("0 3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T12:00:00Z", "2026-03-29T03:00:00+02:00")
	f("30 2 * * *", "America/New_York", "2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z", "2026-03-07T02:30:00-05:00", "2026-03-09T02:30:00-04:00")
	// A repeated hour fires twice.
	f("30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-26T00:00:00Z", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00")
	f("0 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T12:00:00Z", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00")
	f("0 3 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T12:00:00Z", "2026-10-25T03:00:00+01:00")
	// Hourly and denser schedules keep their pace through both.
	f("0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00")
	f("0,30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00")
	// A gap at midnight, and one of half an hour.
	f("0 0 * * *", "Africa/Cairo", "2026-04-22T00:00:00Z", "2026-04-25T12:00:00Z", "2026-04-23T00:00:00+02:00", "2026-04-25T00:00:00+03:00")
	f("0 12 24 4 *", "Africa/Cairo", "2026-04-22T00:00:00Z", "2026-04-25T12:00:00Z", "2026-04-24T12:00:00+03:00")
	f("0 4 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-04T00:00:00Z", "2026-10-04T04:00:00+11:00")
	f("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-05T00:00:00Z", "2026-10-05T02:15:00+11:00")
	f("@every 1h", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z")
}

// Next is held against a walk through every minute.
func TestNextAgainstEveryMinute(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "Antarctica/Troll"}
	minute := []string{"*", "0", "30", "*/7", "15,45", "59"}
	hour := []string{"*", "0", "1", "2", "3", "4", "0-3", "*/2", "23"}
	day := []string{"*", "1", "29", "15-31"}
	weekday := []string{"*", "0", "1-5"}
	rapid.Check(t, func(rt *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		spec := rapid.SampledFrom(minute).Draw(rt, "minute") + " " + rapid.SampledFrom(hour).Draw(rt, "hour") + " " +
			rapid.SampledFrom(day).Draw(rt, "day") + " * " + rapid.SampledFrom(weekday).Draw(rt, "weekday")
		s, err := Parse(spec, z)
		if err != nil {
			rt.Fatal(err)
		}
		from := time.Date(2011+rapid.IntRange(0, 18).Draw(rt, "year"), 1, 1, 0, 0, 0, 0, z)
		for range rapid.IntRange(0, 4).Draw(rt, "changes") { // near a change of the clock, where there are any
			if _, end := from.ZoneBounds(); !end.IsZero() {
				from = end.In(z)
			}
		}
		from = from.Add(-time.Duration(rapid.IntRange(0, 5*3600).Draw(rt, "before")) * time.Second)
		want := slow(s.(fields), from)
		got := s.Next(from)
		if want.IsZero() {
			if got.Before(from.Add(30 * time.Hour)) {
				rt.Fatalf("%q in %s after %v: %v, want none in 30 h", spec, z, from, got)
			}
			return
		}
		if !got.Equal(want) || got.Location().String() != z.String() {
			rt.Fatalf("%q in %s after %v: %v, want %v", spec, z, from, got, want)
		}
	})
}

// slow looks at every minute of 30 hours.
func slow(f fields, from time.Time) time.Time {
	t := from.Truncate(time.Minute)
	for range 30 * 60 {
		t = t.Add(time.Minute)
		l := t.In(f.zone)
		day := 1<<uint(l.Day())&f.Dom != 0
		weekday := 1<<uint(l.Weekday())&f.Dow != 0
		match := day || weekday
		if f.Dom>>63 == 1 || f.Dow>>63 == 1 {
			match = day && weekday
		}
		if match && 1<<uint(l.Minute())&f.Minute != 0 && 1<<uint(l.Hour())&f.Hour != 0 {
			return l
		}
	}
	return time.Time{}
}

func TestDSTNotes(t *testing.T) {
	from := at(t, "2026-01-01T00:00:00Z")
	f := func(spec, zoneName string, want ...string) {
		t.Helper()
		if got := DSTNotes(parsed(t, spec, zoneName), zone(t, zoneName), from); !slices.Equal(got, want) {
			t.Errorf("%q in %s: %q, want %q", spec, zoneName, got, want)
		}
	}
	f("30 2 * * *", "Europe/Berlin", "2026-03-29 Europe/Berlin does not have the run of 02:30", "2026-10-25 Europe/Berlin has twice the run of 02:30")
	f("*/10 0-5 * * *", "Europe/Berlin", "2026-03-29 Europe/Berlin does not have the 6 runs from 02:00 to 03:00", "2026-10-25 Europe/Berlin has twice the 6 runs from 02:00 to 03:00")
	f("30 8 * * *", "Europe/Berlin")
	f("30 * * * *", "Europe/Berlin")
	f("30 2 * * *", "Asia/Shanghai")
	f("@every 1h", "Europe/Berlin")
}
