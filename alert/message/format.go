package message

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// seconds writes a latency as a person does: 4.2 ms, 230 ms, 8.4 s, 84 s, 3 min.
func seconds(v float64) string {
	n, unit := scaled(v)
	return n + " " + unit
}

// scaled returns the number and the unit of a latency in seconds. Each bound is where rounding would reach the next unit.
func scaled(v float64) (number, unit string) {
	switch {
	case v < 0.00995:
		return decimal(v * 1000), "ms"
	case v < 0.9995:
		return fmt.Sprintf("%.0f", v*1000), "ms"
	case v < 9.95:
		return decimal(v), "s"
	case v < 119.5:
		return fmt.Sprintf("%.0f", v), "s"
	}
	return fmt.Sprintf("%.0f", v/60), "min"
}

// decimal writes one digit after the point, and none where it would be 0.
func decimal(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// between writes a range of latencies, the unit once where both share it: 1.6–2.5 s.
func between(low, high float64) string {
	if low <= 0 {
		return "up to " + seconds(high)
	}
	l, lu := scaled(low)
	h, hu := scaled(high)
	if lu == hu {
		return l + "–" + h + " " + hu
	}
	return l + " " + lu + " – " + h + " " + hu
}

// times writes a ratio: ×1.25, ×1.7, ×4.2, ×12.
func times(r float64) string {
	switch {
	case r < 1.495:
		return "×" + strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", r), "0"), ".")
	case r < 9.95:
		return "×" + decimal(r)
	}
	return fmt.Sprintf("×%.0f", r)
}

// elapsed writes how long something lasted: 45 s, 16 min, 4 h 5 min, 2 d 3 h.
func elapsed(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
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

// clock writes the time of day with its offset, 14:05 +08:00, and the date where it is not that of now.
func clock(t, now time.Time, zone *time.Location) string { return onDay(t, now, zone, "15:04 -07:00") }

// onDay writes t by layout, with the date in front where it is not that of now.
func onDay(t, now time.Time, zone *time.Location, layout string) string {
	if zone == nil {
		zone = time.UTC
	}
	t, now = t.In(zone), now.In(zone)
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		layout = "2 Jan " + layout
	}
	return t.Format(layout)
}

// count writes a number with its noun: 1 check, 3 checks.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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

// MuteText says by what and until when, in a zone: silenced by kim until 14:30 +08:00 (new GPU). Foreign text in it is one
// line, not escaped.
func MuteText(m alert.Mute, now time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	text := "maintenance " + alert.OneLine(m.Maintenance, 80)
	if m.Silence != "" {
		text = "silenced by " + alert.OneLine(m.By, alert.MaxBy)
	}
	if !m.Until.IsZero() {
		text += " until " + clock(m.Until, now, zone)
	}
	if m.Cap == alert.Warning {
		text += ", told as no more than a warning"
	}
	if m.Reason != "" {
		text += " (" + alert.OneLine(m.Reason, alert.MaxReason) + ")"
	}
	return text
}
