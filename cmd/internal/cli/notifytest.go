package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"serin/alert"
	"serin/alert/message"
	"serin/cmd/internal/daemon"
	"serin/configs"
)

type notifyTestCmd struct {
	configFlag
	Sample string `enum:"slow,outage,resolved" default:"slow" help:"What the message looks like: slow, outage or resolved."`
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (notifyTestCmd) Help() string {
	return "Example: serin notify-test -c serin.toml\n\nSends a test message, which looks like an alert and says that nothing is wrong, through every channel; ends with 1 when it could not be delivered to one of them."
}

// Run tries every channel of the config.
func (c *notifyTestCmd) Run(ctx context.Context, o Options) error {
	cfg, problems := configs.Load(configs.Options{Path: c.Config})
	if err := configs.AsError(problems); err != nil {
		return fail(ExitUsage, err)
	}
	channels, err := daemon.Channels(cfg)
	if err != nil {
		return fail(ExitUsage, err)
	}
	if len(channels) == 0 {
		return fail(ExitUsage, errors.New("the config has no channel: add [slack] with webhook_url_env, or bot_token_env and channel, or a [[channel]]"))
	}
	var found []finding
	m := message.Sample(c.Sample, message.SampleOptions{Instance: cfg.Instance.Name, Region: cfg.Instance.Region, Config: c.Config, Now: time.Now(), Zone: time.Local})
	for _, ch := range channels {
		list, err := tryChannel(ctx, ch, m)
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
func tryChannel(ctx context.Context, ch alert.Channel, m alert.Message) ([]finding, error) {
	tester, ok := ch.(alert.Tester)
	if !ok {
		return nil, errors.New("it has no test")
	}
	list, err := tester.Test(ctx, m)
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
		mark := map[bool]string{true: "ok      ", false: "FAILED  "}[f.OK]
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
