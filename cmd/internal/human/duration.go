package human

import (
	"fmt"
	"serin/probe"
	"time"
)

// Span renders a span as a person writes it: 8.4 s, 312 ms, 21.4 ms, 0.09 ms; "–" when unknown.
func Span(s probe.Span) string {
	ms := s.Millis()
	switch {
	case !s.Known:
		return "–"
	case ms >= 10_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

// Seconds writes seconds as Span does.
func Seconds(x float64) string {
	return Span(probe.Known(time.Duration(x * float64(time.Second))))
}

// Duration writes a duration in the two units that matter.
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return d.String()
}
