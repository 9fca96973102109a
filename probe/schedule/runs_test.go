package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestWeekCountAndInterval(t *testing.T) {
	from := at(t, "2026-03-02T00:00:00Z") // a Monday
	f := func(spec string, runs, days int, gap time.Duration) {
		t.Helper()
		s := parsed(t, spec, "UTC")
		if r, d := WeekCount(s, from); r != runs || d != days {
			t.Errorf("%q: %d runs on %d days, want %d on %d", spec, r, d, runs, days)
		}
		if got := Interval(s, from); got != gap {
			t.Errorf("%q: interval %v, want %v", spec, got, gap)
		}
	}
	f("* * * * *", 10_080, 7, time.Minute)
	f("*/5 * * * *", 2_016, 7, 5*time.Minute)
	f("*/7 * * * *", 1_512, 7, 4*time.Minute) // 56 to 00
	f("0 * * * *", 168, 7, time.Hour)
	f("50 9 * * *", 7, 7, 24*time.Hour)
	f("0 8,10 * * 1-5", 10, 5, 2*time.Hour)
	f("0 9 * * 1", 1, 1, Week)
	f("0 9 1 1 *", 0, 0, 365*24*time.Hour)
	f("@every 1s", 604_800, 7, time.Second)
	f("@every 7h", 24, 7, 7*time.Hour)
	f("@every 40h", 4, 4, 40*time.Hour)
	f("@every 1000h", 0, 0, 1000*time.Hour)
	f("@every 2000h", 0, 0, 2000*time.Hour)
}

func TestWeekCountOfEveryMatchesTheWalk(t *testing.T) {
	for i, d := range []time.Duration{9 * time.Minute, 5 * time.Hour, 25 * time.Hour, 100 * time.Hour} {
		from := at(t, "2026-03-02T00:00:00Z").Add(time.Duration(i) * 1234 * time.Second)
		runs, last, days := 0, -1, 0
		for run := range Runs(every(d), from, from.Add(Week)) {
			if runs++; run.YearDay() != last {
				last = run.YearDay()
				days++
			}
		}
		if r, n := WeekCount(every(d), from); r != runs || n != days {
			t.Errorf("every %v: %d runs on %d days, want %d on %d", d, r, n, runs, days)
		}
	}
}

func TestRunsIncludesFromExcludesTo(t *testing.T) {
	var got []string
	for run := range Runs(parsed(t, "*/5 * * * *", "UTC"), at(t, "2026-03-02T00:00:00Z"), at(t, "2026-03-02T00:10:00Z")) {
		got = append(got, run.Format("15:04"))
	}
	if want := []string{"00:00", "00:05"}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
}

func TestOffset(t *testing.T) {
	f := func(key string, spread, interval, below time.Duration) {
		t.Helper()
		d := Offset(key, spread, interval)
		if d < 0 || (below > 0 && d >= below) || (below == 0 && d != 0) || d%time.Millisecond != 0 {
			t.Errorf("%s %v %v: %v, want below %v", key, spread, interval, d, below)
		}
		if d != Offset(key, spread, interval) {
			t.Error("not deterministic")
		}
	}
	for i := range 100 {
		key := fmt.Sprintf("t/chat/%d", i)
		f(key, DefaultSpread, time.Hour, 5*time.Minute)
		f(key, DefaultSpread, time.Minute, time.Minute)
		f(key, time.Hour, time.Hour, 5*time.Minute)
		f(key, 10*time.Second, time.Hour, 10*time.Second)
		f(key, 0, time.Hour, 0)
		f(key, DefaultSpread, 0, 0)
	}
	// Pinned: a changed hash would move every canary of every installation.
	if d := Offset("gw-eu/chat/short", DefaultSpread, time.Hour); d != 25_699*time.Millisecond {
		t.Errorf("offset of gw-eu/chat/short is %v", d)
	}
}

// Offsets fill their bound evenly: in-phase probes slow each other down.
func TestOffsetSpreads(t *testing.T) {
	const n, cells = 6_000, 60
	var count [cells]int
	for i := range n {
		d := Offset(fmt.Sprintf("target-%d/chat/short", i), DefaultSpread, time.Minute)
		count[d*cells/time.Minute]++
	}
	for i, c := range count {
		if c < n/cells/2 || c > n/cells*2 {
			t.Errorf("second %d has %d of %d", i, c, n)
		}
	}
}

func TestEntryOffsetDoesNotDependOnTheTime(t *testing.T) {
	e := Entry{Key: "a/b/c", Schedule: parsed(t, "30 2 * * *", "Europe/Berlin"), Spread: DefaultSpread}
	if e.Offset() != Offset("a/b/c", DefaultSpread, 24*time.Hour) {
		t.Errorf("offset %v", e.Offset())
	}
}
