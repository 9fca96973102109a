package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/baseline"
	"serin/probe"
)

// Source is what answers probes in virtual time. Canaries go by their place in Options.Watched.
type Source interface {
	// Next returns the next regular probe, by time; false when none is left.
	Next() (canary int, at time.Time, ok bool)
	// Probe returns what a probe saw that was due at a time; false when nobody sent it. The sample's Time is when it was sent.
	Probe(canary int, due time.Time, why probe.Trigger) (probe.Sample, bool)
}

// Incidents are told of what the engine found, where somebody wants to know what people would have heard.
type Incidents interface {
	Update(ts []alert.Transition, now time.Time) alert.Told
	Tick(ts []alert.Transition, now time.Time) alert.Told
}

// Options say what is driven.
type Options struct {
	Watched   []alert.Watched
	Baseline  baseline.Options
	History   alert.History // before the start; nil = none
	Windows   []alert.Maintenance
	From      time.Time          // when the engine starts
	Recorded  bool               // samples come from a record: a run without one is no missing data, and quiet hours have no ticks
	Trace     func(alert.Alert)  // hears of every observation, as engine.Options say; nil = nobody does
	Incidents Incidents          // nil = none
	Commit    func(alert.Change) // takes what each call of both changed; nil = nobody does
}

// Result is what an engine made of it.
type Result struct {
	Events     []Event // by time
	Regular    int     // samples judged
	Extra      int     // samples that answered re-probes
	Unanswered int     // re-probes that the engine asked for and no sample answered
}

// Driver is the daemon's loop in virtual time: schedules, re-probes, answers and ticks around an engine.
type Driver struct {
	opt    Options
	source Source
	engine *engine.Engine
	lanes  []lane
	index  map[string]int // canary → lane
	flying []flight
	minute time.Time // of the next tick
	next   *run      // taken from the source, and not sent yet
	log    logbook
	result Result
}

// run is a regular probe that is due.
type run struct {
	canary int
	at     time.Time
	ok     bool // false: none is left
}

// lane is one canary on its way.
type lane struct {
	asked []time.Time     // re-probes that are due, by time
	spec  string          // of its samples
	past  map[string]bool // specs that it had
}

// flight is a probe that ends at a time; due is set where it answers a re-probe.
type flight struct {
	ends, due time.Time
	sample    probe.Sample
}

// Drive brings what a source answers to a new engine in virtual time, until the source has no more, and returns what was decided.
func Drive(ctx context.Context, source Source, o Options) (Result, error) {
	d := New(source, o)
	if err := d.Start(ctx, alert.Snapshot{}, o.From); err != nil {
		return Result{}, err
	}
	_, err := d.Run(ctx, time.Time{})
	return d.Result(), err
}

// New returns a driver whose engine is yet to start.
func New(source Source, o Options) *Driver {
	d := &Driver{opt: o, source: source, lanes: make([]lane, len(o.Watched)), index: map[string]int{}, log: newLogbook(), minute: o.From.Truncate(time.Minute)}
	for i, w := range o.Watched {
		d.index[w.Canary.Key()] = i
		d.lanes[i].spec, d.lanes[i].past = w.Spec, map[string]bool{w.Spec: true}
	}
	return d
}

// Start starts a new engine from what is stored, at first or once more: what was under way is lost.
func (d *Driver) Start(ctx context.Context, snap alert.Snapshot, at time.Time) error {
	d.flying = nil
	for i := range d.lanes {
		d.lanes[i].asked = nil
	}
	o := d.opt
	d.engine = engine.New(engine.Options{History: o.History, Baseline: o.Baseline, Reprobes: true, Recorded: o.Recorded, Trace: o.Trace})
	judged, err := d.engine.Load(ctx, o.Watched, o.Windows, snap, at)
	if err != nil {
		return fmt.Errorf("start engine: %w", err)
	}
	d.commit(judged, alert.Told{})
	return nil
}

// Engine returns the engine that was started last.
func (d *Driver) Engine() *engine.Engine { return d.engine }

// Tell makes incidents those that are told from now on.
func (d *Driver) Tell(i Incidents) { d.opt.Incidents = i }

// Result returns what the engines have made of it so far.
func (d *Driver) Result() Result {
	d.result.Events = d.log.events
	return d.result
}

// Run lets time pass until an instant, or until all is over where it is zero. It reports whether the source has more.
func (d *Driver) Run(ctx context.Context, until time.Time) (more bool, err error) {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if d.next == nil {
			d.next = &run{}
			d.next.canary, d.next.at, d.next.ok = d.source.Next()
		}
		r := *d.next
		if bounded := !until.IsZero(); bounded && (!r.ok || !r.at.Before(until)) {
			d.pass(until, true)
			d.tick(until.Add(-1))
			return r.ok, nil
		}
		d.pass(r.at, r.ok)
		if !r.ok {
			return false, nil
		}
		d.next = nil
		d.tick(r.at)
		if err := d.send(ctx, r.canary, r.at); err != nil {
			return false, err
		}
	}
}

