package engine

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Load starts the engine: it reads each canary's history, and takes votes, firing alerts, incidents and the state of the
// series from what the store holds. Nothing fires and nothing is told because of a start; what ended meanwhile because
// its canary left the config is told at the first tick. An error means that a history could not be read.
func (e *Engine) Load(ctx context.Context, watched []Watched, snap Snapshot, now time.Time) error {
	e.open(now)
	e.ticked = e.now
	e.found(snap.Blobs)
	e.recallBlob(blobIDs, &e.used)
	e.silences = slices.DeleteFunc(slices.Clone(snap.Silences), func(s Silence) bool { return !s.Ends.After(now) })
	for _, m := range snap.Marks {
		e.keepMark(m)
	}
	e.recallWindows()
	var made []Record
	var votes []vote
	for _, w := range watched {
		c := e.add(w)
		m, known := e.memoOf(c)
		c.respecced = known && m.Spec != c.Spec && e.opt.Baseline.OnChange != "keep"
		records, p, err := e.read(ctx, c)
		if err != nil {
			return err
		}
		made = append(made, records...)
		c.restart()
		if known {
			c.recall(m)
		}
		votes = append(votes, e.remember(c, p.recent)...)
	}
	for _, t := range e.order {
		e.repool(t)
		e.recallPools(t)
	}
	e.place(snap)
	e.recount(votes)
	e.publishAll()
	e.commitRecords(ctx, made)
	return nil
}

// add watches a canary that was not watched before.
func (e *Engine) add(w Watched) *watch {
	c := newWatch(w)
	if c.Due != nil {
		c.runs.due = c.Due(e.now)
	}
	e.watches[c.key] = c
	t := e.target(w.Canary.Target.Name)
	t.canaries = append(t.canaries, c)
	slices.SortFunc(t.canaries, func(a, b *watch) int { return strings.Compare(a.key, b.key) })
	return c
}

// restart gives every kind its resting state, once the bands are known.
func (c *watch) restart() {
	for _, k := range c.kinds() {
		c.alerts[k] = c.blank(k)
	}
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

// place puts stored incidents and open alerts where they belong.
func (e *Engine) place(snap Snapshot) {
	byID := map[string]*incident{}
	for _, inc := range snap.Incidents {
		if inc.State != IncidentClosed {
			byID[inc.ID] = &incident{Incident: inc}
			e.used[inc.ID] = inc.Opened.Unix()
		}
	}
	for _, a := range snap.Settled {
		if inc := byID[a.Incident]; inc != nil {
			inc.ended = append(inc.ended, a)
		}
	}
	for _, a := range snap.Alerts {
		if !a.Open() {
			continue
		}
		if inc := byID[a.Incident]; inc != nil {
			inc.hold(e.target(targetOf(a)))
		}
		if why := e.placeAlert(a); why != "" {
			e.orphans = append(e.orphans, orphan{a, why})
		}
	}
	for _, inc := range byID {
		if len(inc.in) == 0 { // the first tick closes it
			inc.hold(e.target(inc.Scope))
		}
	}
}

// hold makes an incident that of a target.
func (inc *incident) hold(t *target) {
	if t.incident == nil {
		t.incident = inc
		inc.in = append(inc.in, t)
	}
}

// orphan is an alert that was open in the store and whose series is gone; the first tick ends it.
type orphan struct {
	alert Alert
	why   string
}

// Why an alert ends that no observation can end any more.
const (
	whyRemoved = "removed"
	whySpec    = "spec_changed"
)

// placeAlert gives an open alert to its canary or target, or says why it cannot.
func (e *Engine) placeAlert(a Alert) string {
	m := a.Kind.Metric()
	c, t := e.watches[a.Series], e.targets[a.Series]
	switch {
	case c == nil && m != "" && t != nil && t.pools[m] != nil:
		t.pools[m].alert = a
		t.pools[m].group.Freeze(a.State != StateFlapping)
		return ""
	case c == nil && (t == nil || len(t.canaries) == 0 || !slices.Contains(rateKinds(), a.Kind)):
		return whyRemoved
	case c == nil:
		t.rates[a.Kind] = a
		return ""
	case !slices.Contains(c.kinds(), a.Kind):
		return whyRemoved
	case c.respecced && m != "":
		return whySpec
	}
	c.alerts[a.Kind] = a
	if a.Kind == KindError && a.Suppressed == "" && lockedOut(a.Last.Outcome) {
		e.locked[c.credential()] = c.key
	}
	if m != "" && a.State != StateFlapping {
		c.series[m].Freeze(true)
	}
	return ""
}

// recount fills the rates from the last hour's samples.
func (e *Engine) recount(votes []vote) {
	for _, v := range votes {
		c := e.watches[v.canary]
		if !c.tells(v) {
			e.targets[c.Canary.Target.Name].count(v)
		}
	}
}

// catchUp does, at the first tick after a start, what a start itself must not: it asks the scheduler again for re-probes
// that are still ahead, and ends the alerts whose canary left the config meanwhile.
func (e *Engine) catchUp() {
	if e.caughtUp {
		return
	}
	e.caughtUp = true
	for _, c := range e.watches {
		if c.respecced {
			e.markSpec(c)
		}
		if len(c.memo.Asks) > 0 && e.opt.Reprober != nil {
			e.reask(c, e.ticked) // what came due since the start is due still
		}
	}
	for _, o := range e.orphans {
		e.retire(e.target(targetOf(o.alert)), o.alert, o.why)
	}
	e.orphans = nil
	e.tidy()
}

// retire ends an alert that no observation can end any more.
func (e *Engine) retire(t *target, a Alert, why string) {
	a, tn := resolve(a, why, e.now, turn{From: a.State})
	e.transit(a, tn)
	e.tx.alert(a)
	e.bury(t, a)
	e.tx.tell(t)
}

// recordsAtOnce bounds one commit of replayed samples.
const recordsAtOnce = 1000

// commitRecords stores the residuals that a replay made.
func (e *Engine) commitRecords(ctx context.Context, records []Record) {
	for chunk := range slices.Chunk(records, recordsAtOnce) {
		e.commit(ctx, Change{Records: chunk})
	}
}

// Imported takes in history that changed underneath: every series is read again and replayed. Alerts keep their state.
func (e *Engine) Imported(ctx context.Context, now time.Time) error {
	e.open(now)
	if err := e.reread(ctx); err != nil {
		return err
	}
	return e.finish(ctx)
}

// reread reads every series again.
func (e *Engine) reread(ctx context.Context) error {
	var made []Record
	for _, t := range e.order {
		for _, c := range t.canaries {
			records, _, err := e.read(ctx, c)
			if err != nil {
				return err
			}
			made = append(made, records...)
			for _, m := range c.metrics() {
				c.series[m].Recompute()
				c.setBand(m, c.series[m].Band(e.now))
			}
			e.rest(c)
		}
	}
	e.commitRecords(ctx, made)
	return nil
}

// rest gives quiet alerts without votes the state that the bands say.
func (e *Engine) rest(c *watch) {
	for _, k := range c.kinds() {
		a := c.alerts[k]
		rest := c.blank(k).State
		if a.Open() || a.State == StatePending || a.State == rest {
			continue
		}
		why := "history changed"
		e.take(c, k, a.to(rest, e.now), turn{From: a.State, Why: why})
	}
	e.tx.touch(c)
}
