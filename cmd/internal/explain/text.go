package explain

import (
	"fmt"
	"io"
	"math"
	"strings"

	"serin/alert"
	"serin/cmd/internal/human"
)

// Write writes the three sentences, and with verbose the figures below them.
func (d *Decision) Write(w io.Writer, verbose bool) {
	for _, line := range d.Summary {
		_, _ = fmt.Fprintln(w, line) // the caller's Flush tells
	}
	if !verbose {
		return
	}
	p := func(text string, args ...any) { _, _ = fmt.Fprintf(w, "  "+text+"\n", args...) }
	if a := d.Alert; a != nil && a.Threshold != "" {
		p("decided by threshold %s of config %s", a.Threshold, a.Config)
	}
	if b := d.Band; b != nil && b.State == "ready" {
		p("normal %s to %s; sigma %.3f, kappa %.3f, today x%.3f, limit x%.3f of usual, threshold %s", human.Seconds(b.Low), human.Seconds(b.Limit),
			b.Sigma, b.Kappa, math.Exp(b.Offset), math.Exp(b.Line), b.Threshold)
	}
	if d.Step != nil {
		d.writeStep(p)
	} else if !d.single() && d.Alert != nil && d.Kind.Metric() != "" {
		p("the score was not kept with this alert")
	}
	for _, c := range d.Checks {
		p("%s", c)
	}
	for _, t := range d.Changes {
		p("%s", changeText(t))
	}
	for _, m := range d.Marks {
		p("%s  mark %q by %s", human.Time(m.At), m.Text, alert.Clean(m.By))
	}
}

// writeStep writes what the step test found: the newest checks beside a level that moves as it always did.
func (d *Decision) writeStep(p func(text string, args ...any)) {
	f, what := d.Step, "rounds"
	if d.single() {
		what = "checks"
	}
	switch {
	case f.Of == 0:
		p("no score yet; more than %g fires", f.Fires)
	default:
		p("score %.1f over the newest %d %s, more than %g fires (ln of how much likelier they are with a step up than without)", f.Score, f.Of, what, f.Fires)
	}
	if f.Votes > 0 {
		p("the newest %d fit a step best, from x%.2f to x%.2f of usual", f.Votes, f.Before, f.Ratio)
	}
	p("this level moves by %.1f %% (one standard deviation); over hours it is x%.2f of usual and rarely goes beyond x%.2f", 100*f.Moves(), f.Hours, f.Reach)
}

// String is one check's line.
func (c Check) String() string {
	line := fmt.Sprintf("%s  %-8s", human.Time(c.At), c.Trigger)
	if c.Value > 0 {
		line += fmt.Sprintf("  %9s", human.Seconds(c.Value))
	}
	if c.Ratio > 0 {
		line += fmt.Sprintf("  x%.2f", c.Ratio)
	}
	if c.Limit > 0 {
		line += "  limit " + human.Seconds(c.Limit)
	}
	if c.Z != 0 {
		line += fmt.Sprintf("  z %.2f", c.Z)
	}
	line += "  " + strings.ReplaceAll(string(c.Call), "_", " ")
	if c.Why != "" {
		line += " (" + whyText(c.Why) + ")"
	}
	var parts []string
	for _, x := range c.Parts {
		_, short, _ := strings.Cut(x.Canary, "/")
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s x%.2f", short, x.Ratio)))
	}
	if len(parts) > 0 {
		line += "  [" + strings.Join(parts, ", ") + "]"
	}
	return line
}

func changeText(t alert.Transition) string {
	if t.Event != "" {
		return fmt.Sprintf("%s  %s: %s", human.Time(t.At), t.Event, t.Reason)
	}
	return fmt.Sprintf("%s  %s to %s: %s", human.Time(t.At), t.From, t.To, t.Reason)
}
