package configs

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var dayPart = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)d`)

// ParseDuration reads a duration such as "90s", "1h30m", "7d" or "1d12h": Go's units and d for 24 hours. A number
// without a unit is an error, 0 as well.
func ParseDuration(s string) (time.Duration, error) {
	rest, sign := strings.TrimSpace(s), 1.0
	if strings.HasPrefix(rest, "-") {
		rest, sign = rest[1:], -1
	}
	if _, err := strconv.ParseFloat(rest, 64); err == nil {
		return 0, fmt.Errorf("duration %q has no unit", s)
	}
	days := 0.0
	if m := dayPart.FindStringSubmatch(rest); m != nil {
		days, _ = strconv.ParseFloat(m[1], 64) // the pattern admits numbers only
		rest = rest[len(m[0]):]
		if rest == "" {
			rest = "0s"
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	total := sign * (days*24*float64(time.Hour) + float64(d))
	if math.Abs(total) > 100*365*24*float64(time.Hour) {
		return 0, fmt.Errorf("duration %q is longer than a century", s)
	}
	return time.Duration(total), nil
}

// formatDuration writes d as a config would: 7d, 30m, 1h30m, 10s, 0s.
func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 7*day && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
