package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"serin/configs"
)

// reloader takes another config.
type reloader struct{ *Daemon }

// watchReload takes the config again on each signal.
func (d reloader) watchReload(ctx context.Context, sys systemd) {
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
func (d reloader) reload(ctx context.Context) error {
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
	if err := configs.AsError(problems); err != nil {
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
	applied := d.onEngine(ctx, func(ctx context.Context) {
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
	d.reloadAlert.end("serin has taken its config")
	d.log.Info("config taken", "canaries", len(cfg.Runs), "revision", cfg.Revision)
	return err
}

// reloadFailed tells people that a config was not taken, a line for each reason, and returns the error for who asked.
func (d reloader) reloadFailed(err error, why ...string) error {
	d.reloadOK.Store(false)
	for i, line := range why {
		why[i] = d.opt.Redact.Text(line)
	}
	d.reloadAlert.begin("serin could not take its new config: the old one stays in force",
		append(why, "mend that, then: serin reload")...)
	return fmt.Errorf("the old config stays in force: %w", err)
}

// warnRestart says which changed keys a reload cannot take.
func (d reloader) warnRestart(cfg *configs.Config) {
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
func (d reloader) forgetGone(cfg *configs.Config) {
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

// maxMistakes is how many mistakes of a config a message shows.
const maxMistakes = 5

// mistakes are the errors of a config for a message, one each; warnings kept nothing from being taken.
func mistakes(problems []configs.Problem) []string {
	var lines []string
	for _, p := range problems {
		if p.Severity == configs.Error {
			lines = append(lines, p.String())
		}
	}
	if more := len(lines) - maxMistakes; more > 0 {
		lines = append(lines[:maxMistakes], fmt.Sprintf("and %d more: serin validate shows every one", more))
	}
	return lines
}
