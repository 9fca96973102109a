package baseline

import (
	"math"
	"testing"
	"time"

	"serin/probe"
)

// TestPoolIsWhatTheBandIsMadeOf holds the list of samples against the band's own counts.
func TestPoolIsWhatTheBandIsMadeOf(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	s := NewSeries(Key{Canary: "a/b/short", Metric: probe.TTFT, Interval: 5 * time.Minute}, DefaultOptions(), DefaultThreshold())
	for m := 0; m < 9*24*60; m += 5 {
		at := start.Add(time.Duration(m) * time.Minute)
		s.Add(Point{At: at, Y: math.Log(.2 + .001*float64(m%60)), Regular: true})
	}
	at := start.Add(8*24*time.Hour + 10*time.Hour + 7*time.Minute)
	gone := start.Add(7*24*time.Hour + 10*time.Hour)
	s.Exclude(gone, gone.Add(10*time.Minute), true)
	s.Miss(gone.Add(61*time.Second), "failed")
	band, pool := s.Band(at), s.Pool(at)
	if len(pool.Used) != band.N || len(pool.Used) == 0 {
		t.Errorf("%d samples used, the band says %d", len(pool.Used), band.N)
	}
	why := map[string]int{}
	for _, l := range pool.Left {
		why[l.Why]++
	}
	if why["excluded"] != 3 || why["failed"] != 1 || why["excluded"] != band.LeftOut["excluded"] || why["failed"] != band.LeftOut["failed"] {
		t.Errorf("left out %v, the band says %v", why, band.LeftOut)
	}
	if len(pool.Windows) != 7 || !pool.Windows[6].From.Equal(time.Date(2026, 3, 8, 9, 30, 0, 0, time.UTC)) || !pool.Windows[6].To.Equal(time.Date(2026, 3, 8, 11, 0, 0, 0, time.UTC)) {
		t.Errorf("windows %v", pool.Windows)
	}
	if !pool.Slot.Equal(time.Date(2026, 3, 9, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("slot %s", pool.Slot)
	}
}
