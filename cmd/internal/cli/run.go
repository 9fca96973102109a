package cli

import (
	"context"

	"serin/cmd/internal/daemon"
	"serin/configs"
)

type runCmd struct {
	configFlag
	Socket string `placeholder:"PATH" help:"Unix socket for the local commands (default: serin.sock in $RUNTIME_DIRECTORY, else in the state directory)."`
}

// Help shows an example.
func (runCmd) Help() string {
	return "Example: serin run -c /etc/serin/serin.toml\n\nSIGHUP, serin reload or POST /-/reload read the config again; SIGTERM ends it in order."
}

// Run runs the daemon until a signal ends it.
func (c *runCmd) Run(ctx context.Context, o Options) error {
	load := func() (*configs.Config, []configs.Problem) { return configs.Load(configs.Options{Path: c.Config}) }
	cfg, problems := load()
	if err := configs.AsError(problems); err != nil {
		return fail(ExitUsage, err)
	}
	redact, level := &daemon.Redaction{}, daemon.NewLevel(cfg.Log.Level)
	redact.Add(cfg.Redactor)
	log := daemon.NewLogger(o.Stderr, cfg.Log.Format, level, redact)
	daemon.LogGo(log, redact.Text)
	for _, w := range cfg.Warnings {
		log.Warn("config", "file", w.File, "line", w.Line, "key", w.Key, "problem", w.What, "fix", w.Fix)
	}
	socket, err := socketPath(c.Socket)
	if err != nil {
		return fail(ExitUsage, err)
	}
	return daemon.Run(ctx, daemon.Options{Config: cfg, Load: load, Channels: daemon.Channels, HTTP: true, Socket: socket, Log: log,
		Redact: redact, Level: level, Reload: o.Reload})
}
