package engine

import (
	"testing"
	"time"

	"serin/probe"
)

// TestRingKeepsTheNewest fills a ring beyond its bound: the newest stay, in order, in no more room than they need.
func TestRingKeepsTheNewest(t *testing.T) {
	var r ring
	for i := range 3 * ringMax {
		r = r.add(&probe.Sample{Outcome: probe.OK, Family: probe.FamilyOK, Time: time.Unix(int64(i), 0), TTFT: probe.Known(time.Duration(i+1) * time.Millisecond)})
		if want := min(i+1, ringMax); len(r) != want || cap(r) > ringMax {
			t.Fatalf("after %d: %d of %d, want %d", i+1, len(r), cap(r), want)
		}
		for j, g := range r {
			if want := int64(i - len(r) + 1 + j); g.at != want*1e9 || g.values[0] != float32(float64(want+1)/1000) {
				t.Fatalf("after %d, place %d: %+v", i+1, j, g)
			}
		}
	}
}
