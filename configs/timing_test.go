package configs

import (
	"testing"
	"time"

	"serin/probe/schedule"
)

func TestDueIsStrictlyAfter(t *testing.T) {
	setEnv(t)
	r := mustLoad(t, base).Runs[0]
	at := r.Due(noon)
	if next := r.Due(at); next.Sub(at) != 5*time.Minute {
		t.Errorf("due after %s = %s", at, next)
	}
	if again := r.Due(at.Add(-time.Nanosecond)); !again.Equal(at) {
		t.Errorf("due just before %s = %s", at, again)
	}
}

func TestBestWeek(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	f := func(spec string, wantRuns, wantDays int) {
		t.Helper()
		s, err := schedule.Parse(spec, shanghai)
		if err != nil {
			t.Fatal(err)
		}
		runs, days := bestWeek(s, s.Next(noon).In(shanghai))
		if (runs >= leastRuns && days >= leastDays) != (wantRuns >= leastRuns && wantDays >= leastDays) || min(runs, leastRuns) != min(wantRuns, leastRuns) {
			t.Errorf("%s: %d runs on %d days, want %d on %d", spec, runs, days, wantRuns, wantDays)
		}
	}
	f("* * * * *", 14, 3)
	f("@every 1s", 14, 3)
	f("0 9,17 * * *", 14, 7)
	f("0 9,17 * * 1-6", 12, 6)
	f("*/10 * * * 1,2", 14, 2)
	f("*/10 * * * 1,2,5", 14, 3)
	f("0 */4 1-7 * *", 14, 3) // the first week of each month, from whichever day it is now
	f("*/5 * * 12 *", 14, 3)  // in December only
	f("0 0 29 2 *", 1, 1)
}

func TestParseDuration(t *testing.T) {
	f := func(s string, want time.Duration) {
		t.Helper()
		if got, err := ParseDuration(s); got != want || err != nil {
			t.Errorf("%q = %s, %v; want %s", s, got, err, want)
		}
	}
	f("7d", 7*24*time.Hour)
	f("1.5d", 36*time.Hour)
	f("1d12h", 36*time.Hour)
	f("0s", 0)
	f("0ms", 0)
	f("1h30m", 90*time.Minute)
	f("-5m", -5*time.Minute)
	f(" 2s ", 2*time.Second)
	bad := func(s string) {
		t.Helper()
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q = %s, want an error", s, got)
		}
	}
	for _, s := range []string{"", "0", "10", "1.5", "d", "5 m", "--5m", "1d-2h", "1d+2h", "7days", "1e9h", "99999999d", "NaN", "inf"} {
		bad(s)
	}
}

func TestFormatDuration(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		d, err := ParseDuration(s)
		if got := formatDuration(d); got != want || err != nil {
			t.Errorf("%s is written %s, want %s", s, got, want)
		}
	}
	f("7d", "7d")
	f("24h", "24h")
	f("72h", "72h")
	f("60m", "1h")
	f("90s", "1m30s")
	f("10m", "10m")
	f("0s", "0s")
	f("250ms", "250ms")
}
