package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// made is a world without any values: 20 days and one incident of an hour at day 12.
func made(events ...Event) *World {
	if events == nil {
		events = []Event{incident(x15for60, 12*dayMinutes)}
	}
	return &World{Metric: probe.TTFT, Profile: Profiles()[1], Minutes: 20 * dayMinutes, Events: events}
}

// fires are alerts of the short canary that last ten minutes each.
func fires(starts ...int) Outcome {
	o := Outcome{Regular: 100, Extra: 3}
	for _, m := range starts {
		o.Episodes = append(o.Episodes, Episode{Series: "sim/chat/short", Kind: alert.KindTTFT, Severity: alert.Warning, Start: minuteTime(m), End: minuteTime(m + 10)})
	}
	return o
}

func TestScore(t *testing.T) {
	const inc = 12 * dayMinutes
	f := func(what string, o Outcome, early, wrong, hits, flaps int) {
		t.Helper()
		got := Score(made(), o, false)
		if got.Early.Alerts != early || got.AllFalse().Alerts != wrong || got.Hits != hits || got.Flaps != flaps {
			t.Errorf("%s: %d early, %d false, %d hits, %d flaps; want %d, %d, %d, %d", what, got.Early.Alerts, got.AllFalse().Alerts,
				got.Hits, got.Flaps, early, wrong, hits, flaps)
		}
	}
	f("nothing", fires(), 0, 0, 0, 0)
	f("before day 8", fires(7*dayMinutes), 1, 0, 0, 0)
	f("on a healthy day", fires(9*dayMinutes), 0, 1, 0, 0)
	f("inside", fires(inc+3), 0, 0, 1, 0)
	f("a minute before", fires(inc-1), 0, 1, 0, 0)
	f("15 min after", fires(inc+75), 0, 0, 1, 0)
	f("16 min after", fires(inc+76), 0, 0, 0, 0)
	f("30 min after", fires(inc+90), 0, 0, 0, 0)
	f("31 min after", fires(inc+91), 0, 1, 0, 0)
	f("three times", fires(inc+3, inc+30, inc+70), 0, 0, 1, 2)
	other := fires(inc + 3)
	other.Episodes[0].Kind = alert.KindNoData
	f("another kind", other, 0, 0, 0, 0)
}

func TestScoreCounts(t *testing.T) {
	got := Score(made(), fires(12*dayMinutes+4), false)
	if share := got.Event(x15for60); share != (Share{1, canaries}) {
		t.Errorf("caught %v, want one of the three series", share)
	}
	if share := got.Event(x15for60, "steady", "noisy"); share.Of != 0 {
		t.Errorf("other profiles have %v", share)
	}
	if months := got.AllFalse().Months; math.Abs(months-1.2) > 1e-9 {
		t.Errorf("%g series-months, want 1.2: three times the 12 days from day 8 on", months)
	}
	if !slices.Equal(got.Delays, []time.Duration{4 * time.Minute}) {
		t.Errorf("delays %v", got.Delays)
	}
	sum := newTally()
	sum.Add(got)
	sum.Add(got)
	if sum.Hits != 2 || sum.Extra != 6 || sum.Regular != 200 || len(sum.Delays) != 2 || sum.Event(x15for60) != (Share{2, 6}) {
		t.Errorf("twice the tally is %+v", sum)
	}
}

func TestScorePerTarget(t *testing.T) {
	o := fires(12*dayMinutes + 4)
	if got := Score(made(), o, true); got.Event(x15for60) != (Share{0, 1}) {
		t.Errorf("a canary's alert counts for its target: %v", got.Event(x15for60))
	}
	o.Episodes[0].Series = targetName
	got := Score(made(), o, true)
	if got.Event(x15for60) != (Share{1, 1}) || math.Abs(got.AllFalse().Months-.4) > 1e-9 {
		t.Errorf("caught %v, %g months; want the target's one and 0.4", got.Event(x15for60), got.AllFalse().Months)
	}
	if got := Score(made(), o, false); got.Hits != 0 {
		t.Error("a target's alert counts for a canary")
	}
}

func TestNoDelayOfRamps(t *testing.T) {
	for _, name := range []string{ramp3h, x3half, x2for10, x12for360} {
		if d := Score(made(incident(name, 12*dayMinutes)), fires(12*dayMinutes+5), false).Delays; len(d) > 0 {
			t.Errorf("%s: delay %v", name, d)
		}
	}
}

func TestWhatBecomesOfAShift(t *testing.T) {
	w := made(incident(after3d, 13*dayMinutes))
	w.ShiftAt = 10 * dayMinutes
	o := fires(10*dayMinutes+5, 11*dayMinutes, 13*dayMinutes+5, 9*dayMinutes)
	f := func(want Shifts) {
		t.Helper()
		if got := Score(w, o, false).Shifts; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	f(Shifts{Noticed: 1, Openings: 2, Closed: 1})
	o.Episodes[1].End = time.Time{}
	f(Shifts{Noticed: 1, Openings: 2})
	o.Episodes[1].Slower = true
	f(Shifts{Noticed: 1, Openings: 1, Closed: 1})
}

func TestQuantile(t *testing.T) {
	list := []time.Duration{4, 1, 3, 2}
	f := func(q float64, want time.Duration) {
		t.Helper()
		if got, ok := Quantile(list, q); !ok || got != want {
			t.Errorf("quantile %g is %d, want %d", q, got, want)
		}
	}
	f(0, 1)
	f(.5, 2)
	f(.9, 4)
	f(1, 4)
	if _, ok := Quantile(nil, .5); ok {
		t.Error("nothing has a median")
	}
}
