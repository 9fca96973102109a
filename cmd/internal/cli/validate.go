package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"serin/baseline/store"
	"serin/cmd/internal/human"
	"serin/cmd/internal/plan"
	"serin/configs"
)

type validateCmd struct {
	configFlag
	NoSecrets bool   `help:"Do not read credentials: for CI, where they are not at hand."`
	Schedule  bool   `help:"Print the next real runs of every canary, spread and clock changes included, and the next maintenance windows."`
	Format    string `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (validateCmd) Help() string {
	return "Example: serin validate -c serin.toml\n\nWarnings alone end with 0, an error with 2."
}

// nextRuns is how many runs --schedule prints of each canary.
const nextRuns = 5

// Run reports every problem and what the config means.
func (c *validateCmd) Run(_ context.Context, o Options) error {
	now := time.Now()
	cfg, problems := configs.Load(configs.Options{Path: c.Config, NoSecrets: c.NoSecrets, Now: now})
	report := validation{Problems: problems}
	if cfg != nil {
		sum := plan.Summarize(cfg, plan.Options{Now: now, SampleBytes: store.BytesPerSample, BandBytes: store.BytesPerBand})
		delivery := plan.DeliveryOf(cfg)
		report.Summary, report.Delivery = &sum, &delivery
		if c.Schedule {
			report.Schedule, report.Windows = plan.Runs(cfg, now, nextRuns), plan.Windows(cfg, now, nextRuns)
		}
	}
	var err error
	if c.Format == "json" {
		err = json.NewEncoder(o.Stdout).Encode(report)
	} else {
		report.print(o.Stdout)
	}
	if err == nil && configs.HasErrors(problems) {
		return fail(ExitUsage, errQuiet)
	}
	return err
}

// validation is all that validate has to say.
type validation struct {
	Problems []configs.Problem  `json:"problems"`
	Summary  *plan.Summary      `json:"summary,omitempty"`
	Delivery *plan.Delivery     `json:"delivery,omitempty"`
	Schedule []plan.NextRuns    `json:"schedule,omitempty"`
	Windows  []plan.NextWindows `json:"maintenance,omitempty"`
}

func (v *validation) print(w io.Writer) {
	errors := 0
	for _, p := range v.Problems {
		_, _ = fmt.Fprintln(w, p)
		if p.Severity == configs.Error {
			errors++
		}
	}
	if errors > 0 {
		_, _ = fmt.Fprintf(w, "%s, %s: this config cannot be used\n", human.Plural(errors, "error"), human.Plural(len(v.Problems)-errors, "warning"))
		return
	}
	_, _ = fmt.Fprintf(w, "the config is good (%s). What it means:\n%s%s", human.Plural(len(v.Problems), "warning"), v.Summary, v.Delivery)
	for _, r := range v.Schedule {
		_, _ = fmt.Fprintf(w, "%s  %s (%s), %s behind the clock\n", r.Key, r.Cron, r.Zone, r.Offset.Round(time.Millisecond))
		for _, at := range r.Runs {
			_, _ = fmt.Fprintf(w, "  %s\n", at.Format("Mon 2006-01-02 15:04:05.000 -07:00"))
		}
		for _, n := range r.Notes {
			_, _ = fmt.Fprintf(w, "  note: %s\n", n)
		}
	}
	for _, m := range v.Windows {
		printWindows(w, m)
	}
}

// printWindows writes the next windows of one maintenance.
func printWindows(w io.Writer, m plan.NextWindows) {
	does := "nobody is notified"
	if m.Cap != "" {
		does = "sent as no more than " + m.Cap
	}
	if !m.Probe {
		does += ", nothing is probed"
	}
	_, _ = fmt.Fprintf(w, "maintenance %s (%s): %d canaries, %s\n", m.Name, m.Zone, len(m.Mutes), does)
	const layout = "Mon 2006-01-02 15:04 -07:00"
	for _, x := range m.Windows {
		_, _ = fmt.Fprintf(w, "  %s to %s (%s)\n", x.From.Format(layout), x.Until.Format(layout), human.Duration(x.Until.Sub(x.From)))
	}
	if len(m.Windows) == 0 {
		_, _ = fmt.Fprintln(w, "  never again")
	}
}
