package cli

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 20, 30, 0, 0, time.UTC)
	f := func(parse func(string, time.Time) (time.Time, error), text, want string) {
		t.Helper()
		got, err := parse(text, now)
		if say := got.UTC().Format(time.RFC3339); err != nil && want != "" || err == nil && say != want {
			t.Errorf("%q is %s, %v; want %s", text, say, err, want)
		}
	}
	f(parseMoment, "2026-03-01T22:00:00+08:00", "2026-03-01T14:00:00Z")
	f(parseMoment, "2026-03-01 22:00 Asia/Shanghai", "2026-03-01T14:00:00Z")
	f(parseMoment, "2026-03-01 22:00:30 UTC", "2026-03-01T22:00:30Z")
	f(parseMoment, "22:00 UTC", "2026-03-01T22:00:00Z")
	f(parseMoment, "20:00 UTC", "2026-03-02T20:00:00Z")
	f(parseMoment, "04:00 Asia/Shanghai", "2026-03-02T20:00:00Z") // it is 04:30 there
	f(parseMoment, "2026-03-29 02:30 Europe/Berlin", "")
	f(parseMoment, "22:00 Europe/Berlln", "")
	f(parseMoment, "tomorrow", "")
	f(parsePast, "10m", "2026-03-01T20:20:00Z")
	f(parsePast, "20:00 UTC", "2026-03-01T20:00:00Z")
	f(parsePast, "22:00 UTC", "2026-02-28T22:00:00Z")
	f(parsePast, "2026-02-28T22:00:00Z", "2026-02-28T22:00:00Z")
}
