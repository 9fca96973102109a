package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/probe"
)

// Load starts the engine, or starts it anew: it reads each canary's history, takes firing alerts and what no sample tells from what
// the store holds, and steps the samples of the last hours again, so that votes are where they were. It emits no transition and
// asks for no re-probe; what ended meanwhile because its canary left the config is told with the next call. The result has the residuals
// of samples that had none. An error means that a history could not be read.
func (e *Engine) Load(ctx context.Context, watched []alert.Watched, windows []alert.Maintenance, snap alert.Snapshot, now time.Time) (alert.Judged, error) {
	e.canaries, e.targets, e.order, e.orphans = map[string]*canary{}, map[string]*target{}, nil, nil
	e.windows, e.started = newWindows(windows), false
	e.now = now.Round(0)
	e.ticked = e.now
	st := newStored(snap.Blobs)
	firing := map[string][]alert.Alert{}
	for _, a := range snap.Alerts {
		if a.IsFiring() {
			firing[a.Target()] = append(firing[a.Target()], a)
		}
	}
	var made []alert.Record
	for _, list := range byTarget(watched) {
		records, err := e.loadTarget(ctx, list, st, firing)
		if err != nil {
			return alert.Judged{}, err
		}
		made = append(made, records...)
	}
	for _, list := range firing {
		for _, a := range list {
			e.orphans = append(e.orphans, orphan{a, alert.EndRemoved})
		}
	}
	e.stale = st.left()
	e.change.reset()
	e.publishAll()
	return alert.Judged{Records: made}, nil
}

// byTarget groups canaries by their target.
func byTarget(watched []alert.Watched) (groups [][]alert.Watched) {
	at := map[string]int{}
	for _, w := range watched {
		name := w.Canary.Target.Name
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], w)
	}
	return groups
}

// loadTarget loads the canaries of one target. The alerts that found their series are taken out of firing.
func (e *Engine) loadTarget(ctx context.Context, watched []alert.Watched, st stored, firing map[string][]alert.Alert) ([]alert.Record, error) {
	var made []alert.Record
	var past []sampleOf
	for _, w := range watched {
		c := e.add(w)
		states := c.recall(e, st)
		p, err := c.read(ctx, e)
		if err != nil {
			return nil, err
		}
		made = append(made, c.build(e, p, states)...)
		c.settle(states)
		c.remember(p)
		past = append(past, p.since(c, e.now.Add(-c.lookback()))...)
	}
	t := e.targets[watched[0].Canary.Target.Name]
	t.pool(e)
	for _, r := range t.rounds {
		r.recall(e, st)
	}
	t.place(e, firing)
	t.fold(e, past)
	return made, nil
}

// add watches a canary that was not watched before.
func (e *Engine) add(w alert.Watched) *canary {
	t := e.target(w.Canary.Target.Name)
	c := newCanary(w, t)
	if c.Due != nil {
		c.runs.due = c.Due(e.now)
	}
	e.canaries[c.key] = c
	t.canaries = append(t.canaries, c)
	slices.SortFunc(t.canaries, func(a, b *canary) int { return strings.Compare(a.key, b.key) })
	return c
}

// target returns the target of a name, a new one when there is none.
func (e *Engine) target(name string) *target {
	if t := e.targets[name]; t != nil {
		return t
	}
	t := newTarget(name)
	e.targets[name] = t
	e.order = append(e.order, t)
	slices.SortFunc(e.order, func(a, b *target) int { return strings.Compare(a.name, b.name) })
	return t
}

// pool makes the target's rounds those of its canaries. What rounds knew stays.
func (t *target) pool(e *Engine) {
	var metrics []probe.Metric
	for _, m := range latencyMetrics() {
		n := 0
		for _, c := range t.canaries {
			if isMember(c, m) {
				n++
			}
		}
		if n >= membersLeast {
			metrics = append(metrics, m)
		}
	}
	t.rounds = slices.DeleteFunc(t.rounds, func(r *rounds) bool {
		gone := !slices.Contains(metrics, r.metric)
		if gone {
			r.series.drop(e)
			e.forget(roundsKey(t.name, r.metric))
		}
		return gone
	})
	for _, m := range metrics {
		if t.round(m) == nil {
			t.rounds = append(t.rounds, newRounds(t, m))
		}
	}
	for _, r := range t.rounds {
		r.configure()
	}
}

// drop ends what fires of a series that is gone.
func (s *series) drop(e *Engine) {
	if s.alert.IsFiring() {
		e.retire(s.alert, alert.EndRemoved)
	}
}

// place gives the alerts that fired to their series, or keeps them to be ended.
func (t *target) place(e *Engine, firing map[string][]alert.Alert) {
	for _, a := range firing[t.name] {
		s, why := t.find(a)
		if s == nil {
			e.orphans = append(e.orphans, orphan{a, why})
			continue
		}
		s.alert = a
		s.judge.freeze(true)
	}
	delete(firing, t.name)
}

// find returns the series of an alert, or why there is none.
func (t *target) find(a alert.Alert) (found *series, why string) {
	for s := range t.all() {
		if s.key != a.Series || s.kind != a.Kind {
			continue
		}
		if !s.isWhole() && s.isLatency() && s.lead.respecced {
			return nil, alert.EndSpec
		}
		return s, ""
	}
	return nil, alert.EndRemoved
}

// lookback is how far before a start the canary's samples are stepped again: as far as its votes count, and as the newest stored state
// of a step test may lie back.
func (c *canary) lookback() time.Duration {
	d := rateWindow
	for _, s := range c.series {
		if s.kind != alert.KindNoData {
			d = max(d, s.quorum.Window)
		}
	}
	if c.joins() {
		d = max(d, alert.RoundQuorum(c.Rule, c.Canary.Interval).Window)
	}
	return d + levelRenewal + c.Canary.Interval
}

// sampleOf is a stored sample of a canary.
type sampleOf struct {
	canary *canary
	probe.Sample
}

// fold steps the stored samples of a target's last hours again, in the order in which they ended.
func (t *target) fold(e *Engine, past []sampleOf) {
	slices.SortStableFunc(past, func(a, b sampleOf) int { return endOf(&a.Sample).Compare(endOf(&b.Sample)) })
	now := e.now
	e.folding = true
	for i := range past {
		s := &past[i]
		if e.now = endOf(&s.Sample); e.now.After(now) {
			e.now = now
		}
		for _, r := range t.rounds {
			r.closeDue(e)
		}
		var rec alert.Record
		e.judge(s.canary, &s.Sample, s.canary.answered(&s.Sample), &rec)
	}
	e.folding, e.now = false, now
	for s := range t.all() {
		if s.alert.State == alert.StatePending {
			s.alert, _, _ = alert.Age(s.alert, s.quorum, s.rest(), now)
		}
	}
	for _, c := range t.canaries {
		for _, h := range c.metrics {
			h.band = h.Band(now)
		}
	}
}
