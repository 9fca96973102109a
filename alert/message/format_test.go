package message

import (
	"math"
	"testing"
	"time"
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

func TestBetween(t *testing.T) {
	f := func(low, high float64, want string) {
		t.Helper()
		if got := between(low, high); got != want {
			t.Errorf("between(%v, %v) = %q, want %q", low, high, got, want)
		}
	}
	f(1.6, 2.5, "1.6–2.5 s")
	f(0.23, 0.41, "230–410 ms")
	f(0.8, 1.2, "800 ms – 1.2 s")
	f(0, 2.5, "up to 2.5 s")
}

func TestTimes(t *testing.T) {
	f := func(r float64, want string) {
		t.Helper()
		if got := times(r); got != want {
			t.Errorf("times(%v) = %q, want %q", r, got, want)
		}
	}
	f(1.25, "×1.25")
	f(1.5, "×1.5")
	f(1.68, "×1.7")
	f(1.996, "×2")
	f(4.2, "×4.2")
	f(9.96, "×10")
	f(12.4, "×12")
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

func TestClock(t *testing.T) {
	f := func(at time.Time, zone *time.Location, want string) {
		t.Helper()
		if got := clock(at, time.Date(2026, 3, 1, 6, 21, 0, 0, time.UTC), zone); got != want {
			t.Errorf("clock(%v) = %q, want %q", at, got, want)
		}
	}
	east := time.FixedZone("", 8*3600)
	f(time.Date(2026, 3, 1, 6, 5, 0, 0, time.UTC), east, "14:05 +08:00")
	f(time.Date(2026, 3, 1, 6, 5, 0, 0, time.UTC), nil, "06:05 +00:00")
	f(time.Date(2026, 2, 28, 15, 50, 0, 0, time.UTC), east, "28 Feb 23:50 +08:00")
	f(time.Date(2026, 2, 28, 16, 10, 0, 0, time.UTC), east, "00:10 +08:00")
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

func TestOneLine(t *testing.T) {
	if got := OneLine(" a\n\tb  c ", 10); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := OneLine("日本語日本語", 4); got != "日本語…" {
		t.Errorf("got %q", got)
	}
}
