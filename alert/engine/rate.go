package engine

import (
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// The rate of failures of a target, for faults too intermittent for votes.
const (
	rateWindow = time.Hour
	rateLeast  = 30  // observations
	rateFire   = .20 // share that fires
	rateQuiet  = .10 // share below which it resolves
)

// rate is what the last hour's samples of a target say, but for those that a canary's own alert covers. They lie by time.
type rate []outcome

// outcome is one observation as the rates count it.
type outcome struct {
	at     time.Time
	canary *canary
	family probe.Family
	cause  probe.Outcome
}

func rateKinds() []alert.Kind { return []alert.Kind{alert.KindTimeout, alert.KindError} }

// countRate counts a sample in its target's rates. Timeouts and errors are counted apart. What a canary's own alert says is not said
// again: its observations count in no rate.
func (c *canary) countRate(e *Engine, s *probe.Sample) {
	f := familyOf(s)
	if f == probe.FamilyNone || f == probe.FamilyLimit {
		return
	}
	t := c.target
	if c.isDown() {
		t.rate = slices.DeleteFunc(t.rate, func(o outcome) bool { return o.canary == c && c.covers(o.at) })
	}
	if !c.covers(s.Time) {
		t.rate = t.rate.insert(outcome{at: s.Time, canary: c, family: f, cause: s.Outcome})
	}
	t.judgeRates(e, f)
}

// covers reports whether one of the canary's own failure alerts, firing or ended, covers an instant.
func (c *canary) covers(at time.Time) bool {
	return slices.ContainsFunc(c.series, func(s *series) bool {
		return s.kind.IsDown() && (s.alert.IsFiring() && !at.Before(s.alert.FirstBreach) ||
			slices.ContainsFunc(s.ended, func(x spell) bool { return !at.Before(x.From) && !at.After(x.To) }))
	})
}

// insert puts an observation in its place by time.
func (r rate) insert(o outcome) rate {
	i := len(r)
	for i > 0 && r[i-1].at.After(o.at) {
		i--
	}
	return slices.Insert(r, i, o)
}

// recent drops the observations that are outside the window; they are at the ends.
func (r rate) recent(now time.Time) rate {
	for len(r) > 0 && now.Sub(r[0].at) > rateWindow {
		r = r[1:]
	}
	for len(r) > 0 && r[len(r)-1].at.Sub(now) > rateWindow {
		r = r[:len(r)-1]
	}
	return r
}

// count returns how many observations failed so.
func (r rate) count(f probe.Family) (n int) {
	for i := range r {
		if r[i].family == f {
			n++
		}
	}
	return n
}

// judgeRates judges both families' shares; newest is that of the sample that just came, "" where time alone has passed. A rate fires
// only when the newest observation failed so.
func (t *target) judgeRates(e *Engine, newest probe.Family) {
	t.rate = t.rate.recent(e.now)
	for _, s := range t.rates {
		failed := newest == kindFamily(s.kind)
		if !failed && !s.alert.IsFiring() {
			continue
		}
		o := t.rate.observe(s.kind, failed, e.now)
		if o.Call == baseline.Breach || s.alert.IsFiring() && (failed || o.Call == baseline.Calm) {
			s.stepRate(e, o)
		}
	}
}

// observe says what the rate is to the alert of a kind: a breach above the one share, calm below the other.
func (r rate) observe(k alert.Kind, failed bool, now time.Time) alert.Observation {
	bad, all := r.count(kindFamily(k)), len(r)
	o := alert.Observation{At: now, Call: baseline.Neither, Why: fmt.Sprintf("%d of the last %d observations in 60 min", bad, all)}
	switch {
	case float64(bad) < rateQuiet*float64(max(all, 1)):
		o.Call = baseline.Calm
	case failed && all >= rateLeast && float64(bad) >= rateFire*float64(all):
		o.Call = baseline.Breach
	}
	for i := range r {
		if r[i].family == kindFamily(k) {
			o.Outcome = r[i].cause
		}
	}
	return o
}

// stepRate is step with the counts of the rate.
func (s *series) stepRate(e *Engine, o alert.Observation) {
	if e.folding {
		return // the next failure says the same
	}
	a, t := alert.Step(s.alert, s.quorum, o, e.now)
	r := s.target.rate
	a.Probes, a.Timeouts, a.Errors = len(r), r.count(probe.FamilyTimeout), r.count(probe.FamilyError)
	if !t.Resolved {
		a.Reason, a.Last = o.Why, alert.Evidence{At: o.At, Outcome: o.Outcome}
	}
	if i := slices.IndexFunc(r, func(x outcome) bool { return x.family == kindFamily(s.kind) }); t.Fired && i >= 0 {
		a.FirstBreach, a.Worst = r[i].at, a.Last
	}
	s.apply(e, a, t)
}
