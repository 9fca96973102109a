package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"serin/baseline/store"
	"serin/cmd/internal/daemon"
	"serin/configs"
)

// storePath returns the store that a command works on: the flag's, else the config's, else the default place.
func storePath(flag, config string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if config == "" {
		path, err := configs.DefaultDSN()
		return findStore(path, unitStore), err
	}
	cfg, problems := configs.Load(configs.Options{Path: config, NoSecrets: true})
	if err := configs.AsError(problems); err != nil {
		return "", fail(ExitUsage, err)
	}
	return findStore(cfg.Store.DSN, unitStore), nil
}

// unitStore is where the unit of this project has the store: taken when the usual place of this user has none, so that a
// root shell works on that of the service.
const unitStore = "/var/lib/serin/serin.db"

// findStore returns path, or unit where path is the default place, holds no store, and unit is there.
func findStore(path, unit string) string {
	if usual, err := configs.DefaultDSN(); err != nil || path != usual || os.Getenv("STATE_DIRECTORY") != "" {
		return path
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if _, err := os.Stat(unit); err != nil {
		return path
	}
	return unit
}

// openStore opens a store for a command that may run beside the daemon. Reading one that is not there is an error: an
// empty answer from a mistyped path would be a lie.
func openStore(ctx context.Context, path string, stderr io.Writer, readOnly bool) (*store.Store, error) {
	return openZoned(ctx, path, stderr, readOnly, nil)
}

// openZoned opens a store whose daily sums follow the zones of cfg's scenes; UTC where cfg is nil or has no such scene.
func openZoned(ctx context.Context, path string, stderr io.Writer, readOnly bool, cfg *configs.Config) (*store.Store, error) {
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o := store.Options{Log: log, ReadOnly: readOnly, Version: daemon.Version}
	if cfg != nil {
		o.Zone = cfg.SceneZone
	}
	return store.Open(ctx, path, o)
}

// parseSince reads "24h", "7d" or an RFC 3339 time.
func parseSince(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	d, err := configs.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, fmt.Errorf("%q is neither a duration (24h, 7d) nor an RFC 3339 time", text)
	}
	return now.Add(-d), nil
}
