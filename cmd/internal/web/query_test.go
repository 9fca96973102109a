package web

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestParseQuery(t *testing.T) {
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	f := func(raw string, since, until time.Time, limit int) {
		t.Helper()
		v, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		q, err := parseQuery(v, now, 24*time.Hour)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			return
		}
		if !q.Since.Equal(since) || !q.Until.Equal(until) || q.Limit != limit {
			t.Errorf("%q: got %v … %v limit %d, want %v … %v limit %d", raw, q.Since, q.Until, q.Limit, since, until, limit)
		}
	}
	day := 24 * time.Hour
	f("", now.Add(-day), now, 1000)
	f("since=7d", now.Add(-7*day), now, 1000)
	f("since=90m&limit=5", now.Add(-90*time.Minute), now, 5)
	f("until=24h", now.Add(-2*day), now.Add(-day), 1000)
	f("since=48h&until=24h", now.Add(-2*day), now.Add(-day), 1000)
	f("since=2026-03-01T08:05:00Z", time.Date(2026, 3, 1, 8, 5, 0, 0, time.UTC), now, 1000)
	f("since=2026-03-01T08:05:00%2B08:00", time.Date(2026, 3, 1, 0, 5, 0, 0, time.UTC), now, 1000)
	f("since=2026-03-01T08:05:00+08:00", time.Date(2026, 3, 1, 0, 5, 0, 0, time.UTC), now, 1000)
	f("limit=10000", now.Add(-day), now, 10_000)
}

func TestParseQueryRefuses(t *testing.T) {
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	f := func(raw, want string) {
		t.Helper()
		v, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseQuery(v, now, 24*time.Hour); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", raw, err, want)
		}
	}
	f("since=yesterday", "neither an instant nor an age")
	f("since=-1h", "neither an instant nor an age")
	f("since=24", "neither an instant nor an age")
	f("since=99999d", "neither an instant nor an age")
	f("since=4000d", "neither an instant nor an age")
	f("until=x", "until=")
	f("since=1h&until=2h", "swap them")
	f("since=2026-04-01T00:00:00Z", "not before until")
	f("limit=0", "from 1 to 10000")
	f("limit=10001", "from 1 to 10000")
	f("limit=many", "whole number")
	f("canary=a/b/c/d", "4 parts")
	f("canary=gw-[", "close the [")
	f("canaries=x", "known are since, until, canary, limit")
	f("limit=1&limit=2", "2 times")
}

func TestMatch(t *testing.T) {
	f := func(glob, key string, want bool) {
		t.Helper()
		if got := (Query{Canary: glob}).Match(key); got != want {
			t.Errorf("%q on %q: got %v, want %v", glob, key, got, want)
		}
	}
	f("", "gw-eu/chat/short", true)
	f("gw-eu", "gw-eu/chat/short", true)
	f("gw-*", "gw-eu/chat/short", true)
	f("*/chat", "gw-eu/chat/short", true)
	f("*/chat/long", "gw-eu/chat/short", false)
	f("gw-us", "gw-eu/chat/short", false)
	f("gw", "gw-eu/chat/short", false)
	f("gw-eu/chat/short", "gw-eu", true)
	f("gw-us/*", "gw-eu", false)
}
