package sim

import (
	"context"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

// FaultProfile is a kind of endpoint whose probes fail at random.
type FaultProfile struct {
	Name    string
	Chance  float64       // of any probe to fail
	Outcome probe.Outcome // as what
	Days    int           // that are run of each seed
}

// FaultProfiles lists the error profiles. Those with a gate on rare alerts run longer, so that luck decides less.
func FaultProfiles() []FaultProfile {
	return []FaultProfile{
		{"0.2 % errors", .002, probe.HTTP5xx, 30},
		{"1 % errors", .01, probe.HTTP5xx, 90},
		{"2 % errors", .02, probe.HTTP5xx, 30},
		{"1 % timeouts", .01, probe.TimeoutFirstToken, 90},
	}
}

// The faults that come on top: in each 30 days one outage of the endpoint and one burst, on all canaries.
const (
	outageLong  = 30 // minutes; every probe fails
	burstLong   = 10 // minutes; each probe fails with burstChance
	burstChance = .5
)

// faulty is a healthy world whose probes fail.
type faulty struct {
	*World
	FaultProfile
	down   []Event
	bursts []Event
}

// newFaulty makes a seed's world with faults.
func newFaulty(seed uint64, p FaultProfile) *faulty {
	f := &faulty{World: NewWorld(seed, probe.TTFT, Healthy, p.Days), FaultProfile: p}
	s := newSource(seed+4000, 77)
	for block := 0; block < f.Minutes; block += 30 * dayMinutes {
		down := block + int(s.between(1*dayMinutes, 14*dayMinutes))
		burst := block + int(s.between(15*dayMinutes, 29*dayMinutes))
		if burst+burstLong > f.Minutes {
			break
		}
		f.down = append(f.down, Event{Name: "outage", Start: down, End: down + outageLong})
		f.bursts = append(f.bursts, Event{Name: "burst", Start: burst, End: burst + burstLong})
	}
	return f
}

// chance is that of a probe to fail in a minute.
func (f *faulty) chance(minute int) float64 {
	if _, ok := at(f.down, minute); ok {
		return 1
	}
	if _, ok := at(f.bursts, minute); ok {
		return burstChance
	}
	return f.Chance
}

func (f *faulty) probe(k int, sent time.Time) (probe.Sample, bool) {
	s, ok := f.World.probe(k, sent)
	since := sent.Sub(Start())
	luck := newSource(f.Seed+4000, 10+uint64(k), uint64(since/time.Second)).uniform()
	if !ok || luck >= f.chance(int(since/time.Minute)) {
		return s, ok
	}
	s = probe.Sample{Outcome: f.Outcome, Family: f.Outcome.Family(), Side: f.Outcome.Side("")}
	s.StreamTotal = probe.Known(200 * time.Millisecond)
	if f.Outcome == probe.TimeoutFirstToken {
		target := probe.DefaultTarget()
		s.StreamTotal = probe.Known(target.FirstToken(probe.Sizes()[k]))
	}
	return s, true
}

// FaultTally is what the failure alerts did on one error profile. Tallies add up.
type FaultTally struct {
	False   Rate            // alerts outside outages and bursts, of canaries and of the target, per canary-month
	Outages Share           // found: an alert started before the outage ended
	Bursts  Share           // that raised an alert
	Delays  []time.Duration // from the first probe that met an outage to the target's first alert
	Regular int
	Extra   int
}

// RunFaults brings a seed's world with faults to the engine and scores it.
func RunFaults(ctx context.Context, seed uint64, p FaultProfile, rule alert.Rule, every time.Duration) (*FaultTally, error) {
	f := newFaulty(seed, p)
	out, err := run(ctx, f, watchedTarget(rule, probe.TTFT, every), f.Minutes)
	if err != nil {
		return nil, err
	}
	return f.score(out, int(every/time.Minute)), nil
}

func (f *faulty) score(o Outcome, every int) *FaultTally {
	t := &FaultTally{Regular: o.Regular, Extra: o.Extra}
	t.False.Months = float64(f.Minutes) / monthLong * canaries
	failures := slices.DeleteFunc(slices.Clone(o.Episodes), func(ep Episode) bool {
		return ep.Kind != alert.KindTimeout && ep.Kind != alert.KindError
	})
	for _, ep := range failures {
		if !f.explains(ep) {
			t.False.Alerts++
		}
	}
	for _, e := range f.down {
		first := (e.Start + every - 1) / every * every
		if f.Out(first) {
			continue // nobody was there to see it
		}
		t.Outages.Of++
		if starts := startsIn(failures, e.Start, e.End); len(starts) > 0 {
			t.Outages.Caught++
			t.Delays = append(t.Delays, starts[0].Sub(minuteTime(first)))
		}
	}
	for _, e := range f.bursts {
		t.Bursts.Of++
		if len(startsIn(failures, e.Start, e.End+trueAfter)) > 0 {
			t.Bursts.Caught++
		}
	}
	return t
}

// explains reports whether an alert belongs to an outage or a burst.
func (f *faulty) explains(ep Episode) bool {
	return slices.ContainsFunc(append(slices.Clone(f.down), f.bursts...), func(e Event) bool {
		return len(startsIn([]Episode{ep}, e.Start, e.End+trueAfter)) > 0
	})
}

// Add adds another tally to this one.
func (t *FaultTally) Add(o *FaultTally) {
	t.False, t.Outages, t.Bursts = t.False.plus(o.False), t.Outages.plus(o.Outages), t.Bursts.plus(o.Bursts)
	t.Delays = append(t.Delays, o.Delays...)
	t.Regular, t.Extra = t.Regular+o.Regular, t.Extra+o.Extra
}
