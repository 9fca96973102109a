package baseline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/probe"
)

// local reads "2026-03-29 02:15" on a zone's clock; a trailing offset such as "+01:00" picks one of a repeated hour.
func local(t *testing.T, z *time.Location, text string) time.Time {
	t.Helper()
	if len(text) > len("2006-01-02 15:04") {
		at, err := time.Parse("2006-01-02 15:04Z07:00", text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", text, z)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestSlotStarts(t *testing.T) {
	f := func(zoneName string, slot time.Duration, at, want string) {
		t.Helper()
		z := zone(t, zoneName)
		got := clock{z}.start(local(t, z, at).UnixNano(), int64(slot))
		if w := local(t, z, want); got != w.UnixNano() {
			t.Errorf("%s: the %s slot of %s starts at %s, want %s", zoneName, slot, at, time.Unix(0, got).In(z), w.In(z))
		}
	}
	const half, two = 30 * time.Minute, 2 * time.Hour
	f("UTC", half, "2026-03-10 23:59", "2026-03-10 23:30")
	f("UTC", half, "2026-03-10 00:00", "2026-03-10 00:00")
	f("UTC", half, "1969-12-31 23:59", "1969-12-31 23:30")
	f("Asia/Kathmandu", half, "2026-03-10 12:14", "2026-03-10 12:00") // 05:45 ahead
	f("Europe/Berlin", half, "2026-03-29 03:10", "2026-03-29 03:00")
	f("Europe/Berlin", two, "2026-03-29 03:10", "2026-03-29 03:00") // 02:00 never came
	f("Europe/Berlin", two, "2026-03-29 04:10", "2026-03-29 04:00")
	f("Europe/Berlin", half, "2026-10-25 02:10+02:00", "2026-10-25 02:00+02:00")
	f("Europe/Berlin", half, "2026-10-25 02:10+01:00", "2026-10-25 02:00+01:00")
	f("Europe/Berlin", two, "2026-10-25 02:10+02:00", "2026-10-25 02:00+02:00")
	f("Europe/Berlin", two, "2026-10-25 03:10+01:00", "2026-10-25 02:00+01:00")
	f("America/New_York", half, "2026-11-01 01:45-04:00", "2026-11-01 01:30-04:00")
	f("America/New_York", half, "2026-11-01 01:45-05:00", "2026-11-01 01:30-05:00")
	f("Australia/Lord_Howe", time.Hour, "2026-04-05 01:40+10:30", "2026-04-05 01:30+10:30") // put back by half an hour
	f("Australia/Lord_Howe", 24*time.Hour, "2026-04-05 14:00+10:30", "2026-04-05 01:30+10:30")
}

// inside lists what of the given local times is in P of the slot at a time.
func inside(t *testing.T, zoneName string, slot time.Duration, at string, by int64, times ...string) (in []string) {
	t.Helper()
	z := zone(t, zoneName)
	opt := DefaultOptions()
	opt.Slot = slot
	start := clock{z}.start(local(t, z, at).UnixNano(), int64(slot))
	for _, text := range times {
		s := NewSeries(Key{Zone: z, Interval: time.Minute}, opt, DefaultThreshold())
		s.Add(Point{At: local(t, z, text), Regular: true})
		if p := s.pool(start, by, false); len(p.y) == 1 && p.days >= 1 {
			in = append(in, text)
		}
	}
	return in
}

func TestWindows(t *testing.T) {
	const half = 30 * time.Minute
	f := func(zoneName string, slot time.Duration, at string, by int64, in, out []string) {
		t.Helper()
		if diff := cmp.Diff(in, inside(t, zoneName, slot, at, by, append(in, out...)...)); diff != "" {
			t.Errorf("%s, slot at %s (-want +got):\n%s", zoneName, at, diff)
		}
	}
	list := func(s ...string) []string { return s }
	f("UTC", half, "2026-03-10 23:45", 30*minute, // into the next date
		list("2026-03-09 23:00", "2026-03-09 23:59", "2026-03-10 00:00", "2026-03-10 00:29", "2026-03-03 23:00", "2026-03-04 00:29"),
		list("2026-03-09 22:59", "2026-03-10 00:30", "2026-03-10 23:00", "2026-03-10 23:35", "2026-03-03 22:59", "2026-03-02 23:45"))
	f("UTC", half, "2026-03-10 00:10", 30*minute, // into the date before
		list("2026-03-08 23:30", "2026-03-09 00:59", "2026-03-02 23:30", "2026-03-03 00:00"),
		list("2026-03-09 23:45", "2026-03-10 00:00", "2026-03-09 01:00", "2026-03-08 23:29", "2026-03-02 23:29"))
	f("UTC", half, "2026-03-10 12:00", 4*hour,
		list("2026-03-09 08:00", "2026-03-09 16:29"), list("2026-03-09 07:59", "2026-03-09 16:30", "2026-03-10 11:59"))
	f("UTC", half, "2026-03-10 12:00", -1, // the whole of each local date
		list("2026-03-03 00:00", "2026-03-09 23:59"), list("2026-03-02 23:59", "2026-03-10 00:00", "2026-03-10 11:59"))
	f("UTC", 24*time.Hour, "2026-03-10 12:00", 30*minute, // never past the start of today's slot
		list("2026-03-02 23:30", "2026-03-09 23:59"), list("2026-03-10 00:00", "2026-03-10 00:29"))
	f("UTC", half, "2028-03-01 12:00", 30*minute, // a leap day is a day
		list("2028-02-29 12:00", "2028-02-28 12:00", "2028-02-23 12:00"), list("2028-02-22 12:00"))

	// Berlin has no 02:00 to 03:00 on March 29: the window around it has what is left of the clock.
	f("Europe/Berlin", half, "2026-03-31 02:15", 30*minute,
		list("2026-03-29 01:30", "2026-03-29 01:59", "2026-03-30 02:59", "2026-03-28 01:30", "2026-03-28 02:59"),
		list("2026-03-29 03:00", "2026-03-29 01:29", "2026-03-28 03:00"))
	f("Europe/Berlin", half, "2026-03-30 12:15", 30*minute, // the same wall clock on both sides of the change
		list("2026-03-29 11:30", "2026-03-29 12:59", "2026-03-28 11:30", "2026-03-23 12:59"), list("2026-03-28 11:29", "2026-03-28 13:00", "2026-03-22 12:15"))
	// On October 25 the hour from 02:00 comes twice, and both count.
	f("Europe/Berlin", half, "2026-10-27 02:15", 30*minute,
		list("2026-10-25 02:00+02:00", "2026-10-25 02:59+02:00", "2026-10-25 02:00+01:00", "2026-10-25 02:59+01:00", "2026-10-25 01:30+02:00", "2026-10-26 01:30"),
		list("2026-10-25 03:00+01:00", "2026-10-25 01:29+02:00"))
	f("America/New_York", half, "2026-11-03 00:45", 30*minute, // 00:00 to 01:30, the second hour from 01:00 included
		list("2026-11-01 00:00-04:00", "2026-11-01 01:29-04:00", "2026-11-01 01:00-05:00", "2026-11-01 01:29-05:00"),
		list("2026-11-01 01:30-04:00", "2026-11-01 01:30-05:00"))
	f("America/New_York", half, "2026-03-10 01:45", 30*minute, // 01:00 to 02:30; 02:00 to 03:00 never came
		list("2026-03-08 01:00", "2026-03-08 01:59"), list("2026-03-08 03:00-04:00", "2026-03-08 03:29-04:00", "2026-03-08 00:59"))
}

// A sample that two days' windows share is one sample.
func TestOverlappingWindowsTakeASampleOnce(t *testing.T) {
	opt := DefaultOptions()
	opt.Slot = 24 * time.Hour
	s := NewSeries(Key{Interval: time.Minute}, opt, DefaultThreshold())
	s.Add(Point{At: utc(3, 9, 0, 10), Regular: true}) // in the windows of March 8 and 9
	p := s.pool(utc(3, 10, 0, 0).UnixNano(), 30*minute, false)
	if len(p.y) != 1 || p.days != 2 {
		t.Errorf("%d samples on %d days, want 1 on 2", len(p.y), p.days)
	}
}

func TestWindowWidensUntilItHoldsEnough(t *testing.T) {
	f := func(every time.Duration, n, days int, widened string, ready bool) {
		t.Helper()
		s := NewSeries(Key{Metric: probe.TTFT, Interval: every}, DefaultOptions(), DefaultThreshold())
		for at := utc(3, 1, 0, 0); at.Before(utc(3, 10, 12, 0)); at = at.Add(every) {
			s.Add(Point{At: at, Regular: true})
		}
		lv := s.level(utc(3, 10, 12, 0).UnixNano())
		if lv.N != n || lv.Days != days || lv.Widened != widened || lv.Ready != ready {
			t.Errorf("every %s: %+v, want %d samples on %d days within %s, ready %t", every, lv, n, days, widened, ready)
		}
	}
	f(15*time.Minute, 42, 7, "30m", true)
	f(20*time.Minute, 56, 7, "1h", true) // 11:40 12:00 12:20 12:40 are 28 only
	f(30*time.Minute, 35, 7, "1h", true)
	f(time.Hour, 35, 7, "2h", true)
	f(90*time.Minute, 35, 7, "4h", true)
	f(2*time.Hour, 35, 7, "4h", true)
	f(6*time.Hour, 28, 7, "day", true)
	f(12*time.Hour, 14, 7, "day", true)
	f(13*time.Hour, 13, 7, "day", false)
	f(24*time.Hour, 7, 7, "day", false)
}

func TestFewDaysDoNotMakeABand(t *testing.T) {
	f := func(days int, want bool) {
		t.Helper()
		s := NewSeries(Key{Interval: time.Minute}, DefaultOptions(), DefaultThreshold())
		for d := 1; d <= days; d++ {
			for m := range 40 {
				s.Add(Point{At: utc(3, 10-d, 12, m), Regular: true})
			}
		}
		if lv := s.level(utc(3, 10, 12, 0).UnixNano()); lv.Ready != want || lv.Days != days {
			t.Errorf("%d days: %+v, want ready %t", days, lv, want)
		}
	}
	f(1, false)
	f(2, false)
	f(3, true)
}
