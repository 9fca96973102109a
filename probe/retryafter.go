package probe

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that is obeyed; what asks for more is a quota, not a rate limit.
const maxRetryAfter = time.Hour

// retryAfter returns how long the endpoint asked to wait, 0 or more: from its headers by precedence, then delay, which is
// that of the error object, then the reset time of a limit that is used up. ok is false when nothing was said.
// now is used where the response has no Date.
func retryAfter(h http.Header, delay time.Duration, now time.Time) (wait time.Duration, ok bool) {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if v, ok := finite(h.Get(name)); ok {
			return bounded(v, time.Millisecond), true
		}
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if v, ok := finite(text); ok {
		return bounded(v, time.Second), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now)), true
	}
	if delay > 0 {
		return delay, true
	}
	return resetWait(h, now)
}

// finite reads a number; one that is none, or that no float holds, says nothing.
func finite(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// bounded returns v units, never negative and never more than a duration holds.
func bounded(v float64, unit time.Duration) time.Duration {
	if v <= 0 {
		return 0
	}
	if v*float64(unit) > float64(1000*maxRetryAfter) {
		return 1000 * maxRetryAfter
	}
	return time.Duration(v * float64(unit))
}

// resetWait returns the longest reset time among the limits that have nothing left.
func resetWait(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for name, values := range h {
		low := strings.ToLower(name)
		if len(values) == 0 || !strings.Contains(low, "ratelimit") || !strings.Contains(low, "-remaining") {
			continue
		}
		if left, err := strconv.ParseFloat(values[0], 64); err != nil || left != 0 {
			continue
		}
		reset := h.Get(strings.Replace(low, "-remaining", "-reset", 1))
		if d, err := resetTime(reset, now); err == nil {
			wait, ok = max(wait, d), true
		}
	}
	return wait, ok
}

// resetTime reads "6m0s", plain seconds, or an RFC 3339 instant.
func resetTime(text string, now time.Time) (time.Duration, error) {
	if v, ok := finite(text); ok {
		return bounded(v, time.Second), nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return max(0, d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	return max(0, at.Sub(now)), err
}

// maxLimitHeaders bounds how many rate-limit headers are kept.
const maxLimitHeaders = 40

// limitHeaders picks the headers about limits and waiting, as they were sent.
func limitHeaders(h http.Header) map[string]string {
	var kept map[string]string
	for name, values := range h {
		low := strings.ToLower(name)
		if len(values) == 0 || len(kept) == maxLimitHeaders {
			continue
		}
		if strings.Contains(low, "ratelimit") || strings.Contains(low, "retry-after") || low == "x-should-retry" {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[low] = values[0]
		}
	}
	return kept
}

// requestID returns the id by which the endpoint's operators can find this request.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Ms-Request-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}
