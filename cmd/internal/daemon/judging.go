package daemon

import (
	"context"
	"fmt"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/incident"
	"serin/configs"
	"serin/probe"
)

// clockStep is how far the wall clock must step for everything to be loaded again from the store, as a start does.
const clockStep = time.Hour

// observe carries one sample from the prober to people. alert/doc.go explains the path.
func (d *Daemon) observe(ctx context.Context, s probe.Sample) {
	d.carry(ctx, d.engine.Observe(s))
	d.heart.observe(&s, time.Now())
}

// tick does what no sample can trigger: missing data, reminders, the ends of silences.
func (d *Daemon) tick(ctx context.Context, now time.Time) {
	if d.clockJumped(now) {
		d.loadAgain(ctx, now)
	}
	judged := d.engine.Tick(now)
	d.commit(ctx, judged, d.incidents.Tick(judged.Transitions, now))
}

// carry has incidents say what people are to hear of what the engine judged, and commits both.
func (d *Daemon) carry(ctx context.Context, judged alert.Judged) {
	d.commit(ctx, judged, d.incidents.Update(judged.Transitions, time.Now()))
}

// commit asks for re-probes, stores what was judged together with what people are to hear of it, and hands the notices over. The
// store keeps what it cannot write yet and says so itself, so that alerting goes on from memory.
func (d *Daemon) commit(ctx context.Context, judged alert.Judged, told alert.Told) {
	for _, r := range judged.Reprobes {
		d.runner.CancelExtra(r.Canary)
		if len(r.At) > 0 {
			d.runner.Extra(r.Canary, r.At)
		}
	}
	if c := (alert.Change{Judged: judged, Told: told}); !c.IsEmpty() {
		if err := d.store.Commit(ctx, c); err != nil {
			d.log.Debug("change waits in memory", "error", err)
		}
	}
	d.outbox.Add(told.Notices...)
}

// clockJumped reports whether the wall clock stepped by over an hour since the last tick.
func (d *Daemon) clockJumped(now time.Time) bool {
	last := d.ticked
	d.ticked = now
	if last.IsZero() {
		return false
	}
	step := now.Round(0).Sub(last.Round(0)) - now.Sub(last)
	return step.Abs() > clockStep
}

// loadAgain takes engine and incidents anew from the store. Where it cannot be read they go on as they are.
func (d *Daemon) loadAgain(ctx context.Context, now time.Time) {
	d.log.Warn("the clock was set: loading again from the store", "now", now)
	if err := d.store.Flush(ctx); err != nil {
		d.log.Error("the store cannot be written; going on with what is in memory", "error", err)
		return
	}
	snap, err := d.store.Restore(ctx)
	if err == nil {
		err = d.loadJudging(ctx, snap, now)
	}
	if err != nil {
		d.log.Error("load again from the store; going on with what is in memory", "error", err)
	}
}

// loadJudging makes engine and incidents from the config in force and the store's state.
func (d *Daemon) loadJudging(ctx context.Context, snap alert.Snapshot, now time.Time) error {
	cfg := d.config()
	judge := engine.New(engine.Options{History: d.store, Baseline: cfg.Baseline, Reprobes: true, Log: d.log})
	judged, err := judge.Load(ctx, d.watched(cfg), cfg.Maintenance, snap, now)
	if err != nil {
		return fmt.Errorf("load history: %w", err)
	}
	incidents := incident.New(d.incidentOptions(cfg))
	incidents.Configure(d.incidentOptions(cfg), cfg.Maintenance)
	incidents.Load(snap, judge, now)
	d.engine, d.incidents = judge, incidents
	d.commit(ctx, judged, alert.Told{})
	return nil
}

func (d *Daemon) incidentOptions(cfg *configs.Config) incident.Options {
	return incident.Options{IncidentOptions: cfg.Incident, Channels: d.channelNames(), Route: d.channelsFor, Paused: d.pausedUntil,
		Instance: cfg.Instance.Name, Region: cfg.Instance.Region, ExternalURL: cfg.HTTP.ExternalURL, Log: d.log}
}

// pausedUntil returns until when a target is not probed, because its credential is refused or its endpoint asked to wait.
func (d *Daemon) pausedUntil(target string) (until time.Time, paused bool) {
	for _, t := range d.config().Targets {
		if t.Name == target {
			return d.gate.pausedUntil(t, time.Now())
		}
	}
	return time.Time{}, false
}

// takeConfig has engine and incidents go on by another config.
func (d *Daemon) takeConfig(ctx context.Context, cfg *configs.Config) error {
	d.incidents.Configure(d.incidentOptions(cfg), cfg.Maintenance)
	judged, err := d.engine.Reload(ctx, d.watched(cfg), cfg.Maintenance, time.Now())
	d.carry(ctx, judged)
	return err
}
