package sim

import (
	"context"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/probe"
)

// Episode is one alert of a series, from when it fired to when it resolved; End is zero when it never did.
type Episode struct {
	Series     string
	Kind       alert.Kind
	Severity   alert.Severity
	Start, End time.Time
	Slower     bool      // no alert of its own: one that had fired for days was slower still
	Paged      time.Time // when it was of level warning or worse first; zero = never
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

// feed answers the probes of a simulated target until its time is over, each canary on whole multiples of an interval.
type feed struct {
	world   prober
	watched []alert.Watched
	at, end time.Time
	every   time.Duration
	next    int // canary
}

var _ replay.Source = (*feed)(nil)

func (f *feed) Next() (int, time.Time, bool) {
	if f.next == len(f.watched) {
		f.next, f.at = 0, f.at.Add(f.every)
	}
	f.next++
	return f.next - 1, f.at, f.at.Before(f.end)
}

func (f *feed) Probe(k int, due time.Time, _ probe.Trigger) (probe.Sample, bool) {
	s, ok := f.world.probe(k, due)
	s.Time = due
	return s, ok
}

// run brings minutes of a world to a new engine, which knows nothing yet.
func run(ctx context.Context, world prober, watched []alert.Watched, minutes int) (Outcome, error) {
	f := &feed{world: world, watched: watched, at: Start(), end: minuteTime(minutes), every: watched[0].Canary.Interval}
	r, err := replay.Drive(ctx, f, replay.Options{Watched: watched, Baseline: baseline.DefaultOptions(), From: Start()})
	return Outcome{Episodes: episodes(r.Events), Regular: r.Regular, Extra: r.Extra}, err
}

// episodes makes one of each alert.
func episodes(events []replay.Event) []Episode {
	var list []Episode
	at := map[string]int{}
	for _, e := range events {
		i, known := at[e.ID]
		switch {
		case e.Event == string(alert.EventSlower):
			list = append(list, Episode{Series: e.Series, Kind: e.Kind, Severity: e.Severity, Start: e.Time, End: e.Time, Slower: true})
			continue
		case e.Event == replay.EventOpen:
			at[e.ID] = len(list)
			list = append(list, Episode{Series: e.Series, Kind: e.Kind, Start: e.Time})
			i = len(list) - 1
		case !known:
			continue
		case e.Event == replay.EventResolve:
			list[i].End = e.Time
		}
		if list[i].Severity = e.Severity; e.Severity != alert.Info && list[i].Paged.IsZero() {
			list[i].Paged = e.Time
		}
	}
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
