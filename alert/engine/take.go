package engine

import (
	"context"
	"time"

	"serin/baseline"
	"serin/probe"
)

// tx is what one call changes; finish commits it whole.
type tx struct {
	Change
	at      map[string]int // alert id → place in Alerts
	touched map[*watch]bool
	scopes  map[*target]*gist
	pools   map[*target]bool // whose pools changed; false: their rounds alone
	ids     bool             // incident ids were given out
}

// gist is what there is to tell about one target's incident.
type gist struct{ news []News }

func newTx() *tx {
	return &tx{touched: map[*watch]bool{}, pools: map[*target]bool{}}
}

// next returns an empty tx. It takes over the maps, which nobody keeps as the Change is kept.
func (x *tx) next() *tx {
	if len(x.touched)+len(x.pools) > 64 {
		return newTx() // they never shrink, and it would cost every call to look through them
	}
	clear(x.touched)
	clear(x.pools)
	return &tx{touched: x.touched, pools: x.pools}
}

// alert puts an alert into the change, once.
func (x *tx) alert(a Alert) {
	if i, ok := x.at[a.ID]; ok {
		x.Alerts[i] = a
		return
	}
	if x.at == nil {
		x.at = map[string]int{}
	}
	x.at[a.ID] = len(x.Alerts)
	x.Alerts = append(x.Alerts, a)
}

func (x *tx) touch(c *watch) { x.touched[c] = true }

// pour marks the rounds of a target as changed.
func (x *tx) pour(t *target) {
	if _, marked := x.pools[t]; !marked {
		x.pools[t] = false
	}
}

// tell marks a target's incident for another look, with news for its thread.
func (x *tx) tell(t *target, news ...News) {
	if x.scopes == nil {
		x.scopes = map[*target]*gist{}
	}
	if x.scopes[t] == nil {
		x.scopes[t] = &gist{}
	}
	x.scopes[t].news = append(x.scopes[t].news, news...)
}

// open begins a call at a time. Of it only the wall clock counts: a monotonic reading knows nothing of a clock that was set
// or a machine that slept, and a restart has none.
func (e *Engine) open(now time.Time) {
	e.now = now.Round(0)
	e.tx = e.tx.next()
}

// finish decides what people are told, commits the change and hands the notices over.
func (e *Engine) finish(ctx context.Context) error {
	x := e.tx
	e.turnWindows()
	e.tellIncidents()
	for c := range x.touched {
		c.calm = c.settled()
	}
	e.saveMemos(x)
	e.savePools(x)
	e.saveWindows(x)
	e.publish(x)
	if x.empty() {
		return nil
	}
	e.commit(ctx, x.Change)
	if len(x.Notices) > 0 && e.opt.Mailbox != nil {
		e.opt.Mailbox.Add(x.Notices...)
	}
	return nil
}

func (e *Engine) commit(ctx context.Context, c Change) {
	err := e.opt.Journal.Commit(ctx, c)
	switch {
	case err != nil && !e.broken:
		e.log.Error("store cannot be written; alerting goes on from memory", "error", err)
	case err == nil && !c.waits():
		return // it is on its way: that says nothing of the disk
	case err == nil && e.broken:
		e.log.Info("store is written again")
	}
	e.broken = err != nil
}

// waits reports whether a journal takes the change only once it is on disk.
func (c *Change) waits() bool { return len(c.Notices)+len(c.Silences)+len(c.Marks) > 0 }

func (c *Change) empty() bool {
	return len(c.Records)+len(c.Exclusions)+len(c.Bands)+len(c.Alerts)+len(c.Incidents)+len(c.Notices)+len(c.Transitions)+
		len(c.Blobs)+len(c.Silences)+len(c.Marks) == 0
}

// step brings an observation to a canary's alert and takes what comes of it.
func (e *Engine) step(c *watch, k Kind, o Observation) turn {
	a, t := step(c.alerts[k], c.quorum(k), o, e.now)
	e.traced(a)
	if t.FirstCalm && (o.Trigger == "" || o.Trigger == probe.Schedule) && a.Open() {
		e.ask(c, calmTimes(e.now, c.Watched), []Kind{k})
	}
	e.take(c, k, a, t)
	return t
}

// traced shows an alert to whoever follows each observation.
func (e *Engine) traced(a Alert) {
	if e.opt.Trace != nil {
		e.opt.Trace(a)
	}
}

