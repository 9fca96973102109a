package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/incident"
	"serin/alert/outbox"
	"serin/baseline/store"
	"serin/cmd/internal/telemetry"
	"serin/configs"
	"serin/probe"
	"serin/probe/schedule"
)

// Bounds of the daemon.
const (
	inboxSize    = 10_000           // samples between probers and engine
	drainWait    = 8 * time.Second  // in-flight probes may finish for so long after a stop
	sendWait     = 2 * time.Second  // then the outbox may finish the call under way
	importPoll   = 5 * time.Second  // how soon an import by another process is seen
	pruneEvery   = time.Hour        // retention
	aliveWithin  = 60 * time.Second // the scheduler must have turned
	engineTicker = time.Second
)

// StartError is a mistake of who starts the daemon: a store, a channel or an address that cannot be used.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Options are what a daemon is made of; run, demo and tests differ here only.
type Options struct {
	Config   *configs.Config
	Load     func() (*configs.Config, []configs.Problem) // reads the config again; nil = this daemon has no reload
	Channels func(*configs.Config) ([]alert.Channel, error)
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the network
	HTTP     bool
	Socket   string // unix socket; "" = none
	Log      *slog.Logger
	Redact   *Redaction
	Level    *slog.LevelVar
	OnSample func(probe.Sample)
	OnStart  func(d *Daemon, addr net.Addr) // once everything runs; addr is nil without HTTP
	Reload   <-chan os.Signal               // each asks for a reload; nil = none comes
	Exit     func(code int)                 // ends the process after a panic; nil = os.Exit
}

// Daemon is one running serin.
type Daemon struct {
	opt         Options
	log         *slog.Logger
	cfg         atomic.Pointer[configs.Config]
	runs        atomic.Pointer[map[string]configs.Run]
	store       *store.Store
	prober      *probe.Prober
	runner      *schedule.Runner
	engine      *engine.Engine
	incidents   *incident.Incidents
	ticked      time.Time // when the engine last ticked
	outbox      *outbox.Outbox
	tel         *telemetry.Registry
	gate        *gate
	budget      *budget
	news        budgetNews
	last        telemetry.LastSeen
	running     underWay
	inbox       chan probe.Sample
	engineOps   chan func(ctx context.Context) // run between samples, in the engine's goroutine
	probeStarts chan begin
	ready       atomic.Bool
	ended       chan struct{} // closed when the engine's goroutine has ended
	reloads     chan struct{} // holds one thing while a config is being taken
	started     time.Time
	channels    atomic.Pointer[channelSet] // in force
	abandon     context.CancelCauseFunc    // cuts the probes that are under way

	storeAlert  *selfAlert
	reloadAlert *selfAlert
	network     *ownNetwork
	watch       *selfWatch
	self        *selfCheck
	resources   *ownResources
	heart       *heartbeat
	digest      *digest
	charts      *charts
	paths       telemetry.Paths
	reloadOK    atomic.Bool
	reloadedAt  atomic.Int64 // Unix seconds
}

// config returns the config in force.
func (d *Daemon) config() *configs.Config { return d.cfg.Load() }

// run returns the run of a canary.
func (d *Daemon) run(key string) (configs.Run, bool) {
	r, ok := (*d.runs.Load())[key]
	return r, ok
}

// Judged says how every canary stands, and what fires.
func (d *Daemon) Judged() (at time.Time, canaries []alert.CanaryStatus, firing []alert.Alert) {
	return d.engine.Status()
}

// use puts cfg in force for what is looked up.
func (d *Daemon) use(cfg *configs.Config) {
	byKey := make(map[string]configs.Run, len(cfg.Runs))
	for _, r := range cfg.Runs {
		byKey[r.Canary.Key()] = r
	}
	d.runs.Store(&byKey)
	d.cfg.Store(cfg)
	d.reloadOK.Store(true)
	d.reloadedAt.Store(time.Now().Unix())
}

// Run runs until ctx ends or a part of it fails. It returns nil after an orderly stop.
func Run(ctx context.Context, o Options) error {
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	d := &Daemon{opt: o, log: o.Log, gate: newGate(), budget: newBudget(o.Config.Budget), inbox: make(chan probe.Sample, inboxSize),
		probeStarts: make(chan begin, inboxSize), engineOps: make(chan func(context.Context)), started: time.Now()}
	d.use(o.Config)
	d.storeAlert, d.reloadAlert = d.newSelfAlert("store"), d.newSelfAlert("reload")
	d.network = newOwnNetwork(d.log, d.newSelfAlert("network"), o.Dial)
	d.watch = newSelfWatch(d)
	d.tel = telemetry.New(o.Config.Metrics)
	d.self = &selfCheck{log: d.log, tel: d.tel, alert: d.newSelfAlert("clock")}
	d.resources = &ownResources{alert: d.newSelfAlert("resources")}
	d.heart = newHeartbeat(d)
	d.heart.watch(o.Config.Runs, d.started)
	release, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err = d.build(ctx); err == nil {
		err = d.serve(ctx)
	}
	if d.prober != nil {
		d.prober.Close()
	}
	return errors.Join(err, d.store.Close())
}

