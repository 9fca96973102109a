package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/configs"
	"serin/probe"
)

type explainCmd struct {
	configFlag
	Store  string `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	What   string `arg:"" name:"id|series|pattern" help:"Id of an incident or alert; with --at a series (target/scene/size, or the target alone for what its canaries decide together; with /ttft behind it one metric); with --from a glob over canaries."`
	At     string `placeholder:"TIME" help:"Explain the series at this time (RFC 3339, or so long ago: 2h)."`
	From   string `placeholder:"TIME" help:"Why did these canaries fire, or not, since then?"`
	To     string `placeholder:"TIME" help:"… until then (default: now)."`
	Format string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (explainCmd) Help() string {
	return "Examples:\n  serin explain 7f3k\n  serin explain gw-eu/chat/short --at 2026-03-01T08:05:00Z\n  serin explain gw-eu/ttft --at 2h\n  serin explain 'gw-*' --from 2h\nReads bands, votes and states as they were decided and stored, puts the literal 2σ rule's numbers beside them, and says where today's config would decide otherwise."
}

// Run explains.
func (c *explainCmd) Run(ctx context.Context, o Options) error {
	now := time.Now()
	var cfg *configs.Config
	if c.Config != "" {
		var problems []configs.Problem
		cfg, problems = configs.Load(configs.Options{Path: c.Config, NoSecrets: true})
		if err := configError(problems); err != nil {
			return fail(ExitUsage, err)
		}
	}
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return err
	}
	st, err := openStore(ctx, path, o.Stderr, true)
	if err != nil {
		return fail(ExitUsage, err)
	}
	out := bufio.NewWriter(o.Stdout)
	err = c.answer(ctx, casebook{st, cfg}, out, now)
	return errors.Join(err, out.Flush(), st.Close())
}

func (c *explainCmd) answer(ctx context.Context, b casebook, out *bufio.Writer, now time.Time) error {
	switch {
	case c.At != "":
		at, err := parseSince(c.At, now)
		if err != nil {
			return fail(ExitUsage, fmt.Errorf("--at: %w", err))
		}
		list, err := b.series(ctx, c.What, at)
		return c.print(out, list, err)
	case c.From != "" || c.To != "":
		return c.answerOver(ctx, b, out, now)
	}
	list, err := b.incident(ctx, c.What)
	return c.print(out, list, err)
}

func (c *explainCmd) answerOver(ctx context.Context, b casebook, out *bufio.Writer, now time.Time) error {
	from, err := parseSince(c.From, now)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--from: %w", err))
	}
	until := now
	if c.To != "" {
		if until, err = parseSince(c.To, now); err != nil {
			return fail(ExitUsage, fmt.Errorf("--to: %w", err))
		}
	}
	list, err := b.over(ctx, c.What, from, until)
	if err != nil {
		return fail(ExitUsage, err)
	}
	for _, v := range list {
		if c.Format == "json" {
			if err := json.NewEncoder(out).Encode(v); err != nil {
				return err
			}
			continue
		}
		v.write(out)
	}
	return nil
}

func (c *explainCmd) print(out *bufio.Writer, list []*Explanation, err error) error {
	if err != nil {
		return fail(ExitUsage, err)
	}
	for i, x := range list {
		if c.Format == "json" {
			if err := json.NewEncoder(out).Encode(x); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			_ = out.WriteByte('\n') // a bufio.Writer keeps its first error for Flush
		}
		x.write(out)
	}
	return nil
}

// series explains a series at an instant: of all metrics, or of the one that is named behind the canary.
func (b casebook) series(ctx context.Context, name string, at time.Time) ([]*Explanation, error) {
	parts := strings.Split(name, "/")
	if n := len(parts); n == 1 || n == 2 && alert.Kind(parts[1]).Metric() != "" {
		return b.targetSeries(ctx, name, at)
	}
	if len(parts) < 3 || len(parts) > 4 {
		return nil, fmt.Errorf("%q is no series: write target/scene/size, or the target alone for what its canaries decide together", name)
	}
	key := strings.Join(parts[:3], "/")
	sub, _, err := b.subject(ctx, key, at)
	if err != nil {
		return nil, err
	}
	metrics := sub.series()
	if len(parts) == 4 {
		metrics = []probe.Metric{probe.Metric(parts[3])}
		if !slices.Contains(sub.series(), metrics[0]) {
			return nil, fmt.Errorf("%s is not judged by %q, only by %v", key, parts[3], sub.series())
		}
	}
	var list []*Explanation
	for _, m := range metrics {
		x, err := b.one(ctx, key, m, at, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// merged returns the alerts of an incident that goes on as part of another: those of its target.
func (b casebook) merged(ctx context.Context, id string) ([]alert.Alert, error) {
	found, err := b.st.Incidents(ctx, store.IncidentQuery{ID: id})
	if err != nil || len(found) == 0 || found[0].Merged == "" {
		return nil, err
	}
	list, err := b.st.Alerts(ctx, store.AlertQuery{Incident: found[0].Merged})
	return slices.DeleteFunc(list, func(a alert.Alert) bool {
		return a.Series != found[0].Scope && !strings.HasPrefix(a.Series, found[0].Scope+"/")
	}), err
}

// incident explains the alerts of an incident, or one alert, each at the time it fired.
func (b casebook) incident(ctx context.Context, id string) ([]*Explanation, error) {
	alerts, err := b.st.Alerts(ctx, store.AlertQuery{Incident: id})
	if err == nil && len(alerts) == 0 {
		alerts, err = b.st.Alerts(ctx, store.AlertQuery{ID: id})
	}
	if err == nil && len(alerts) == 0 { // what became part of another incident has its alerts there
		alerts, err = b.merged(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	if len(alerts) == 0 {
		return nil, fmt.Errorf("no incident or alert %q in the store; a series needs --at TIME, a pattern --from TIME", id)
	}
	slices.SortStableFunc(alerts, func(a, b alert.Alert) int { return strings.Count(a.Series, "/") - strings.Count(b.Series, "/") })
	list := make([]*Explanation, 0, len(alerts))
	for i := range alerts {
		x, err := b.alert(ctx, &alerts[i])
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// alert explains one alert at the time it fired. One that is not of latency has its votes alone.
func (b casebook) alert(ctx context.Context, a *alert.Alert) (*Explanation, error) {
	m := a.Kind.Metric()
	switch {
	case m != "" && strings.Count(a.Series, "/") == 2:
		return b.one(ctx, a.Series, m, a.Fired, a)
	case m != "":
		return b.target(ctx, a.Series, m, a.Fired, a)
	}
	x := blank(a.Series, probe.Metric(a.Kind), a.Fired, a)
	x.decided(a)
	return x, b.states(ctx, x)
}
