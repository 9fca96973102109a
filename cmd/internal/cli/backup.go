package cli

import (
	"context"
	"fmt"
	"time"

	"serin/baseline/store"
)

type backupCmd struct {
	configFlag
	Store string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	File  string `arg:"" help:"New file for the copy."`
}

// Help shows an example.
func (backupCmd) Help() string {
	return "Example: serin backup -c /etc/serin/serin.toml /backup/serin-$(date +%F).db\n\nAll state of one instant, also beside a running daemon: samples, bands, alerts, incidents and the messages still owed. Keys and tokens are in no store and so in no backup."
}

// Run writes the copy.
func (c *backupCmd) Run(ctx context.Context, o Options) error {
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return fail(ExitUsage, err)
	}
	k, err := store.Backup(ctx, path, c.File)
	if err != nil {
		return fail(ExitUsage, err)
	}
	_, err = fmt.Fprintf(o.Stdout, "%s: %d bytes, schema %d, from %s\n", k.Path, k.Bytes, k.Schema, path)
	return err
}

type restoreCmd struct {
	configFlag
	Store string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	File  string `arg:"" help:"File that serin backup wrote."`
}

// Help shows an example.
func (restoreCmd) Help() string {
	return "Example:\n  systemctl stop serin\n  serin restore -c /etc/serin/serin.toml /backup/serin.db\n  systemctl start serin\n\nRefused while a daemon holds the store. The store that was there is kept beside it, as PATH.before-restore-TIME. The next start goes on from the backup: incidents open then are open again, and messages owed then are sent."
}

// Run puts the backup in the store's place.
func (c *restoreCmd) Run(ctx context.Context, o Options) error {
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return fail(ExitUsage, err)
	}
	k, err := store.RestoreBackup(ctx, c.File, path, time.Now())
	if err != nil {
		return fail(ExitUsage, err)
	}
	was := "there was no store before"
	if k.Old != "" {
		was = "the store that was there is " + k.Old
	}
	_, err = fmt.Fprintf(o.Stdout, "%s: restored from %s, %d bytes, schema %d; %s\n", k.Path, c.File, k.Bytes, k.Schema, was)
	return err
}
