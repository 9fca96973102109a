package schedule

import (
	"testing"
	"time"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

const stamp = "2006-01-02T15:04Z07:00"

// windowsFrom lists the windows from a time on.
func windowsFrom(w Windows, after time.Time, n int) (list []string) {
	for range n {
		from, to, ok := w.Next(after)
		if !ok {
			return append(list, "none")
		}
		list = append(list, from.Format(stamp)+" "+to.Format(stamp))
		after = to
	}
	return list
}

func same(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %q, want %q", name, got, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: window %d is %s, want %s", name, i, got[i], want[i])
		}
	}
}

// TestDailyWindows goes across midnight, and over the days when Berlin's clock jumps (29 March 2026, 02:00 → 03:00) and is
// set back (25 October 2026, 03:00 → 02:00).
func TestDailyWindows(t *testing.T) {
	zone := berlin(t)
	clock := func(h, m int) time.Duration { return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute }
	f := func(name string, d Daily, after string, want ...string) {
		t.Helper()
		d.Zone = zone
		at, err := time.ParseInLocation("2006-01-02 15:04", after, zone)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, windowsFrom(d, at, len(want)), want)
	}
	f("plain", Daily{From: clock(2, 0), Until: clock(3, 0)}, "2026-03-02 02:30", "2026-03-02T02:00+01:00 2026-03-02T03:00+01:00", "2026-03-03T02:00+01:00 2026-03-03T03:00+01:00")
	f("its end is not in it", Daily{From: clock(2, 0), Until: clock(3, 0)}, "2026-03-02 03:00", "2026-03-03T02:00+01:00 2026-03-03T03:00+01:00")
	f("across midnight", Daily{From: clock(23, 30), Until: clock(1, 0)}, "2026-03-02 00:30", "2026-03-01T23:30+01:00 2026-03-02T01:00+01:00", "2026-03-02T23:30+01:00 2026-03-03T01:00+01:00")
	f("across midnight by weekday", Daily{From: clock(23, 0), Until: clock(1, 0), Days: []time.Weekday{time.Saturday}}, "2026-03-02 00:30",
		"2026-03-07T23:00+01:00 2026-03-08T01:00+01:00", "2026-03-14T23:00+01:00 2026-03-15T01:00+01:00")
	f("in the gap", Daily{From: clock(2, 15), Until: clock(2, 45)}, "2026-03-28 12:00", "2026-03-30T02:15+02:00 2026-03-30T02:45+02:00")
	f("the gap itself", Daily{From: clock(2, 0), Until: clock(3, 0)}, "2026-03-28 12:00", "2026-03-30T02:00+02:00 2026-03-30T03:00+02:00")
	f("into the gap", Daily{From: clock(1, 30), Until: clock(2, 30)}, "2026-03-28 12:00", "2026-03-29T01:30+01:00 2026-03-29T03:00+02:00")
	f("out of the gap", Daily{From: clock(2, 30), Until: clock(4, 0)}, "2026-03-28 12:00", "2026-03-29T03:00+02:00 2026-03-29T04:00+02:00")
	f("the doubled hour", Daily{From: clock(2, 0), Until: clock(3, 0)}, "2026-10-24 12:00", "2026-10-25T02:00+02:00 2026-10-25T03:00+01:00")
	f("within the doubled hour", Daily{From: clock(2, 15), Until: clock(2, 45)}, "2026-10-24 12:00", "2026-10-25T02:15+02:00 2026-10-25T02:45+01:00")
	f("two that touch are one", Daily{From: clock(22, 0), Until: clock(22, 0), Days: []time.Weekday{time.Saturday, time.Sunday}}, "2026-03-03 12:00",
		"2026-03-07T22:00+01:00 2026-03-09T22:00+01:00")
}

// TestCronWindows begins windows by cron, over the same days.
func TestCronWindows(t *testing.T) {
	zone := berlin(t)
	f := func(name, cron string, d time.Duration, after string, want ...string) {
		t.Helper()
		s, err := Parse(cron, zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("2006-01-02 15:04", after, zone)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, windowsFrom(Starts{s, d}, at, len(want)), want)
	}
	f("weekly", "0 22 * * sat", 4*time.Hour, "2026-03-08 01:00", "2026-03-07T22:00+01:00 2026-03-08T02:00+01:00", "2026-03-14T22:00+01:00 2026-03-15T02:00+01:00")
	f("a start in the gap is at the jump", "30 2 * * *", time.Hour, "2026-03-28 12:00", "2026-03-29T03:00+02:00 2026-03-29T04:00+02:00", "2026-03-30T02:30+02:00 2026-03-30T03:30+02:00")
	f("over the gap", "30 1 * * *", time.Hour, "2026-03-28 12:00", "2026-03-29T01:30+01:00 2026-03-29T03:30+02:00")
	f("twice in the doubled hour", "30 2 * * *", 10*time.Minute, "2026-10-24 12:00", "2026-10-25T02:30+02:00 2026-10-25T02:40+02:00", "2026-10-25T02:30+01:00 2026-10-25T02:40+01:00")
	f("twice, and one window", "30 2 * * *", time.Hour, "2026-10-24 12:00", "2026-10-25T02:30+02:00 2026-10-25T03:30+01:00", "2026-10-26T02:30+01:00 2026-10-26T03:30+01:00")
	f("hourly over the jump", "0 * * * *", 10*time.Minute, "2026-03-29 01:30", "2026-03-29T03:00+02:00 2026-03-29T03:10+02:00", "2026-03-29T04:00+02:00 2026-03-29T04:10+02:00")
	f("yearly", "0 0 29 2 *", time.Hour, "2026-03-01 00:00", "2028-02-29T00:00+01:00 2028-02-29T01:00+01:00")
}

func TestSpans(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	s := Spans{{at(6), at(8)}, {at(1), at(3)}, {at(2), at(5)}}
	same(t, "spans", windowsFrom(s, at(0), 3), []string{"2026-03-01T01:00Z 2026-03-01T05:00Z", "2026-03-01T06:00Z 2026-03-01T08:00Z", "none"})
}

// TestWindowsHoldWhatTheClockShows holds daily windows over two years of several zones against the clock itself: outside of
// doubled hours an instant is in the window exactly when the clock shows so.
func TestWindowsHoldWhatTheClockShows(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		d := Daily{From: 90 * time.Minute, Until: 165 * time.Minute, Zone: zone}
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2027; at = at.Add(15 * time.Minute) {
			local := at.In(zone)
			shows := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute
			want := shows >= d.From && shows < d.Until
			from, _, _ := d.Next(at)
			if got := !from.After(at); got != want && len(instants(localOf(local), zone)) == 1 && !nearDoubled(local) {
				t.Fatalf("%s: in the window %t, the clock shows %s", name, got, local)
			}
		}
	}
}

// nearDoubled reports whether the clock is set back within three hours of an instant: the hull of a window covers what lies
// between its two ends.
func nearDoubled(t time.Time) bool {
	_, a := t.Add(-3 * time.Hour).Zone()
	_, b := t.Add(3 * time.Hour).Zone()
	return b < a
}
