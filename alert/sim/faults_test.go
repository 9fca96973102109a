package sim

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

func TestFaultsAreDrawn(t *testing.T) {
	f := newFaulty(11, FaultProfile{"2 % errors", .02, probe.HTTP5xx, 60})
	if len(f.down) != 2 || len(f.bursts) != 2 {
		t.Fatalf("%d outages and %d bursts in 60 days", len(f.down), len(f.bursts))
	}
	share := func(in func(minute int) bool) float64 {
		bad, all := 0, 0
		for m := range f.Minutes {
			s, ok := f.probe(0, minuteTime(m))
			if !ok || !in(m) {
				continue
			}
			all++
			if !s.Outcome.Success() {
				bad++
			}
		}
		return float64(bad) / float64(max(1, all))
	}
	inside := func(list []Event) func(int) bool {
		return func(m int) bool { _, ok := at(list, m); return ok }
	}
	if got := share(inside(f.down)); got != 1 {
		t.Errorf("%.0f %% fail in outages, want all", 100*got)
	}
	if got := share(inside(f.bursts)); got < .2 || got > .8 {
		t.Errorf("%.0f %% fail in bursts, want about half of 20", 100*got)
	}
	quiet := func(m int) bool { return !inside(f.down)(m) && !inside(f.bursts)(m) }
	if got := share(quiet); got < .018 || got > .022 {
		t.Errorf("%.2f %% fail else, want 2 %%", 100*got)
	}
}

func TestFaultScore(t *testing.T) {
	f := newFaulty(11, FaultProfile{"errors", 0, probe.HTTP5xx, 30})
	down, burst := f.down[0], f.bursts[0]
	met := (down.Start + 4) / 5 * 5
	ep := func(series string, k alert.Kind, m int) Episode {
		return Episode{Series: series, Kind: k, Start: minuteTime(m), End: minuteTime(m + 5)}
	}
	o := Outcome{Episodes: []Episode{
		ep("sim/chat/long", alert.KindError, 100), // false
		ep("sim", alert.KindTimeout, 200),         // false: a rate
		ep("sim/chat/long", alert.KindTTFT, 300),  // not about failures
		ep("sim/chat/short", alert.KindError, met+2),
		ep("sim/chat/long", alert.KindError, met+3),
		ep("sim/chat/long", alert.KindError, burst.End+trueAfter),
	}}
	got := f.score(o, 5)
	if got.False.Alerts != 2 || got.Outages != (Share{1, 1}) || got.Bursts != (Share{1, 1}) {
		t.Errorf("%d false, outages %v, bursts %v; want 2, all, all", got.False.Alerts, got.Outages, got.Bursts)
	}
	if len(got.Delays) != 1 || got.Delays[0] != 2*time.Minute {
		t.Errorf("delays %v, want 2 min from the first probe that met it", got.Delays)
	}
	if none := f.score(Outcome{}, 5); none.Outages.Caught+none.Bursts.Caught+none.False.Alerts != 0 || none.Outages.Of != 1 {
		t.Errorf("without alerts: %+v", none)
	}
}

// TestOutagesAreFound runs the engine on a month of failures.
func TestOutagesAreFound(t *testing.T) {
	p := FaultProfile{"1 % errors", .01, probe.HTTP5xx, 30}
	got, err := RunFaults(t.Context(), 11, p, alert.DefaultRule(), everyDefault)
	if err != nil {
		t.Fatal(err)
	}
	if got.Outages != (Share{1, 1}) || len(got.Delays) != 1 || got.Delays[0] > 4*time.Minute {
		t.Errorf("outages %v, delays %v; want it within 4 min", got.Outages, got.Delays)
	}
	if got.False.Alerts > 1 {
		t.Errorf("%d false alerts on three canaries in a month", got.False.Alerts)
	}
	if got.Regular < 3*8000 || got.Extra == 0 {
		t.Errorf("%d probes, %d re-probes", got.Regular, got.Extra)
	}
}