// take makes a the canary's alert of its kind: history, log, band, re-probes and incident follow.
func (e *Engine) take(c *watch, k Kind, a Alert, t turn) {
	e.tx.touch(c)
	tg := e.targets[c.Canary.Target.Name]
	if a.State != t.From {
		e.transit(a, t)
	}
	if m := k.Metric(); m != "" && (t.Fired || t.Resolved) {
		c.series[m].Freeze(t.Fired)
		if t.Resolved && a.Excluding {
			a = e.include(c, m, a)
		}
		if t.Fired && a.Severity == Warning && a.Last.Ratio < promoteRatio && tg.corroborates(m, e.now) {
			a.Severity = Info
		}
	}
	if m := k.Metric(); m != "" && t.Flaps {
		c.series[m].Freeze(false)
		a.Excluding = false
	}
	if t.Fired || t.Resolved {
		e.unask(c, k, e.now)
	}
	if t.Fired {
		a = e.lockOut(c, a)
	}
	c.alerts[k] = a
	if t.Resolved {
		e.ended(c, tg, k, a)
	}
	if t.Fired {
		a.Threshold, a.Config = c.bands[k.Metric()].Threshold, c.Config
		c.alerts[k] = a
	}
	if a.Open() || t.Resolved {
		e.tx.alert(a)
	}
	if t.Resolved && k == KindError {
		e.unlock(c)
	}
	if t.Fired || t.Resolved || t.Escalated || t.Flaps {
		e.tx.tell(tg, flapNews(a, t)...)
	}
}

// ended puts an alert that resolved away and starts the next of its kind.
func (e *Engine) ended(c *watch, tg *target, k Kind, a Alert) {
	c.alerts[k] = c.blank(k).after(a)
	if k == KindTimeout || k == KindError {
		c.memo.Told = append(c.memo.Told, told{Kind: k, From: a.FirstBreach, To: e.now})
	}
	e.bury(tg, a)
}

// transit writes one change of state: a row of history and a log line.
func (e *Engine) transit(a Alert, t turn) {
	e.tx.Transitions = append(e.tx.Transitions, Transition{At: e.now, Series: a.Series, Kind: a.Kind, From: t.From, To: a.State,
		Reason: t.Why, Alert: a.ID, Incident: a.Incident})
	e.log.Info("alert state", "series", a.Series, "kind", string(a.Kind), "from", string(t.From), "to", string(a.State),
		"reason", t.Why, "alert", a.ID)
}

// excludes reports whether an alert has lasted so long that its samples leave the band. One of a fixed limit never
// does: it would keep the band from being learned.
func (c *watch) excludes(a Alert, now time.Time) bool {
	return a.Open() && a.State != StateFlapping && a.Kind.Metric() != "" && !a.Fixed && !a.Excluding && !c.Rule.Literal() && c.Rule.ExcludeAfter > 0 &&
		now.Sub(a.Fired) >= c.Rule.ExcludeAfter
}

// exclude leaves the samples from the first breach on out of the band.
func (e *Engine) exclude(c *watch, k Kind, a Alert) {
	m := k.Metric()
	a.Excluding = true
	c.series[m].Exclude(a.FirstBreach, e.now, true)
	e.tx.Exclusions = append(e.tx.Exclusions, exclusion(c, m, a.FirstBreach, e.now, true))
	c.alerts[k] = a
	e.tx.alert(a)
	e.tx.touch(c)
	e.log.Info("samples leave the band", "series", a.Series, "kind", string(k), "since", a.FirstBreach,
		"reason", "alert lasts", "alert", a.ID)
}

// include takes the calm probes that resolved an alert back into the band.
func (e *Engine) include(c *watch, m probe.Metric, a Alert) Alert {
	a.Excluding = false
	if n := len(a.Calm); n > 0 && !e.poolExcludes(c, m) {
		c.series[m].Exclude(a.Calm[0], a.Calm[n-1], false)
		e.tx.Exclusions = append(e.tx.Exclusions, exclusion(c, m, a.Calm[0], a.Calm[n-1], false))
	}
	return a
}

func exclusion(c *watch, m probe.Metric, from, to time.Time, out bool) Exclusion {
	return Exclusion{Canary: c.key, Metric: m, From: from.UnixNano(), To: to.UnixNano(), Excluded: out}
}

// band keeps the newest band of a metric, and stores it when its slot is new.
func (e *Engine) band(c *watch, m probe.Metric, b *baseline.Band) {
	if b == nil {
		return
	}
	if mark := (bandMark{b.Slot.UnixNano(), b.State, b.Threshold}); c.mark(m).kept != mark {
		c.mark(m).kept = mark
		e.tx.Bands = append(e.tx.Bands, *b)
	}
	c.setBand(m, *b)
	e.tx.touch(c)
}

// bandMark tells stored bands apart.
type bandMark struct {
	slot             int64
	state, threshold string
}
