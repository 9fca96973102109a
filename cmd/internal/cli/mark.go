package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"serin/alert"
	"serin/cmd/internal/human"
	"serin/cmd/internal/web"
)

type markCmd struct {
	Set  markSetCmd  `cmd:"" default:"withargs" help:"Put an event on the time line (the default)."`
	List markListCmd `cmd:"" help:"List the events."`
}

type markSetCmd struct {
	Text   string   `arg:"" help:"What happened: 'vllm 0.13'."`
	Target []string `placeholder:"GLOB" help:"Targets that it is about; default all. May be given several times."`
	At     string   `placeholder:"TIME" help:"When: RFC 3339, '2026-03-01 22:00 Europe/Berlin', 22:00 in this machine's zone, or so long ago: 10m (default: now)."`
	By     string   `placeholder:"NAME" help:"Who: default is the user that runs this."`
	Format string   `enum:"text,json" default:"text" help:"text or json."`
	socketFlag
}

// Help shows examples.
func (markSetCmd) Help() string {
	return "Examples:\n  serin mark 'vllm 0.13' --target 'gw-*'\n  serin mark 'switched to H200' --at 14:30\n\nA mark is told with trouble that begins within the hour after it, and shown by the API, serin explain and serin mark list. From CI: curl -H \"Authorization: Bearer $TOKEN\" -d '{\"text\":\"vllm 0.13\"}' http://…/api/v1/marks with a [[http.token]] of role annotate."
}

// Run asks the daemon for a mark.
func (c *markSetCmd) Run(ctx context.Context, o Options) error {
	body := map[string]any{"text": c.Text, "by": orderFlags{Who: c.By}.name()}
	if len(c.Target) > 0 {
		body["targets"] = c.Target
	}
	if c.At != "" {
		at, err := parsePast(c.At, time.Now())
		if err != nil {
			return fail(ExitUsage, fmt.Errorf("--at: %w", err))
		}
		body["at"] = at
	}
	var made alert.Mark
	if err := talk(ctx, c.Socket, http.MethodPost, "/api/v1/marks", body, &made); err != nil {
		return err
	}
	if c.Format == "json" {
		return writeJSON(o.Stdout, made)
	}
	if _, err := fmt.Fprintf(o.Stdout, "mark %s at %s: %s\n", made.ID, human.Time(made.At), alert.Clean(made.Text)); err != nil {
		return err
	}
	return c.idle(ctx, o, made)
}

// idle says so where a mark is about no target that is watched: a mistyped pattern would never be told.
func (c *markSetCmd) idle(ctx context.Context, o Options, made alert.Mark) error {
	if len(made.Targets) == 0 {
		return nil
	}
	var now web.Status
	if err := talk(ctx, c.Socket, http.MethodGet, "/api/v1/status", nil, &now); err != nil {
		return err
	}
	if slices.ContainsFunc(now.Canaries, func(s web.CanaryStatus) bool {
		target, _, _ := strings.Cut(s.Canary, "/")
		return made.Concerns(target)
	}) {
		return nil
	}
	_, err := fmt.Fprintf(o.Stdout, "it is about no target that is watched now: %s\n", alert.Clean(strings.Join(made.Targets, " ")))
	return err
}

type markListCmd struct {
	Since  string `default:"40d" placeholder:"D" help:"How far back: a duration (24h, 7d) or an RFC 3339 time."`
	Format string `enum:"text,json" default:"text" help:"text or json; serin export --marks writes an object a line."`
	socketFlag
}

// Help shows an example.
func (markListCmd) Help() string { return "Example: serin mark list --since 7d" }

// Run lists marks.
func (c *markListCmd) Run(ctx context.Context, o Options) error {
	var list []alert.Mark
	if err := talk(ctx, c.Socket, http.MethodGet, "/api/v1/marks?"+url.Values{"since": {c.Since}}.Encode(), nil, &list); err != nil {
		return err
	}
	switch {
	case c.Format == "json":
		return writeJSON(o.Stdout, list)
	case len(list) == 0:
		_, err := fmt.Fprintln(o.Stdout, "No marks in this time.")
		return err
	}
	out := tabwriter.NewWriter(o.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ID\tAT\tTEXT\tTARGETS\tBY\t") // Flush tells
	for _, m := range list {
		targets := strings.Join(m.Targets, " ")
		if targets == "" {
			targets = "*"
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t\n", m.ID, human.Time(m.At), alert.Clean(m.Text), alert.Clean(targets), alert.Clean(m.By))
	}
	return out.Flush()
}