// open takes the lock and opens the store.
func (d *Daemon) open(ctx context.Context) (release func(), err error) {
	conf := d.config().Store
	release, err = store.Lock(conf.DSN, d.config().Instance.Name)
	if err != nil {
		return nil, &StartError{err}
	}
	d.store, err = store.Open(ctx, conf.DSN, store.Options{Log: d.log, Daemon: true, Retention: conf.Retention, Version: Version, OnHealth: d.storeHealth, Zone: func(scene string) *time.Location { return d.config().SceneZone(scene) }})
	if err != nil {
		release()
		return nil, &StartError{err}
	}
	return release, nil
}

// build makes the parts from the store's state and the config.
func (d *Daemon) build(ctx context.Context) error {
	cfg := d.config()
	channels, err := d.opt.Channels(cfg)
	if err != nil {
		return &StartError{err}
	}
	d.charts = newCharts(d)
	d.ended, d.reloads = make(chan struct{}), make(chan struct{}, 1)
	d.prober = probe.New(probe.Options{Version: Version, Instance: cfg.Instance.Name, Region: cfg.Instance.Region, Redactor: cfg.Redactor, Log: d.log, Dial: d.opt.Dial})
	probing, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	d.abandon = abandon
	d.runner = schedule.New(schedule.Options{Fire: d.fire, Skipped: d.notFired, BaseContext: probing})
	d.channels.Store(newChannelSet(cfg, channels))
	d.outbox = outbox.New(outbox.Options{Journal: d.store, Channels: channels, Log: d.log, Redact: d.opt.Redact.Text, Sent: d.charts.sent,
		Count: func(channel, result string) {
			d.tel.Count(1, "serin_notices_total", "channel", channel, "result", result)
		}})
	snap, err := d.store.Restore(ctx)
	if err != nil {
		return fmt.Errorf("read state from the store: %w", err)
	}
	if err := recallLearned(d.prober, snap.Blobs); err != nil {
		return err
	}
	if err := d.loadFingerprints(snap.Blobs); err != nil {
		return err
	}
	if err := d.news.restore(snap.Blobs); err != nil {
		return err
	}
	if d.digest, err = restoreDigest(d, snap.Blobs); err != nil {
		return err
	}
	if len(cfg.Budget.Limits) > 0 {
		if err := d.readBudget(ctx); err != nil {
			return err
		}
	}
	own, err := d.closeSelfAlerts(ctx)
	if err != nil {
		return err
	}
	d.outbox.Restore(append(snap.Notices, own...))
	if err := d.loadJudging(ctx, snap, time.Now()); err != nil {
		return err
	}
	d.runner.Set(entries(cfg))
	gauges{d}.wireGauges()
	return nil
}

// serve runs the parts and takes them down in order: no new runs, in-flight probes, engine, outbox.
func (d *Daemon) serve(ctx context.Context) error {
	stopped, cancelParts := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelParts()
	sys := systemd{d.log}
	servers, err := d.startHTTP(stopped)
	if err != nil {
		return err
	}
	defer d.abandon(nil)
	scheduling, stopSchedule := context.WithCancel(stopped)
	defer stopSchedule()
	var parts, probes sync.WaitGroup
	probes.Go(d.guarded(func() { d.note("scheduler", d.runner.Run(scheduling)) }))
	go d.guarded(func() { defer close(d.ended); d.engineLoop(stopped) })()
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	parts.Go(d.guarded(func() { d.outbox.Run(sending) }))
	parts.Go(d.guarded(func() { d.housekeeping(stopped) }))
	parts.Go(d.guarded(func() { d.tellLearning(stopped) }))
	parts.Go(d.guarded(func() { d.watch.run(stopped) }))
	parts.Go(d.guarded(func() { d.tel.Push(stopped, d.log) }))
	parts.Go(d.guarded(func() { d.heart.run(stopped) }))
	parts.Go(d.guarded(func() { d.digest.run(stopped) }))
	parts.Go(d.guarded(func() { d.charts.run(stopped) }))
	parts.Go(d.guarded(func() { d.refreshStates(stopped) }))
	parts.Go(d.guarded(func() { sys.watchdog(stopped, api{d}.alive) }))
	parts.Go(d.guarded(func() { reloader{d}.watchReload(stopped, sys) }))
	d.ready.Store(true)
	if ok, why := d.store.Healthy(); !ok {
		d.storeHealth(ok, why)
	}
	sys.ready()
	if d.opt.OnStart != nil {
		d.opt.OnStart(d, servers.addr())
	}
	d.log.Info("running", "canaries", len(d.config().Runs), "store", d.config().Store.DSN, "version", Version)

	err = servers.wait(ctx)
	d.ready.Store(false)
	sys.stopping()
	d.log.Info("stopping")
	stopSchedule()
	waitOr(&probes, drainWait, func() { d.abandon(errStopping) })
	close(d.inbox)
	<-d.ended
	d.saveFingerprints()
	cut := time.AfterFunc(sendWait, stopSending)
	d.outbox.Stop()
	cut.Stop()
	cancelParts()
	stopSending()
	parts.Wait()
	return errors.Join(err, servers.stop())
}

// errStopping is the cause with which probes are abandoned.
var errStopping = errors.New("serin is stopping")

// channelNames returns the names of the channels in force.
func (d *Daemon) channelNames() []string { return d.channels.Load().names }

// note logs the end of a part that should not have ended.
func (d *Daemon) note(part string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		d.log.Error("part ended", "part", part, "error", err)
	}
}

// waitOr waits for wg; after limit it calls late and goes on waiting.
func waitOr(wg *sync.WaitGroup, limit time.Duration, late func()) {
	t := time.AfterFunc(limit, late)
	wg.Wait()
	t.Stop()
}
