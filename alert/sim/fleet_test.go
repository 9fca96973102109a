package sim

import (
	"testing"
	"time"
)

func TestSpells(t *testing.T) {
	e := func(from, to int) Episode {
		ep := Episode{Start: minuteTime(from)}
		if to > 0 {
			ep.End = minuteTime(to)
		}
		return ep
	}
	f := func(want int, list ...Episode) {
		t.Helper()
		if got := spells(list); got != want {
			t.Errorf("%d spells, want %d", got, want)
		}
	}
	f(0)
	f(1, e(1, 5), e(2, 4), e(5, 9))
	f(2, e(1, 5), e(6, 9))
	f(2, e(1, 9), e(2, 3), e(10, 11))
	f(1, e(1, 0), e(20, 30))
}

// TestFleetTarget runs one noisy target of nine canaries under the default rule, and adds it up with itself: per month
// and fleet nothing changes but the size.
func TestFleetTarget(t *testing.T) {
	f, err := runFleetTarget(t.Context(), balanced(), 101003)
	if err != nil {
		t.Fatal(err)
	}
	runs := fleetDays * 24 * 60 / 5
	if f.Canaries != 9 || f.Regular > 9*runs || f.Regular < 9*(runs-2*24) {
		t.Errorf("%d canaries, %d probes; want 9 and about %d", f.Canaries, f.Regular, 9*runs)
	}
	if f.Promoted > f.Paging || f.Pages > f.Paging || f.Months*monthLong != (fleetDays-8)*24*60 {
		t.Errorf("%+v", f)
	}
	r := &Report{}
	r.addFleet(f)
	r.addFleet(f)
	two, one := r.Fleets[0].row(), f.row()
	if two.Targets != 2 || two.Info != 2*one.Info || two.Extra != one.Extra {
		t.Errorf("twice %+v is %+v", one, two)
	}
	if missed, ok := newFleetTarget(7).probe(8, Start().Add(time.Hour)); !ok || !missed.TTFT.Known || !missed.TPOT.Known {
		t.Errorf("the ninth canary: %+v", missed)
	}
}
