package message

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"serin/alert"
)

// seconds writes a latency as a person does: 4.2 ms, 230 ms, 8.4 s, 84 s, 3 min. Each bound is where rounding would reach the next unit.
func seconds(v float64) string {
	switch {
	case v < 0.00995:
		return decimal(v*1000) + " ms"
	case v < 0.9995:
		return fmt.Sprintf("%.0f ms", v*1000)
	case v < 9.95:
		return decimal(v) + " s"
	case v < 119.5:
		return fmt.Sprintf("%.0f s", v)
	}
	return fmt.Sprintf("%.0f min", v/60)
}

// decimal writes one digit after the point, and none where it would be 0.
func decimal(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// times writes a ratio: 1.25x, 1.7x, 4.2x, 12x.
func times(r float64) string {
	switch {
	case r < 1.495:
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", r), "0"), ".") + "x"
	case r < 9.95:
		return decimal(r) + "x"
	}
	return fmt.Sprintf("%.0fx", r)
}

// elapsed writes how long something lasted: 45 s, 16 min, 4 h 5 min, 2 d 3 h.
func elapsed(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", max(d, 0).Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	case d < 48*time.Hour:
		return twoUnits(d.Round(time.Minute), time.Hour, "h", time.Minute, "min")
	}
	return twoUnits(d.Round(time.Hour), 24*time.Hour, "d", time.Hour, "h")
}

func twoUnits(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/big, bigName)
	if rest := d % big / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// moment writes a time for a message of now: channels show it in the reader's zone, else by layout in zone, with the date in
// front where it is not today's.
func moment(t, now time.Time, zone *time.Location, layout string) string {
	t, now = t.In(zone), now.In(zone)
	style := alert.TimeOfDay
	if strings.Contains(layout, ":05") {
		style = alert.WithSecond
	}
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		layout, style = "2 Jan "+layout, alert.WithDate
	}
	return alert.MarkTime(t, style, t.Format(layout))
}

// The layouts of a time's fallback: the zone stands where a message names its first time.
const (
	hour       = "15:04"
	hourZone   = "15:04 -07:00"
	secondZone = "15:04:05 -07:00"
)

// time writes a time of the message's day.
func (v view) time(t time.Time) string { return moment(t, v.Now, v.zone, hour) }

// count writes a number with its noun: 1 check, 3 checks.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// listed joins at most limit names as one says them: a, b and c.
func listed(names []string, limit int) string {
	switch n := len(names); {
	case n > limit:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), n-limit)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// joined joins what is not empty.
func joined(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

// sparkWidth is the most cells of a sparkline: what a phone shows in one line.
const sparkWidth = 24

// sparkline draws values as ▁ to █, a failed probe (NaN or 0) as ·. The scale reaches at least to twice the lowest
// value, so that a flat hour looks flat. Where there are more values than cells a cell shows its highest.
func sparkline(values []float64) string {
	cells := columns(values, sparkWidth)
	low, high := extent(cells)
	high = math.Max(high, 2*low)
	var b strings.Builder
	for _, v := range cells {
		if !measured(v) {
			b.WriteRune('·')
			continue
		}
		step := int(math.Round(7 * (v - low) / (high - low)))
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[step])
	}
	return b.String()
}

func measured(v float64) bool { return v > 0 && !math.IsInf(v, 0) } // NaN is not > 0

// extent returns the lowest and the highest measured value, 0 and 0 where there is none.
func extent(values []float64) (low, high float64) {
	for _, v := range values {
		if !measured(v) {
			continue
		}
		if low == 0 || v < low {
			low = v
		}
		high = math.Max(high, v)
	}
	return low, high
}

// columns returns at most width values, each the highest of its share.
func columns(values []float64, width int) []float64 {
	if len(values) <= width {
		return values
	}
	out := make([]float64, width)
	for i := range out {
		_, out[i] = extent(values[i*len(values)/width : (i+1)*len(values)/width])
	}
	return out
}

// MuteText says by what and until when, in a zone (nil = UTC): silenced by kim until 14:30 +08:00 (new GPU).
func MuteText(m alert.Mute, now time.Time, zone *time.Location) string {
	return alert.PlainTimes(muteText(m, now, cmp.Or(zone, time.UTC)))
}

func muteText(m alert.Mute, now time.Time, zone *time.Location) string {
	text := "in maintenance window " + alert.OneLine(m.Maintenance, 80)
	if m.Silence != "" {
		text = "silenced by " + alert.OneLine(m.By, alert.MaxBy)
	}
	if !m.Until.IsZero() {
		text += " until " + moment(m.Until, now, zone, hourZone)
	}
	if m.Cap == alert.Warning {
		text += ", at most a warning"
	}
	if m.Reason != "" {
		text += " (" + alert.OneLine(m.Reason, alert.MaxReason) + ")"
	}
	return text
}
