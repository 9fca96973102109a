package message

import (
	"math"
	"testing"
	"time"

	"serin/alert"
)

func TestSeconds(t *testing.T) {
	f := func(v float64, want string) {
		t.Helper()
		if got := seconds(v); got != want {
			t.Errorf("seconds(%v) = %q, want %q", v, got, want)
		}
	}
	f(0.0042, "4.2 ms")
	f(0.00996, "10 ms")
	f(0.0204, "20 ms")
	f(0.23, "230 ms")
	f(0.9994, "999 ms")
	f(0.9996, "1 s")
	f(5, "5 s")
	f(8.44, "8.4 s")
	f(9.96, "10 s")
	f(84, "84 s")
	f(119.6, "2 min")
	f(600, "10 min")
}

func TestTimes(t *testing.T) {
	f := func(r float64, want string) {
		t.Helper()
		if got := times(r); got != want {
			t.Errorf("times(%v) = %q, want %q", r, got, want)
		}
	}
	f(1.25, "1.25x")
	f(1.5, "1.5x")
	f(1.68, "1.7x")
	f(1.996, "2x")
	f(4.2, "4.2x")
	f(9.96, "10x")
	f(12.4, "12x")
}

func TestElapsed(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := elapsed(d); got != want {
			t.Errorf("elapsed(%v) = %q, want %q", d, got, want)
		}
	}
	f(-time.Second, "0 s")
	f(45*time.Second, "45 s")
	f(16*time.Minute+10*time.Second, "16 min")
	f(119*time.Minute+40*time.Second, "120 min")
	f(4*time.Hour, "4 h")
	f(4*time.Hour+5*time.Minute, "4 h 5 min")
	f(51*time.Hour, "2 d 3 h")
}

func TestMoment(t *testing.T) {
	f := func(at time.Time, zone *time.Location, want string, style alert.TimeStyle) {
		t.Helper()
		text := moment(at, time.Date(2026, 3, 1, 6, 21, 0, 0, time.UTC), zone, hourZone)
		got := alert.RenderTimes(text, func(when time.Time, s alert.TimeStyle, fallback string) string {
			if !when.Equal(at) || s != style {
				t.Errorf("moment(%v) is %v in style %s, want %s", at, when, s, style)
			}
			return fallback
		})
		if got != want {
			t.Errorf("moment(%v) = %q, want %q", at, got, want)
		}
	}
	east := time.FixedZone("", 8*3600)
	f(time.Date(2026, 3, 1, 6, 5, 0, 0, time.UTC), east, "14:05 +08:00", alert.TimeOfDay)
	f(time.Date(2026, 2, 28, 15, 50, 0, 0, time.UTC), east, "28 Feb 23:50 +08:00", alert.WithDate)
	f(time.Date(2026, 2, 28, 16, 10, 0, 0, time.UTC), east, "00:10 +08:00", alert.TimeOfDay)
}

func TestSparkline(t *testing.T) {
	f := func(values []float64, want string) {
		t.Helper()
		if got := sparkline(values); got != want {
			t.Errorf("sparkline(%v) = %q, want %q", values, got, want)
		}
	}
	f([]float64{2, 2, 2}, "▁▁▁")
	f([]float64{1, 8}, "▁█")
	f([]float64{2, math.NaN(), 0, 4}, "▁··█")
	f([]float64{0, 0}, "··")
	long := make([]float64, 240)
	for i := range long {
		long[i] = 1
	}
	long[239] = 8
	f(long, "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█")
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"} {
		if got := ordinal(n); got != want {
			t.Errorf("ordinal(%d) = %q, want %q", n, got, want)
		}
	}
}