// pass sends the re-probes that are due and hands over what ends before a time, or all there is, in the order of time.
func (d *Driver) pass(end time.Time, bounded bool) {
	for {
		i := d.nextAnswer()
		k := d.nextAsked()
		switch {
		case k >= 0 && (i < 0 || !d.flying[i].ends.Before(d.lanes[k].asked[0])):
			due := d.lanes[k].asked[0]
			if bounded && !due.Before(end) {
				return
			}
			d.lanes[k].asked = d.lanes[k].asked[1:]
			d.reprobe(k, due)
		case i >= 0:
			if bounded && d.flying[i].ends.After(end) {
				return
			}
			f := d.flying[i]
			d.flying = slices.Delete(d.flying, i, i+1)
			d.tick(f.ends)
			d.observe(f)
		default:
			return
		}
	}
}

// nextAnswer returns the place of the flight that ends first, −1 when there is none.
func (d *Driver) nextAnswer() int {
	first := -1
	for i := range d.flying {
		if first < 0 || d.flying[i].ends.Before(d.flying[first].ends) {
			first = i
		}
	}
	return first
}

// nextAsked returns the canary whose re-probe is due first, −1 when there is none.
func (d *Driver) nextAsked() int {
	first := -1
	for k := range d.lanes {
		if list := d.lanes[k].asked; len(list) > 0 && (first < 0 || list[0].Before(d.lanes[first].asked[0])) {
			first = k
		}
	}
	return first
}

// send begins a regular probe.
func (d *Driver) send(ctx context.Context, i int, at time.Time) error {
	s, ok := d.source.Probe(i, at, probe.Schedule)
	if !ok {
		return nil
	}
	d.result.Regular++
	d.fly(i, s, probe.Schedule, time.Time{})
	return d.respec(ctx, i, s.Spec, at)
}

func (d *Driver) reprobe(i int, due time.Time) {
	s, ok := d.source.Probe(i, due, probe.Reprobe)
	if !ok {
		d.result.Unanswered++
		return
	}
	d.result.Extra++
	d.fly(i, s, probe.Reprobe, due)
}

func (d *Driver) fly(i int, s probe.Sample, why probe.Trigger, due time.Time) {
	c := d.opt.Watched[i].Canary
	s.Target, s.Scene, s.Size, s.Trigger = c.Target.Name, c.Scene.Name, c.Size, why
	ends := s.Time
	for _, span := range []probe.Span{s.TTFT, s.E2E, s.StreamTotal} {
		if span.Known {
			ends = later(ends, s.Time.Add(span.D))
		}
	}
	d.flying = append(d.flying, flight{ends, due, s})
}

// respec is the reload that a daemon had when a canary's spec changed. What comes with an earlier spec again, of another
// instance perhaps, stays left out.
func (d *Driver) respec(ctx context.Context, i int, spec string, at time.Time) error {
	l := &d.lanes[i]
	if spec == "" || l.past[spec] {
		return nil
	}
	l.spec, l.past[spec] = spec, true
	list := slices.Clone(d.opt.Watched)
	for k := range list {
		list[k].Spec = d.lanes[k].spec
	}
	judged, err := d.engine.Reload(ctx, list, d.opt.Windows, at)
	if err != nil {
		return fmt.Errorf("change the spec: %w", err)
	}
	d.take(judged, at)
	return nil
}

func (d *Driver) observe(f flight) {
	if f.due.IsZero() {
		d.take(d.engine.Observe(f.sample), f.ends)
	} else {
		d.take(d.engine.Answer(f.sample, f.due), f.ends)
	}
}

// take takes what the engine made of a call.
func (d *Driver) take(j alert.Judged, now time.Time) {
	d.follow(j, now)
	var told alert.Told
	if d.opt.Incidents != nil && len(j.Transitions) > 0 {
		told = d.opt.Incidents.Update(j.Transitions, now)
	}
	d.commit(j, told)
}

func (d *Driver) commit(j alert.Judged, told alert.Told) {
	if c := (alert.Change{Judged: j, Told: told}); d.opt.Commit != nil && !c.IsEmpty() {
		d.opt.Commit(c)
	}
}

func (d *Driver) follow(j alert.Judged, now time.Time) {
	for i := range j.Transitions {
		d.log.add(&j.Transitions[i])
	}
	for _, r := range j.Reprobes {
		l := &d.lanes[d.index[r.Canary]]
		due := slices.DeleteFunc(l.asked, func(t time.Time) bool { return t.After(now) }) // those that are due are on their way
		l.asked = append(due, r.At...)
		slices.SortFunc(l.asked, time.Time.Compare)
	}
}

// Bounds of the ticks: of a record, an engine with nothing under way needs one before each sample's minute and each hour; after days
// without a sample the time is passed over.
const (
	idleTick = time.Hour
	deadTime = 8 * 24 * time.Hour
)

// tick ticks the minutes up to a time: of a record each while alerts are pending or firing, else the hours and the last minute.
func (d *Driver) tick(end time.Time) {
	if d.minute.After(end) {
		return
	}
	if end.Sub(d.minute) > deadTime {
		d.minute = end.Add(-deadTime).Truncate(time.Minute)
	}
	last := end.Truncate(time.Minute)
	for !d.minute.After(last) {
		j := d.engine.Tick(d.minute)
		d.follow(j, d.minute)
		var told alert.Told
		if d.opt.Incidents != nil {
			told = d.opt.Incidents.Tick(j.Transitions, d.minute)
		}
		d.commit(j, told)
		next := d.minute.Add(time.Minute)
		if d.opt.Recorded && !d.log.busy() && next.Before(last) {
			next = slices.MinFunc([]time.Time{d.minute.Truncate(idleTick).Add(idleTick), last}, time.Time.Compare)
		}
		d.minute = next
	}
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
