package schedule

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseErrors(t *testing.T) {
	f := func(spec, what, fix string) {
		t.Helper()
		s, err := Parse(spec, time.UTC)
		var bad *ParseError
		if !errors.As(err, &bad) {
			t.Errorf("%q: schedule %v, error %v", spec, s, err)
			return
		}
		if bad.What != what || bad.Fix != fix {
			t.Errorf("%q: %q, fix %q; want %q, fix %q", spec, bad.What, bad.Fix, what, fix)
		}
	}
	f("", "is empty", `write five fields such as "*/5 * * * *"`)
	f(" \t\n", "is empty", `write five fields such as "*/5 * * * *"`)
	for _, spec := range []string{"TZ=x", "TZ=", "CRON_TZ=Asia/Tokyo * * * * *", "tz=UTC * * * * *", "TZ=Europe/Berlin 0 5 * * *"} {
		f(spec, "names a zone", "remove it and set the scene's timezone")
	}
	f("* * * *", "has 4 fields", "write five: minute, hour, day of month, month, day of week")
	f("0 */5 * * * *", "has six fields", "drop the seconds: minute, hour, day of month, month, day of week")
	f("*/90 * * * *", "has a step of 90 in its minute field, which leaves one value only", "use at most 59, or the value alone")
	f("*/60 * * * *", "has a step of 60 in its minute field, which leaves one value only", "use at most 59, or the value alone")
	f("0 */24 * * *", "has a step of 24 in its hour field, which leaves one value only", "use at most 23, or the value alone")
	f("10-20/11 * * * *", "has a step of 11 in its minute field, which leaves one value only", "use at most 10, or the value alone")
	f("50/15 * * * *", "has a step of 15 in its minute field, which leaves one value only", "use at most 9, or the value alone")
	f("*/0 * * * *", `has the step "0" in its minute field`, "a step is a whole number from 1")
	f("*/x * * * *", `has the step "x" in its minute field`, "a step is a whole number from 1")
	f("*/99999999999999999999 * * * *", `has the step "99999999999999999999" in its minute field`, "a step is a whole number from 1")
	f("60 * * * *", `has "60" in its minute field`, "use 0 to 59")
	f("* 24 * * *", `has "24" in its hour field`, "use 0 to 23")
	f("* * 0 * *", `has "0" in its day of month field`, "use 1 to 31")
	f("* * * 13 *", `has "13" in its month field`, "use 1 to 12 or jan to dec")
	f("* * * * 7", `has "7" in its day of week field`, "use 0 (Sunday) to 6, or sun to sat; 7 is written 0")
	f(", * * * *", "has an empty value in its minute field", "remove the stray comma or slash")
	f("1,,2 * * * *", "has an empty value in its minute field", "remove the stray comma or slash")
	f("/5 * * * *", "has an empty value in its minute field", "remove the stray comma or slash")
	f("0 0 31 2 *", "never fires", "no year has such a day: change day of month or month")
	f("0 0 31 4,6,9,11 *", "never fires", "no year has such a day: change day of month or month")
	f("@every 500ms", "runs more often than once a second", `use "@every 1s" or longer`)
	f("@every -5m", "runs more often than once a second", `use "@every 1s" or longer`)
	f("@every 1500ms", "has a fraction of a second", "use whole seconds")
	f("@every 5", `has no duration in "5"`, `write a number with its unit, such as "@every 30s"`)
	f("@every", "is not @every with one duration", `write "@every 30s" or "@every 5m"`)
	f("@everyday", "is not @every with one duration", `write "@every 30s" or "@every 5m"`)
	f("@reboot", "is no known descriptor", "use @hourly, @daily, @weekly, @monthly, @yearly, @every D, or five fields")
}

func TestParseErrorShowsSpecWhatAndFix(t *testing.T) {
	_, err := Parse("*/90 * * * *", nil)
	want := `schedule "*/90 * * * *" has a step of 90 in its minute field, which leaves one value only: use at most 59, or the value alone`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %v", err, want)
	}
	for _, spec := range []string{"20-10 * * * *", "* * * foo *", "1-2-3 * * * *", "1/2/3 * * * *", "5-1/2 * * * *"} {
		if _, err := Parse(spec, nil); err == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	f := func(spec, from, want string) {
		t.Helper()
		s, err := Parse(spec, time.UTC)
		if err != nil {
			t.Error(err)
			return
		}
		if got := s.Next(at(t, from)).Format(time.RFC3339); got != want {
			t.Errorf("%q after %s: %s, want %s", spec, from, got, want)
		}
	}
	f("*/5 * * * *", "2026-03-01T08:05:00Z", "2026-03-01T08:10:00Z")
	f(" */5\t*  * * * ", "2026-03-01T08:04:59Z", "2026-03-01T08:05:00Z")
	f("? ? ? ? ?", "2026-03-01T08:04:59Z", "2026-03-01T08:05:00Z")
	f("0,30 8-20/4 * * MON-fri", "2026-03-01T08:04:59Z", "2026-03-02T08:00:00Z")
	f("0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z")
	f("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z")
	f("0 0 13 * 5", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z")
	f("*/59 * * * *", "2026-03-01T00:00:00Z", "2026-03-01T00:59:00Z")
	f("@hourly", "2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z")
	f("@weekly", "2026-03-02T00:00:00Z", "2026-03-08T00:00:00Z")
	f("@every 5m", "2026-03-01T00:00:01Z", "2026-03-01T00:05:00Z")
	f("@every 7s", "1969-12-31T23:59:58Z", "1970-01-01T00:00:00Z")
	f("@every 36h", "1970-01-01T00:00:00Z", "1970-01-02T12:00:00Z")
}

func TestEveryDoesNotDependOnTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := every(rapid.Int64Range(1, 1e6).Draw(t, "seconds")) * every(time.Second)
		a := time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "from"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		next := e.Next(a)
		if !next.After(a) || next.Sub(a) > time.Duration(e) || next.Unix()%int64(time.Duration(e)/time.Second) != 0 || next.Nanosecond() != 0 {
			t.Fatalf("%v after %v: %v", e, a, next)
		}
	})
}

func TestParseNeverPanics(t *testing.T) {
	piece := rapid.SampledFrom([]string{"*", "/", "-", ",", " ", "0", "5", "59", "60", "99999999999", "TZ=", "CRON_TZ=", "@every ", "@", "1s", "jan", "sun", "?", "L", "#", "\x00", "Asia/Tokyo", "\u00a0"})
	rapid.Check(t, func(t *rapid.T) {
		var spec string
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			spec += piece.Draw(t, "piece")
		}
		if rapid.Bool().Draw(t, "free") {
			spec = rapid.String().Draw(t, "spec")
		}
		if s, err := Parse(spec, time.UTC); err == nil && s.Next(reference()).IsZero() {
			t.Fatalf("%q is accepted and never fires", spec)
		}
	})
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
