package daemon

import (
	"context"
	"errors"
	"time"

	"serin/alert"
	"serin/cmd/internal/telemetry"
	"serin/configs"
	"serin/probe"
	"serin/probe/schedule"
)

// fire runs one tick of the scheduler: it sends the canary's probe, unless the gate or the budget says no,
// and hands the sample on.
func (d *Daemon) fire(ctx context.Context, t schedule.Tick) {
	run, ok := d.run(t.Key)
	if !ok { // a reload removed it between the tick and now
		return
	}
	if name, resting := alert.Covers(d.config().Maintenance, run.Canary, time.Now(), true); resting {
		d.log.Debug("run rests", "canary", t.Key, "maintenance", name)
		if !t.Extra {
			d.skipped(run, t, probe.ReasonMaintenance)
		}
		return
	}
	asked := time.Now()
	if reason, ok := d.gate.allow(run.Canary.Target, asked); !ok {
		if !t.Extra {
			d.skipped(run, t, reason)
		}
		return
	}
	held, used, ok := d.budget.take(run.Canary, time.Now())
	d.noteBudget(run.Canary.Target.Name, used)
	if !ok {
		d.gate.unsent(run.Canary.Target, asked)
		if !t.Extra {
			d.skipped(run, t, probe.ReasonBudget)
		}
		return
	}
	trigger := probe.Schedule
	if t.Extra {
		trigger = probe.Reprobe
	}
	s := d.shoot(ctx, run, t.Sched, trigger, 1)
	d.budget.settle(held, run.Canary, &s, time.Now())
	if s.Reason == probe.ReasonLearningParameter {
		d.log.Info("target refuses a parameter, it is not sent again", "target", run.Canary.Target.Name, "learned", d.prober.Learned()[run.Canary.Target.Name])
		d.keepLearned(ctx)
		held = d.budget.force(run.Canary, time.Now())
		s = d.shoot(ctx, run, time.Now(), trigger, 2)
		d.budget.settle(held, run.Canary, &s, time.Now())
	}
}

// shoot sends one probe and hands its sample to the engine, which it also returns.
func (d *Daemon) shoot(ctx context.Context, run configs.Run, sched time.Time, trigger probe.Trigger, attempt int) probe.Sample {
	if trigger == probe.Schedule {
		d.begun(run.Canary.Key(), time.Now())
	}
	progress, end := d.running.begin(run.Canary.Key(), time.Now())
	defer end()
	s, err := d.probe(ctx, probe.Shot{Canary: run.Canary, Spec: run.Spec, Sched: sched, Trigger: trigger, Attempt: attempt,
		FreshConn: trigger == probe.Reprobe, Progress: progress})
	if err != nil {
		d.log.Error("probe could not be made", "canary", run.Canary.Key(), "error", err)
		s = d.unsent(run, sched, probe.Client, d.opt.Redact.Text(err.Error()))
		s.Trigger, s.Attempt = trigger, attempt
	}
	d.network.judge(ctx, run.Canary.Target, &s, d.config(), time.Now())
	d.gate.observe(run.Canary.Target, &s, time.Now())
	d.deliver(s)
	return s
}

// probe sends one probe. A panic in it fails that probe alone.
func (d *Daemon) probe(ctx context.Context, shot probe.Shot) (s probe.Sample, err error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("a fault of serin's own in a probe", "error", panicked(v))
			err = errors.New("a fault of serin's own; its log says where")
		}
	}()
	return d.prober.Do(ctx, shot)
}

// skipped stores and counts a due run that was not sent.
func (d *Daemon) skipped(run configs.Run, t schedule.Tick, reason string) {
	d.deliver(d.unsent(run, t.Sched, probe.Skipped, reason))
}

// unsent returns the sample of a run that never left this process.
func (d *Daemon) unsent(run configs.Run, sched time.Time, o probe.Outcome, reason string) probe.Sample {
	c := run.Canary
	return probe.Sample{Time: sched.Round(0), Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Spec: run.Spec, Trigger: probe.Schedule,
		Attempt: 1, Instance: d.config().Instance.Name, Region: d.config().Instance.Region, Outcome: o, Family: o.Family(), Side: o.Side(reason), Reason: reason}
}

// notFired is the scheduler's word on runs without room or missed while the machine slept.
func (d *Daemon) notFired(t schedule.Tick, why schedule.Skip, n int) {
	run, ok := d.run(t.Key)
	if !ok || t.Extra {
		return
	}
	c := run.Canary
	if why == schedule.SkipMissed { // counted, never replayed: there is no sample of a time that nobody saw
		now := time.Now()
		d.heart.ended(t.Key, now, now)
		d.tel.Count(n, "serin_probes_skipped_total", append(telemetry.CanaryLabels(c.Target.Name, c.Scene.Name, string(c.Size)), "reason", string(why))...)
		d.log.Warn("runs missed", "canary", t.Key, "runs", n, "since", t.Due)
		return
	}
	if why == schedule.SkipOverlap && !d.running.hangs(t.Key, c.Target.FirstToken(c.Size), time.Now()) {
		why = schedule.SkipNoRoom // the earlier run is slow, it does not hang: no timeout
	}
	d.log.Warn("run skipped", "canary", t.Key, "reason", string(why))
	d.skipped(run, t, string(why))
}

// deliver counts a sample and puts it into the engine's inbox. The inbox is bounded: when the engine is that far
// behind, the sample is lost to the bands and said so, but probing goes on.
func (d *Daemon) deliver(s probe.Sample) {
	d.self.observe(&s, time.Now())
	d.resources.observe(&s, time.Now())
	if _, ok := d.run(s.Key()); ok { // else a reload cut it and has forgotten its canary
		d.tel.Sample(&s)
		d.last.Put(&s)
		d.paths.Put(&s)
		d.noteChanges(&s)
	}
	if d.opt.OnSample != nil {
		d.opt.OnSample(s)
	}
	select {
	case d.inbox <- s:
	default:
		d.log.Error("engine is behind, sample dropped", "canary", s.Key())
	}
}
