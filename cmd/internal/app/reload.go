package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"serin/configs"
)

// watchReload takes the config again on each signal.
func (d *daemon) watchReload(ctx context.Context, sys systemd) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.opt.Reload:
			sys.reloading()
			_ = d.reload(ctx) // reload said in the log what was wrong
			sys.ready()
		}
	}
}

// reload reads the config whole, checks it, and puts it in force; on any mistake the old one stays and the error says
// every mistake. One reload follows another, so that the newest reading of the file wins.
func (d *daemon) reload(ctx context.Context) error {
	if d.opt.Load == nil {
		return errors.New("this daemon runs without a config file, there is nothing to read again")
	}
	select {
	case d.reloads <- struct{}{}:
		defer func() { <-d.reloads }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	cfg, problems := d.opt.Load()
	if err := configError(problems); err != nil {
		for _, p := range problems {
			d.log.Error("config not taken", "file", p.File, "line", p.Line, "key", p.Key, "problem", p.What, "fix", p.Fix)
		}
		return d.reloadFailed(err, mistakes(problems)...)
	}
	d.opt.Config.Redactor.Absorb(cfg.Redactor) // the first config's redactor is the one that log, prober and channels hold
	channels, err := d.opt.Channels(cfg)
	if err != nil {
		d.log.Error("config not taken", "error", err)
		return d.reloadFailed(err, err.Error())
	}
	d.warnRestart(cfg)
	applied := d.inEngine(ctx, func(ctx context.Context) {
		d.use(cfg)
		d.useBudget(ctx, cfg.Budget)
		d.runner.Set(entries(cfg))
		d.heart.watch(cfg.Runs, time.Now())
		d.outbox.Use(channels)
		d.channels.Store(newChannelSet(cfg, channels))
		if err = d.takeConfig(ctx, cfg); err != nil {
			d.log.Error("engine takes the config", "error", err)
		}
	})
	if !applied {
		return errStopping
	}
	d.opt.Level.Set(parseLevel(cfg.Log.Level))
	d.gate.reset()
	d.forgetGone(cfg)
	d.reloadSick.end("serin has taken its config")
	d.log.Info("config taken", "canaries", len(cfg.Runs), "revision", cfg.Revision)
	return err
}

// reloadFailed tells people that a config was not taken, a line for each reason, and returns the error for who asked.
func (d *daemon) reloadFailed(err error, why ...string) error {
	d.reloadOK.Store(false)
	for i, line := range why {
		why[i] = d.opt.Redact.Text(line)
	}
	d.reloadSick.begin("serin could not take its new config: the old one stays in force",
		append(why, "mend that, then: serin reload")...)
	return fmt.Errorf("the old config stays in force: %w", err)
}

// warnRestart says which changed keys a reload cannot take.
func (d *daemon) warnRestart(cfg *configs.Config) {
	old := d.config()
	for key, changed := range map[string]bool{
		"[store] dsn":      old.Store.DSN != cfg.Store.DSN,
		"[http] listen":    old.HTTP.Listen != cfg.HTTP.Listen || old.HTTP.MetricsListen != cfg.HTTP.MetricsListen,
		"[http]":           old.HTTP.ExternalURL != cfg.HTTP.ExternalURL || old.HTTP.AllowPublic != cfg.HTTP.AllowPublic || old.HTTP.Token.Label() != cfg.HTTP.Token.Label() || tokensText(old) != tokensText(cfg),
		"[instance]":       old.Instance != cfg.Instance,
		"[baseline]":       old.Baseline != cfg.Baseline,
		"[log] format":     old.Log.Format != cfg.Log.Format,
		"[metrics] labels": fmt.Sprint(old.Metrics) != fmt.Sprint(cfg.Metrics),
	} {
		if changed {
			d.log.Warn("a reload does not take this change, restart serin", "key", key)
		}
	}
}

// tokensText names the tokens of a config, without their secrets.
func tokensText(cfg *configs.Config) (text string) {
	for _, t := range cfg.HTTP.Tokens {
		text += fmt.Sprintf("%s %s %v\n", t.Name, t.Secret.Label(), t.Role)
	}
	return text
}

// forgetGone takes what left the config off /metrics, and out of what is remembered.
func (d *daemon) forgetGone(cfg *configs.Config) {
	canaries, targets := map[string]bool{}, map[string]bool{}
	for _, r := range cfg.Runs {
		canaries[r.Canary.Key()] = true
		targets[r.Canary.Target.Name] = true
	}
	d.tel.Forget(canaries, targets)
	d.last.Keep(canaries)
	d.paths.Keep(targets)
	d.prober.Forget(func(key string) bool { return canaries[key] }, func(name string) bool { return targets[name] })
}

type reloadCmd struct {
	Socket string `placeholder:"PATH" help:"Socket of the daemon (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

// Help shows an example.
func (reloadCmd) Help() string {
	return "Example: serin reload\n\nThe daemon checks the new config whole; on a mistake it keeps the old one and this command prints what is wrong."
}

// Run asks the daemon to read its config again.
func (c *reloadCmd) Run(ctx context.Context, o Options) error {
	body, status, err := socketPost(ctx, c.Socket, "/-/reload")
	if err != nil {
		return fail(ExitUsage, err)
	}
	if status >= 300 {
		return fail(ExitUsage, errors.New(strings.TrimSpace(body)))
	}
	_, err = fmt.Fprintln(o.Stdout, strings.TrimSpace(body))
	return err
}
