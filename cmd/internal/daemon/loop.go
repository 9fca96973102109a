package daemon

import (
	"context"
	"time"

	"serin/alert"
	"serin/configs"
	"serin/probe/schedule"
)

// engineLoop is the one goroutine that talks to the engine. It ends when the inbox is closed and empty.
func (d *Daemon) engineLoop(ctx context.Context) {
	tick := time.NewTicker(engineTicker)
	defer tick.Stop()
	for {
		select {
		case s, open := <-d.inbox:
			if !open {
				return
			}
			d.observe(ctx, s)
		case b := <-d.probeStarts:
			d.carry(ctx, d.engine.Begun(b.canary, b.at))
		case call := <-d.engineOps:
			call(ctx)
		case now := <-tick.C:
			d.tick(ctx, now)
		}
	}
}

// onEngine runs f in the engine's goroutine and waits for it: f runs wholly (true), or ctx or the engine ended before it
// began (false). Who hangs up while f runs does not leave it half known.
func (d *Daemon) onEngine(ctx context.Context, f func(ctx context.Context)) bool {
	done := make(chan struct{})
	select {
	case d.engineOps <- func(ctx context.Context) { defer close(done); f(ctx) }:
		<-done
		return true
	case <-ctx.Done():
		return false
	case <-d.ended:
		return false
	}
}

// housekeeping prunes the store and looks for samples that another process imported.
func (d *Daemon) housekeeping(ctx context.Context) {
	poll, prune := time.NewTicker(importPoll), time.NewTicker(pruneEvery)
	defer poll.Stop()
	defer prune.Stop()
	seen, _ := d.store.ImportRevision(ctx) // on an error the first poll reads everything again, which is harmless
	d.prune(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-prune.C:
			d.prune(ctx)
		case <-poll.C:
			d.store.Look()
			seen = d.readImport(ctx, seen)
		}
	}
}

func (d *Daemon) prune(ctx context.Context) {
	if err := d.store.Prune(ctx, time.Now()); err != nil && ctx.Err() == nil {
		d.log.Warn("prune store", "error", err)
	}
}

func (d *Daemon) readImport(ctx context.Context, seen int64) int64 {
	rev, err := d.store.ImportRevision(ctx)
	if err != nil || rev == seen {
		return seen // a broken store says so by itself
	}
	d.log.Info("samples were imported, reading history again")
	d.onEngine(ctx, func(ctx context.Context) {
		judged, err := d.engine.Imported(ctx, time.Now())
		if err != nil {
			d.log.Error("read imported history", "error", err)
		}
		d.carry(ctx, judged)
	})
	return rev
}

// begun tells the engine that a probe goes out, so that a run without one is missed soon.
func (d *Daemon) begun(key string, at time.Time) {
	select {
	case d.probeStarts <- begin{key, at}:
	default: // the engine is far behind; then it sees the sample itself
	}
}

// begin is the start of one probe.
type begin struct {
	canary string
	at     time.Time
}

// entries returns what the scheduler fires.
func entries(cfg *configs.Config) []schedule.Entry {
	out := make([]schedule.Entry, 0, len(cfg.Runs))
	for _, r := range cfg.Runs {
		out = append(out, r.Entry)
	}
	return out
}

// watched returns what the engine judges.
func (d *Daemon) watched(cfg *configs.Config) []alert.Watched {
	out := make([]alert.Watched, 0, len(cfg.Runs))
	for _, r := range cfg.Runs {
		out = append(out, alert.Watched{Canary: r.Canary, Spec: r.Spec, Rule: r.Rule, Due: r.Due, Config: cfg.Revision})
	}
	return out
}

func channelNames(list []alert.Channel) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name()
	}
	return names
}
