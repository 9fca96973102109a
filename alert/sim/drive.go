package sim

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// Episode is one alert of a series, from when it fired to when it resolved; End is zero when it never did.
type Episode struct {
	Series     string
	Kind       alert.Kind
	Severity   alert.Severity
	Start, End time.Time
}

// Outcome is what one rule made of one world.
type Outcome struct {
	Episodes []Episode // by start
	Regular  int       // probes
	Extra    int       // re-probes
}

// prober answers probes: a sample of canary k that is sent at a time, its identity left out; false = the prober is out.
type prober interface {
	probe(k int, sent time.Time) (probe.Sample, bool)
}

// targetName is the simulated target's.
const targetName = "sim"

// watchedTarget is three canaries, one a size, that are probed on whole multiples of an interval.
func watchedTarget(rule alert.Rule, m probe.Metric, every time.Duration) []alert.Watched {
	return watchedScenes(rule, []probe.Metric{m}, every, "chat")
}

// watchedScenes is a target with scenes of three canaries each.
func watchedScenes(rule alert.Rule, metrics []probe.Metric, every time.Duration, scenes ...string) []alert.Watched {
	target := probe.DefaultTarget()
	target.Name = targetName
	due := func(after time.Time) time.Time { return after.Truncate(every).Add(every) }
	var list []alert.Watched
	for _, name := range scenes {
		scene := &probe.Scene{Name: name, Zone: time.UTC, Metrics: metrics}
		for _, size := range probe.Sizes() {
			c := &probe.Canary{Target: &target, Scene: scene, Size: size, Interval: every}
			list = append(list, alert.Watched{Canary: c, Rule: rule, Due: due})
		}
	}
	return list
}

// drive is the daemon's loop in virtual time: schedules, re-probes, ticks and answers around the engine.
type drive struct {
	engine  *alert.Engine
	watched []alert.Watched
	world   prober
	every   time.Duration
	asked   map[string][]time.Time // re-probes, by time
	flying  []answer
	book    book
	regular int
	extra   int
}

// answer is a probe that ends at a time.
type answer struct {
	ends   time.Time
	sample probe.Sample
}

var (
	_ alert.Reprober = (*drive)(nil)
	_ alert.Journal  = (*book)(nil)
	_ alert.History  = (*book)(nil)
)

