package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"serin/baseline/store"
	"serin/cmd/internal/explain"
	"serin/configs"
)

type explainCmd struct {
	storeFlags
	What    string `arg:"" name:"id|series|pattern" help:"Id of an incident or alert; with --at or --from a series (target/scene/size, a metric behind it for that alone) or a glob over canaries or targets."`
	At      string `placeholder:"TIME" help:"Explain the series at this time (RFC 3339, or so long ago: 2h)."`
	From    string `placeholder:"TIME" help:"Why did these canaries fire, or not, since then?"`
	To      string `placeholder:"TIME" help:"… until then (default: now)."`
	Verbose bool   `short:"v" help:"Figures too: band, each check, score, changes of state."`
	Format  string `enum:"text,json" default:"text" help:"text, or json (one decision a line)."`
}

// Help shows an example.
func (explainCmd) Help() string {
	return "Examples:\n  serin explain 7f3k\n  serin explain gw-eu/chat/short --at 2026-03-01T08:05:00Z -v\n  serin explain 'gw-*' --from 2h\nThree sentences each: what happened, against what it was held, why it fired or did not. Reads what was stored with the decision; what another rule would have decided is answered by serin backtest."
}

// explainBefore is how much of the time before --at is looked at.
const explainBefore = time.Hour

// Run explains.
func (c *explainCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	var canaries []string
	if c.Config != "" {
		cfg, problems := configs.Load(configs.Options{Path: c.Config, NoSecrets: true})
		if err := configs.AsError(problems); err != nil {
			return fail(ExitUsage, err)
		}
		canaries = configs.Keys(cfg.Runs)
	}
	return c.read(ctx, o, func(st *store.Store) error {
		list, err := c.decisions(ctx, explain.Explainer{Store: st, Canaries: canaries}, now)
		if err != nil {
			return fail(ExitUsage, err)
		}
		out := bufio.NewWriter(o.Stdout)
		for i, d := range list {
			if c.Format == "json" {
				if err := json.NewEncoder(out).Encode(d); err != nil {
					return err
				}
				continue
			}
			if i > 0 {
				_ = out.WriteByte('\n') // a bufio.Writer keeps its first error for Flush
			}
			d.Write(out, c.Verbose)
		}
		return out.Flush()
	})
}

func (c *explainCmd) decisions(ctx context.Context, e explain.Explainer, now time.Time) ([]*explain.Decision, error) {
	if c.At == "" && c.From == "" && c.To == "" {
		return e.ByID(ctx, c.What)
	}
	if c.At != "" {
		at, err := parseSince(c.At, now)
		if err != nil {
			return nil, fmt.Errorf("--at: %w", err)
		}
		return e.Between(ctx, c.What, at.Add(-explainBefore), at.Add(1))
	}
	from, err := parseSince(c.From, now)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	until := now
	if c.To != "" {
		if until, err = parseSince(c.To, now); err != nil {
			return nil, fmt.Errorf("--to: %w", err)
		}
	}
	return e.Between(ctx, c.What, from, until)
}
