package engine

import (
	"fmt"
	"slices"
	"time"

	"serin/probe"
)

// The rate path, for faults too intermittent for votes.
const (
	rateWindow = time.Hour
	rateLeast  = 30  // observations
	rateFire   = .20 // share that fires
	rateQuiet  = .10 // share below which it resolves
)

// target is the canaries of one target and what people are told of them.
type target struct {
	name     string
	canaries []*watch // by key
	seen     []vote   // observations of the last hour that no canary's own alert has told, by time
	rates    map[Kind]Alert
	pools    map[probe.Metric]*pool // the whole target, a metric
	incident *incident              // nil = none open or waiting
	muted    bool                   // one of its open alerts is muted, or may be
}

// vote is one observation as the rates count it.
type vote struct {
	at     time.Time
	canary string
	family probe.Family
	cause  probe.Outcome
}

func newTarget(name string) *target {
	t := &target{name: name, rates: map[Kind]Alert{}, pools: map[probe.Metric]*pool{}, muted: true}
	for _, k := range rateKinds() {
		t.rates[k] = Alert{Series: name, Kind: k, State: StateOK}
	}
	return t
}

func rateKinds() []Kind { return []Kind{KindTimeout, KindError} }

// judgeRate counts a sample in its target's rates. Timeouts and errors are counted apart. What a canary's own alert
// tells is not told again: its observations count in no rate.
func (e *Engine) judgeRate(c *watch, s *probe.Sample) {
	t := e.targets[c.Canary.Target.Name]
	f := familyOf(s)
	if f == probe.FamilyNone || f == probe.FamilyLimit {
		return
	}
	if c.down() {
		t.seen = slices.DeleteFunc(t.seen, func(v vote) bool { return v.canary == c.key && c.tells(v) })
	}
	if v := (vote{at: s.Time, canary: c.key, family: f, cause: s.Outcome}); !c.tells(v) {
		t.count(v)
	}
	for _, k := range rateKinds() {
		e.rate(t, k, f == kindFamily(k))
	}
}

// count puts an observation in its place by time.
func (t *target) count(v vote) {
	i := len(t.seen)
	for i > 0 && t.seen[i-1].at.After(v.at) {
		i--
	}
	t.seen = slices.Insert(t.seen, i, v)
}

// tells reports whether one of the canary's own alerts, open or ended, covers an observation.
func (c *watch) tells(v vote) bool {
	for _, k := range rateKinds() {
		if c.alerts[k].State.open() && !v.at.Before(c.alerts[k].FirstBreach) {
			return true
		}
	}
	return slices.ContainsFunc(c.memo.Told, func(s told) bool { return !v.at.Before(s.From) && !v.at.After(s.To) })
}

// ageRates drops what is older than the window, and lets quiet rates end.
func (e *Engine) ageRates(t *target) {
	for _, c := range t.canaries {
		if len(c.memo.Told) == 0 {
			continue
		}
		c.memo.Told = slices.DeleteFunc(slices.Clone(c.memo.Told), func(s told) bool { return e.now.Sub(s.To) > rateWindow })
	}
	for _, k := range rateKinds() {
		e.rate(t, k, false)
	}
}

// rate judges one family's share; it fires only when the newest observation failed so.
func (e *Engine) rate(t *target, k Kind, failed bool) {
	t.age(e.now)
	if !failed && !t.rates[k].State.open() {
		return
	}
	a := t.rates[k]
	bad, all := t.share(k)
	switch {
	case a.Open() && float64(bad) < rateQuiet*float64(max(all, 1)):
		a, tn := resolve(a, fmt.Sprintf("%d of the last %d observations", bad, all), e.now, turn{From: a.State})
		t.rates[k] = Alert{Series: t.name, Kind: k, State: StateOK}
		e.bury(t, a)
		e.transit(a, tn)
		e.tx.alert(a)
		e.tx.tell(t)
	case !a.Open() && failed && all >= rateLeast && float64(bad) >= rateFire*float64(all):
		e.fireRate(t, k)
	case a.Open() && failed:
		a = t.weighed(a, e.now)
		t.rates[k] = a
		e.tx.alert(a)
	}
}

// age drops the observations that are outside the window. They lie by time, so that they are at the ends.
func (t *target) age(now time.Time) {
	for len(t.seen) > 0 && now.Sub(t.seen[0].at) > rateWindow {
		t.seen = t.seen[1:]
	}
	for n := len(t.seen); n > 0 && t.seen[n-1].at.Sub(now) > rateWindow; n-- {
		t.seen = t.seen[:n-1]
	}
}

func (e *Engine) fireRate(t *target, k Kind) {
	i := slices.IndexFunc(t.seen, func(v vote) bool { return v.family == kindFamily(k) })
	a := Alert{Series: t.name, Kind: k, Severity: Warning, FirstBreach: t.seen[i].at, Fired: e.now}
	a = t.weighed(a.to(StateFiring, e.now), e.now)
	a.Worst = a.Last
	a.ID = alertID(a, e.now)
	t.rates[k] = a
	e.transit(a, turn{From: StateOK, Why: a.Reason})
	e.tx.alert(a)
	e.tx.tell(t)
}

// weighed gives a rate alert the counts of now.
func (t *target) weighed(a Alert, now time.Time) Alert {
	bad, all := t.share(a.Kind)
	a.Timeouts, _ = t.share(KindTimeout)
	a.Errors, _ = t.share(KindError)
	a.Probes, a.Reason = all, fmt.Sprintf("%d of the last %d observations in 60 min", bad, all)
	a.Last = Evidence{At: now}
	for _, v := range t.seen {
		if v.family == kindFamily(a.Kind) {
			a.Last.Outcome = v.cause
		}
	}
	return a
}

// share counts the failures of a kind among the observations.
func (t *target) share(k Kind) (bad, all int) {
	for _, v := range t.seen {
		if v.family == kindFamily(k) {
			bad++
		}
	}
	return bad, len(t.seen)
}
