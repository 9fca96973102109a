package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"serin/alert"
	"serin/configs"
)

type notifyTestCmd struct {
	configFlag
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (notifyTestCmd) Help() string {
	return "Example: serin notify-test -c serin.toml\n\nPosts a test message to every channel; ends with 1 when one of them did not take it."
}

// Run tries every channel of the config.
func (c *notifyTestCmd) Run(ctx context.Context, o Options) error {
	cfg, problems := configs.Load(configs.Options{Path: c.Config})
	if err := configError(problems); err != nil {
		return fail(ExitUsage, err)
	}
	channels, err := channelsOf(cfg)
	if err != nil {
		return fail(ExitUsage, err)
	}
	if len(channels) == 0 {
		return fail(ExitUsage, errors.New("the config has no channel: add [slack] with webhook_url_env, or bot_token_env and channel, or a [[channel]]"))
	}
	var found []finding
	for _, ch := range channels {
		list, err := tryChannel(ctx, ch)
		if err != nil {
			return fail(ExitUsage, fmt.Errorf("channel %s: %s", ch.Name(), cfg.Redactor.Redact(err.Error())))
		}
		found = append(found, list...)
	}
	return c.report(o, found)
}

// finding is one line of the report.
type finding struct {
	Channel string `json:"channel"`
	alert.Finding
}

// tryChannel sends a test message through a channel.
func tryChannel(ctx context.Context, ch alert.Channel) ([]finding, error) {
	tester, ok := ch.(alert.Tester)
	if !ok {
		return nil, errors.New("it has no test")
	}
	list, err := tester.Test(ctx)
	var out []finding
	for _, f := range list {
		out = append(out, finding{ch.Name(), f})
	}
	return out, err
}

func (c *notifyTestCmd) report(o Options, found []finding) error {
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
		_, _ = fmt.Fprintln(o.Stdout, mark+f.Channel+": "+f.What)
		if f.Fix != "" {
			_, _ = fmt.Fprintln(o.Stdout, "        →", f.Fix)
		}
	}
	if bad {
		return fail(ExitBad, errQuiet)
	}
	return nil
}
