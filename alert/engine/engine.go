// Package engine turns samples into alerts: it holds each sample against what is normal, lets it vote, and returns what came of
// it as data. It knows nothing of incidents, messages or stores.
//
// All that can be in trouble is one kind of thing, a series: a canary's metric or one of its families of failures, a target's rounds
// of a metric, a target's rate of failures. A series has an alert, a quorum and a judge, and goes through one step.
package engine

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// Options wire an Engine to the world. History, Trace and Log may be nil.
type Options struct {
	History  alert.History
	Baseline baseline.Options
	Reprobes bool              // somebody runs the re-probes that are asked for
	Recorded bool              // samples come from a record: they are not returned as records, and a run without one is no missing data
	Trace    func(alert.Alert) // hears of every observation: the alert that it was brought to, after it
	Log      *slog.Logger
}

// Engine judges samples. Load comes first; then everything else, all from one goroutine. Status may be asked from any.
type Engine struct {
	opt      Options
	log      *slog.Logger
	now      time.Time // of the running call; between calls, of the last one
	ticked   time.Time // of the last tick
	canaries map[string]*canary
	targets  map[string]*target
	order    []*target // by name
	windows  []window
	orphans  []orphan // found firing at the start, to be ended
	stale    []string // keys of stored state of what is not watched any more
	begins   bool     // Begun has been called: runs in flight are known
	started  bool     // the first call after Load has been
	folding  bool     // stored samples are stepped again: nothing fires, nothing is asked for
	change   change

	mu   sync.Mutex
	view view
}

// New returns an engine that watches nothing yet.
func New(opt Options) *Engine {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Baseline.Window == 0 {
		opt.Baseline = baseline.DefaultOptions()
	}
	return &Engine{opt: opt, log: opt.Log, canaries: map[string]*canary{}, targets: map[string]*target{}}
}

// Observe judges one sample, which has ended. One of a canary that is not watched is recorded and judged by nobody; one that was
// seen before changes nothing.
func (e *Engine) Observe(s probe.Sample) alert.Judged { return e.observe(s, s.Time) }

// Answer observes a sample that answers the re-probe that was due at a time, however long after it was sent: for records, where
// the next sample there is must do.
func (e *Engine) Answer(s probe.Sample, due time.Time) alert.Judged { return e.observe(s, due) }

func (e *Engine) observe(s probe.Sample, due time.Time) alert.Judged {
	now := e.judgedAt(&s)
	c := e.canaries[s.Key()]
	if c != nil && c.isDuplicate(&s) {
		return alert.Judged{}
	}
	e.begin(now)
	rec := alert.Record{Sample: s}
	if c != nil && s.Trigger != probe.Check {
		kinds := c.kinds
		if !s.Regular() {
			kinds = c.answer(e, &s, due)
		}
		e.judge(c, &s, kinds, &rec)
	}
	if !e.opt.Recorded {
		e.change.Records = append(e.change.Records, rec)
	}
	return e.commit()
}

// maxLate bounds how long a probe may have run unseen; beyond it the clock was set back.
const maxLate = 15 * time.Minute

// judgedAt is the time at which a sample is judged: when its probe ended, or the last call if that was later.
func (e *Engine) judgedAt(s *probe.Sample) time.Time {
	end := endOf(s)
	if late := e.now.Sub(end); late > 0 && late < maxLate {
		return e.now
	}
	return end
}

// endOf is when a sample's probe ended.
func endOf(s *probe.Sample) time.Time {
	end := s.Time
	for _, d := range []probe.Span{s.TTFT, s.E2E, s.StreamTotal} {
		if d.Known && d.D > 0 && s.Time.Add(d.D).After(end) {
			end = s.Time.Add(d.D)
		}
	}
	return end
}

// tickGap is how long the engine may go without a tick before it takes the clock for stepped or the machine for asleep.
const tickGap = 90 * time.Second

// Tick does what no sample can trigger: it finds missing data, closes rounds, lets votes and rates age, leaves long alerts out of
// the bands and weighs severities. Call it every few seconds: runs that fell into a gap of more than 90 s between two calls (suspend,
// a clock step) are not held against their canaries.
func (e *Engine) Tick(now time.Time) alert.Judged {
	e.begin(now)
	gap := e.now.Sub(e.ticked)
	jumped := e.ticked.IsZero() || gap < 0 || gap > tickGap
	e.ticked = e.now
	for _, t := range e.order {
		for _, c := range t.canaries {
			c.accountRuns(e, jumped)
			c.dropLateReprobes(e)
		}
		t.judgeRates(e, "")
		for _, r := range t.rounds {
			r.closeDue(e)
		}
		if t.busy {
			t.busy = false
			for s := range t.all() {
				s.age(e)
			}
		}
	}
	return e.commit()
}

// age does what time alone does to a series.
func (s *series) age(e *Engine) {
	s.target.busy = s.target.busy || s.isBusy()
	switch {
	case s.alert.State == alert.StatePending && s.kind != alert.KindNoData:
		if a, t, changed := alert.Age(s.alert, s.quorum, s.rest(), e.now); changed {
			s.apply(e, a, t)
		}
	case s.alert.IsFiring():
		e.change.target(s.target)
		if s.excludes(e.now) {
			s.exclude(e)
		}
		if r, ok := s.judge.(*rounds); ok && r.isSilent(e.now) {
			s.resolve(e, alert.EndLearning)
		}
	}
}

