package sim

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for people: a row a preset, what was caught by profile, the error profiles, and the gates
// beside the measured numbers.
func (r *Report) WriteText(w io.Writer) error {
	s := r.Summary()
	out := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	s.rules(out)
	for _, row := range s.Rules {
		row.caught(out)
	}
	s.faults(out)
	s.fleets(out)
	s.gates(out)
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

// table writes cells and keeps the first error.
type table struct {
	w   *tabwriter.Writer
	err error
}

func (t *table) row(cells ...string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w, strings.Join(cells, "\t"))
	}
}

// gap ends a table; the next has columns of its own.
func (t *table) gap() {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	t.row("")
}

func (s Summary) rules(out *table) {
	out.row("rule", "false/series-month", x15for60, x2for60, x5for10, "delay med/p90", "extra requests", "doubled wander: false")
	for _, row := range s.Rules {
		out.row(row.Preset, rate(row.False, string(Healthy)), row.share(x15for60, "").String(), row.share(x2for60, "").String(),
			row.share(x5for10, "").String(), maybe(row.DelayMedian, "%.0f")+"/"+maybe(row.DelayP90, "%.0f min"),
			maybe(row.Extra, "%.1f %%"), rate(row.False, string(Wander)))
	}
	out.gap()
}

// caught is what a preset caught, by profile.
func (row Row) caught(out *table) {
	out.row(append([]string{row.Preset + " caught"}, append(profileNames(), "all")...)...)
	for _, event := range row.events() {
		cells := []string{event}
		for _, p := range profileNames() {
			cells = append(cells, row.share(event, p).String())
		}
		out.row(append(cells, row.share(event, "").String())...)
	}
	cells := []string{"false/series-month"}
	for _, p := range profileNames() {
		cells = append(cells, rate(row.ByProfile, p))
	}
	out.row(append(cells, rate(row.False, string(Healthy)))...)
	out.gap()
}

func (s Summary) faults(out *table) {
	if len(s.Faults) == 0 {
		return
	}
	out.row("error profile", "false/canary-month", "outages found", "slowest", "bursts alerted", "extra requests")
	for _, f := range s.Faults {
		out.row(f.Profile, maybe(f.False, "%.3f"), fmt.Sprintf("%d of %d", f.Found, f.Outages), maybe(f.Slowest, "%.1f min"),
			fmt.Sprintf("%d of %d", f.Alerted, f.Bursts), fmt.Sprintf("%.1f %%", f.Extra))
	}
	out.gap()
}

func (s Summary) fleets(out *table) {
	if len(s.Fleets) == 0 {
		return
	}
	out.row("healthy fleet, a month", "targets x canaries", "pages", "alerts that page", "of them promoted", "alerts of level info", "extra requests")
	for _, f := range s.Fleets {
		out.row(f.Rule, fmt.Sprintf("%d x %d", f.Targets, f.Canaries), withUnit(f.Pages, ""), withUnit(f.Paging, ""), withUnit(f.Promoted, ""),
			withUnit(f.Info, ""), fmt.Sprintf("%.1f %%", f.Extra))
	}
	out.gap()
}

func (s Summary) gates(out *table) {
	out.row("", "rule", "gate", "measured", "bound", "in the experiment")
	for _, g := range s.Gates {
		verdict, sign, got := "–", "≤", "not measured"
		switch {
		case g.Missed:
			verdict = "MISSED"
		case g.Known:
			verdict = "ok"
		}
		if g.AtLeast {
			sign = "≥"
		}
		if g.Known {
			got = withUnit(g.Got, g.Unit)
		}
		tried := ""
		if g.Tried > 0 {
			tried = withUnit(g.Tried, g.Unit)
		}
		out.row(verdict, g.Rule, g.Number, got, sign+" "+withUnit(g.Bound, g.Unit), tried)
	}
}

func withUnit(v float64, unit string) string {
	text := fmt.Sprintf("%.2f", v)
	if v >= 100 {
		text = fmt.Sprintf("%.0f", v)
	}
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// rate shows a number of false alerts, "–" where it was not measured.
func rate(of map[string]float64, key string) string {
	v, ok := of[key]
	if !ok {
		return "–"
	}
	return withUnit(v, "")
}

func maybe(v *float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}

// String shows the share in percent with its base, "–" when there was nothing to catch.
func (s Share) String() string {
	part, ok := s.Part()
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.0f %% of %d", 100*part, s.Of)
}
