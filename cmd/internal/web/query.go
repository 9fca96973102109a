package web

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"serin/probe/glob"
)

// Bounds of a list.
const (
	defaultLimit = 1000
	maxLimit     = 10_000
	maxAge       = 10 * 366 * 24 * time.Hour // a longer duration is a slip of the pen
)

// Match reports whether the pattern Canary takes in a key of the form target/scene/size, see glob.MatchKey. A key of fewer
// parts (a whole target, an incident's scope) is held against as many parts as it has.
func (q Query) Match(key string) bool {
	if q.Canary == "" {
		return true
	}
	parts := strings.Split(q.Canary, "/")
	return glob.MatchKey(strings.Join(parts[:min(len(parts), strings.Count(key, "/")+1)], "/"), key)
}

// parseQuery reads since, until, canary and limit. age is how far back a list goes when since is not given. The error
// is for people and names the fix.
func parseQuery(v url.Values, now time.Time, age time.Duration) (Query, error) {
	if err := knownOnce(v, "since", "until", "canary", "limit"); err != nil {
		return Query{}, err
	}
	q := Query{Until: now, Canary: v.Get("canary"), Limit: defaultLimit}
	var err error
	if s := v.Get("until"); s != "" {
		if q.Until, err = parseInstant("until", s, now); err != nil {
			return Query{}, err
		}
	}
	q.Since = q.Until.Add(-age)
	if s := v.Get("since"); s != "" {
		if q.Since, err = parseInstant("since", s, now); err != nil {
			return Query{}, err
		}
	}
	if !q.Since.Before(q.Until) {
		return Query{}, fmt.Errorf("since (%s) is not before until (%s): swap them, or leave until out for now",
			q.Since.UTC().Format(time.RFC3339), q.Until.UTC().Format(time.RFC3339))
	}
	if err := checkGlob(q.Canary); err != nil {
		return Query{}, err
	}
	q.Limit, err = parseLimit(v.Get("limit"))
	return q, err
}

// knownOnce refuses parameters that are not known, and known ones given twice.
func knownOnce(v url.Values, known ...string) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return fmt.Errorf("unknown parameter %q: there are none here", name)
		case !slices.Contains(known, name):
			return fmt.Errorf("unknown parameter %q: known are %s", name, strings.Join(known, ", "))
		case len(v[name]) > 1:
			return fmt.Errorf("parameter %q is given %d times: give it once", name, len(v[name]))
		}
	}
	return nil
}

// parseInstant reads an RFC 3339 instant, or a duration before now such as 90m, 24h or 7d.
func parseInstant(name, s string, now time.Time) (time.Time, error) {
	// A "+" of a zone that was not escaped arrives as a space.
	if t, err := time.Parse(time.RFC3339, strings.ReplaceAll(s, " ", "+")); err == nil {
		return t, nil
	}
	d, err := parseAge(s)
	if err != nil || d < 0 || d > maxAge {
		return time.Time{}, fmt.Errorf("%s=%q is neither an instant nor an age: write RFC 3339 such as 2026-03-01T08:05:00Z, or how long ago, such as 90m, 24h or 7d", name, s)
	}
	return now.Add(-d), nil
}

// parseAge reads a Go duration, or a whole number of days with the unit d.
func parseAge(s string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(s, "d")
	if !isDays {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 12) // 12 bits: more than maxAge, and far from overflow
	return time.Duration(n) * 24 * time.Hour, err
}

func checkGlob(pattern string) error {
	switch n := strings.Count(pattern, "/") + 1; {
	case n > 3:
		return fmt.Errorf("canary=%q has %d parts: write target/scene/size, each a name or a glob such as gw-*", pattern, n)
	case pattern != "" && !glob.ValidKey(pattern):
		return fmt.Errorf("canary=%q is not a pattern: write target/scene/size, each a name or a glob such as gw-*, and close the [", pattern)
	}
	return nil
}

func parseLimit(s string) (int, error) {
	if s == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fmt.Errorf("limit=%q: write a whole number from 1 to %d; ask for what is older with until", s, maxLimit)
	}
	return n, nil
}