// begin starts a call at a time. Of it only the wall clock counts: a monotonic reading knows nothing of a clock that was set or a
// machine that slept, and a restart has none.
func (e *Engine) begin(now time.Time) {
	e.now = now.Round(0)
	e.change.reset()
	if !e.started && !e.folding {
		e.started = true
		e.catchUp()
	}
}

// commit ends a call and returns what it changed.
func (e *Engine) commit() alert.Judged {
	for _, t := range e.change.targets {
		t.weigh(e)
	}
	for _, c := range e.change.canaries {
		c.save(e)
		c.wantReprobes(e)
	}
	for _, r := range e.change.rounds {
		r.save(e)
	}
	e.publish()
	judged := e.change.Judged
	e.change.Judged = alert.Judged{}
	return judged
}

// weigh gives the firing alerts of a target their severities; none falls.
func (t *target) weigh(e *Engine) {
	canaries, down := len(t.canaries), t.down()
	for s := range t.all() {
		if !s.alert.IsFiring() {
			continue
		}
		severity := alert.Graver(s.alert.Severity, alert.SeverityOf(s.alert, s.surroundings(canaries, down, e.now)))
		if severity == s.alert.Severity {
			continue
		}
		s.alert.Severity = severity
		if e.change.severity(s.alert) {
			continue // it fired in this call
		}
		s.event(e, alert.EventSeverity, "severity is "+string(severity), alert.Evidence{})
	}
}

// event adds something worth knowing of a series that changes no state.
func (s *series) event(e *Engine, what alert.Event, why string, numbers alert.Evidence) {
	a := s.alert
	t := alert.Transition{At: e.now, Series: a.Series, Kind: a.Kind, From: a.State, To: a.State, Reason: why, Alert: a.ID, Event: what, Evidence: numbers}
	if a.IsFiring() {
		t.After = &a
		e.change.alert(a)
	}
	e.change.Transitions = append(e.change.Transitions, t)
	e.change.target(s.target)
	e.log.Info("event", "event", string(what), "series", a.Series, "kind", string(a.Kind), "reason", why)
}

// targetEvent adds something that was seen of a whole target.
func (e *Engine) targetEvent(t *target, what alert.Event, why string, at time.Time) {
	if e.folding || e.opt.Recorded {
		return
	}
	e.change.Transitions = append(e.change.Transitions, alert.Transition{At: at, Series: t.name, Event: what, Reason: why})
	e.log.Info("event", "event", string(what), "series", t.name, "reason", why)
}

// orphan is an alert that fired when the engine stopped and whose series is gone; the first call ends it.
type orphan struct {
	alert alert.Alert
	why   string
}

// catchUp does, with the first call after a start, what a start itself must not: it asks again for the re-probes that are still
// ahead, and ends the alerts that no observation can end any more.
func (e *Engine) catchUp() {
	for _, t := range e.order {
		for _, c := range t.canaries {
			if c.respecced {
				e.targetEvent(t, alert.EventSpec, specChanged, e.now)
			}
			if c.reask = len(c.state.Asks) > 0; c.reask || c.unsaved {
				e.change.canary(c)
			}
		}
	}
	for _, o := range e.orphans {
		e.retire(o.alert, o.why)
	}
	for _, key := range e.stale {
		e.forget(key)
	}
	e.orphans, e.stale = nil, nil
}

const specChanged = "config changed its spec (model, prompts, output cap, endpoint or the like)"

// retire ends an alert whose series is gone.
func (e *Engine) retire(a alert.Alert, why string) {
	a, t := alert.Resolve(a, why, e.now, alert.Turn{From: a.State})
	e.transit(a, t)
	e.change.alert(a)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// change is what a call changes.
type change struct {
	alert.Judged
	at       map[string]int // alert id → place in Alerts
	canaries []*canary      // whose state, bands or alerts changed
	rounds   []*rounds
	targets  []*target // that something fires on, or changed
}

func (x *change) reset() {
	x.Judged = alert.Judged{}
	clear(x.at)
	for _, c := range x.canaries {
		c.changed = false
	}
	for _, r := range x.rounds {
		r.changed = false
	}
	for _, t := range x.targets {
		t.changed = false
	}
	x.canaries, x.rounds, x.targets = x.canaries[:0], x.rounds[:0], x.targets[:0]
}

// alert puts an alert into the change, once.
func (x *change) alert(a alert.Alert) {
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

// severity gives an alert that fired in this call its severity, and reports whether there is one.
func (x *change) severity(a alert.Alert) bool {
	i := slices.IndexFunc(x.Transitions, func(t alert.Transition) bool { return t.Fired() && t.Alert == a.ID })
	if i < 0 {
		return false
	}
	x.Transitions[i].After.Severity = a.Severity
	x.alert(a)
	return true
}

// canary marks a canary as changed.
func (x *change) canary(c *canary) {
	if !c.changed {
		c.changed, c.stale = true, true
		x.canaries = append(x.canaries, c)
	}
}

func (x *change) round(r *rounds) {
	if !r.changed {
		r.changed = true
		x.rounds = append(x.rounds, r)
	}
}

func (x *change) target(t *target) {
	if !t.changed {
		t.changed = true
		x.targets = append(x.targets, t)
	}
}
