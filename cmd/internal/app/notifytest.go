package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"serin/alert/slack"
	"serin/configs"
)

type notifyTestCmd struct {
	configFlag
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (notifyTestCmd) Help() string {
	return "Example: serin notify-test -c serin.toml\nPosts a test message to every channel; ends with 1 when one of them did not take it."
}

// Run tries every channel of the config.
func (c *notifyTestCmd) Run(ctx context.Context, o Options) error {
	cfg, problems := configs.Load(configs.Options{Path: c.Config})
	if err := configError(problems); err != nil {
		return fail(ExitUsage, err)
	}
	if cfg.Slack == nil {
		return fail(ExitUsage, errors.New("the config has no channel: add [slack] with webhook_url_env, or bot_token_env and channel"))
	}
	ch, err := slack.New(*cfg.Slack)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("[slack]: %w", err))
	}
	found, err := ch.Test(ctx)
	if err != nil {
		return fail(ExitUsage, errors.New(cfg.Redactor.Redact(err.Error())))
	}
	return c.report(o, found)
}

func (c *notifyTestCmd) report(o Options, found []slack.Finding) error {
	bad := false
	for _, f := range found {
		bad = bad || !f.OK
		if c.Format == "json" {
			if err := json.NewEncoder(o.Stdout).Encode(f); err != nil {
				return err
			}
			continue
		}
		mark := map[bool]string{true: "ok      ", false: "MISSING "}[f.OK]
		_, _ = fmt.Fprintln(o.Stdout, mark+f.What)
		if f.Fix != "" {
			_, _ = fmt.Fprintln(o.Stdout, "        →", f.Fix)
		}
	}
	if bad {
		return fail(ExitBad, errQuiet)
	}
	return nil
}