// run brings minutes of a world to a new engine, which knows nothing yet.
func run(ctx context.Context, world prober, watched []alert.Watched, minutes int) (Outcome, error) {
	d := &drive{watched: watched, world: world, every: watched[0].Canary.Interval, asked: map[string][]time.Time{}}
	d.engine = alert.NewEngine(alert.EngineOptions{Journal: &d.book, History: &d.book, Reprober: d,
		Incident: alert.DefaultIncident(), Baseline: baseline.DefaultOptions(), Forgetful: true})
	if err := d.engine.Load(ctx, watched, alert.Snapshot{}, Start()); err != nil {
		return Outcome{}, fmt.Errorf("start engine: %w", err)
	}
	for m := range minutes {
		if m%dayMinutes == 0 && ctx.Err() != nil {
			return Outcome{}, ctx.Err()
		}
		if err := d.minute(ctx, Start().Add(time.Duration(m)*time.Minute)); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{Episodes: d.book.episodes(), Regular: d.regular, Extra: d.extra}, nil
}

// minute lets one minute pass: the tick and the regular runs at its beginning, then what comes between.
func (d *drive) minute(ctx context.Context, at time.Time) error {
	if err := d.engine.Tick(ctx, at); err != nil {
		return fmt.Errorf("tick at %s: %w", at, err)
	}
	if at.Sub(Start())%d.every == 0 {
		for k := range d.watched {
			if d.send(k, at, probe.Schedule) {
				d.regular++
			}
		}
	}
	return d.until(ctx, at.Add(time.Minute))
}

// until sends what was asked for and hands over what ends before a time, in the order of time.
func (d *drive) until(ctx context.Context, end time.Time) error {
	for {
		i, ends := d.nextAnswer(end)
		k, due := d.nextAsked(ends)
		switch {
		case k >= 0:
			key := d.watched[k].Canary.Key()
			d.asked[key] = d.asked[key][1:]
			if d.send(k, due, probe.Reprobe) {
				d.extra++
			}
		case i >= 0:
			s := d.flying[i].sample
			d.flying = slices.Delete(d.flying, i, i+1)
			if err := d.engine.Observe(ctx, s); err != nil {
				return fmt.Errorf("observe %s at %s: %w", s.Key(), s.Time, err)
			}
		default:
			return nil
		}
	}
}

// nextAnswer returns the place of the first answer that ends before a time, and when; −1 and the time when there is none.
func (d *drive) nextAnswer(before time.Time) (int, time.Time) {
	first := -1
	for i := range d.flying {
		if d.flying[i].ends.Before(before) {
			first, before = i, d.flying[i].ends
		}
	}
	return first, before
}

// nextAsked returns the canary of the first re-probe that is due before a time, and when; −1 when there is none.
func (d *drive) nextAsked(before time.Time) (int, time.Time) {
	first := -1
	for k := range d.watched {
		if list := d.asked[d.watched[k].Canary.Key()]; len(list) > 0 && list[0].Before(before) {
			first, before = k, list[0]
		}
	}
	return first, before
}

// send begins a probe; it reports whether the prober was there to send it.
func (d *drive) send(k int, at time.Time, why probe.Trigger) bool {
	s, ok := d.world.probe(k, at)
	if !ok {
		return false
	}
	c := d.watched[k].Canary
	s.Time, s.Target, s.Scene, s.Size, s.Trigger = at, c.Target.Name, c.Scene.Name, c.Size, why
	ends := at
	for _, span := range []probe.Span{s.TTFT, s.StreamTotal} {
		ends = ends.Add(max(0, span.D-ends.Sub(at)))
	}
	d.flying = append(d.flying, answer{ends, s})
	return true
}

// Reprobe takes the engine's wishes.
func (d *drive) Reprobe(canary string, at []time.Time) {
	list := append(d.asked[canary], at...)
	slices.SortFunc(list, time.Time.Compare)
	d.asked[canary] = list
}

// CancelReprobes drops what was asked for and not sent yet.
func (d *drive) CancelReprobes(canary string) { delete(d.asked, canary) }

// book is the journal: it keeps the newest version of every alert. Its history is empty, as that of a first start.
type book struct {
	alerts []alert.Alert // in the order they fired
	at     map[string]int
}

// Commit keeps the change's alerts.
func (b *book) Commit(_ context.Context, c alert.Change) error {
	for _, a := range c.Alerts {
		if b.at == nil {
			b.at = map[string]int{}
		}
		i, ok := b.at[a.ID]
		if !ok {
			i = len(b.alerts)
			b.at[a.ID] = i
			b.alerts = append(b.alerts, alert.Alert{})
		}
		b.alerts[i] = a
	}
	return nil
}

// History has nothing.
func (b *book) History(context.Context, string, time.Time) iter.Seq2[alert.Record, error] {
	return func(func(alert.Record, error) bool) {}
}

func (b *book) episodes() []Episode {
	list := make([]Episode, len(b.alerts))
	for i, a := range b.alerts {
		list[i] = Episode{Series: a.Series, Kind: a.Kind, Severity: a.Severity, Start: a.Fired, End: a.Resolved}
	}
	slices.SortStableFunc(list, func(x, y Episode) int { return x.Start.Compare(y.Start) })
	return list
}

// probe answers with one metric of a world; a missing value is one that the client itself may have spoiled.
func (w *World) probe(k int, sent time.Time) (probe.Sample, bool) {
	if minute := int(sent.Sub(Start()) / time.Minute); minute >= w.Minutes || w.Out(minute) {
		return probe.Sample{}, false
	}
	s := probe.Sample{Outcome: probe.OK, Family: probe.FamilyOK, Side: probe.SideServer}
	v, ok := w.Probe(k, sent)
	switch {
	case !ok:
		s.Flags = []probe.Flag{probe.ClientSuspect}
	case w.Metric == probe.TPOT:
		s.TPOT = probe.Known(v)
	default:
		s.TTFT = probe.Known(v)
	}
	return s, true
}

// Run brings a world to the engine under a rule, each canary probed on whole multiples of every (whole minutes).
func Run(ctx context.Context, w *World, rule alert.Rule, every time.Duration) (Outcome, error) {
	return run(ctx, w, watchedTarget(rule, w.Metric, every), w.Minutes)
}
