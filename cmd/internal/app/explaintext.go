package app

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/cmd/internal/human"
)

// write tells one explanation to people.
func (x *Explanation) write(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	together := ""
	if x.Together {
		together = ", its canaries together,"
	}
	p("%s %s%s at %s", x.Series, strings.ToUpper(string(x.Metric)), together, human.Time(x.At))
	p("  state     %s → %s", stateText(x.Before), stateText(x.After))
	if a := x.Alert; a != nil {
		p("  alert     %s, first breach %s, opened %s%s: %s", a.Severity, human.Time(a.FirstBreach), human.Time(a.Fired), endText(a), a.Reason)
		if a.Config != "" {
			p("  decided   by threshold %s of config %s", a.Threshold, a.Config)
		}
	}
	if a := x.Alert; a != nil && a.Mute != (alert.Mute{}) {
		p("  muted     %s", alert.Clean(a.Mute.Text(time.Time{}, time.UTC)))
	}
	for _, m := range x.Marks {
		p("  mark      %s %q by %s", human.Time(m.At), m.Text, alert.Clean(m.By))
	}
	x.writeBand(w)
	x.writeStep(w)
	for i := range x.Votes {
		p("  %s%s", x.Votes[i], x.shares(&x.Votes[i]))
	}
	for _, line := range x.chart() {
		p("  %s", line)
	}
	x.writeBeside(w)
	for _, c := range x.Changes {
		if c.Event != "" {
			p("  %s  %s: %s", human.Time(c.At), c.Event, c.Reason)
			continue
		}
		p("  %s  %s → %s: %s", human.Time(c.At), stateText(c.From), c.To, c.Reason)
	}
}

func stateText(s alert.State) string {
	if s == "" {
		return "(nothing stored)"
	}
	return string(s)
}

func endText(a *alert.Alert) string {
	if a.Resolved.IsZero() {
		return ", still open"
	}
	return ", resolved " + human.Time(a.Resolved)
}

// writeBand tells what was normal, and of what that was made.
func (x *Explanation) writeBand(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, "  "+format+"\n", args...) }
	switch b := x.Band; {
	case x.Together:
		return
	case b == nil:
		p("band      none is stored for that time")
	case b.State != "ready":
		p("band      learning: day %d, %d samples", b.Days, b.N)
	default:
		p("band      slot %s, n %d of %d days%s, mean %s, limit %s (normal %s … %s)", b.Slot.Format("15:04 MST"), b.N, b.Days, widenedText(b),
			human.Seconds(b.Mean), human.Seconds(b.Limit), human.Seconds(b.Low), human.Seconds(b.Limit))
		p("          σ %.3f (%s), κ %.3f, today ×%.3f, line ×%.3f, threshold %s", b.Sigma, scatterText(b), b.Kappa, math.Exp(b.Offset),
			math.Exp(b.Line), b.Threshold)
	}
	if n := len(x.Windows); n > 0 {
		p("window    %s each day, %s to %s: %d samples used", spanText(x.Windows[n-1]), x.Windows[0].From.Format("01-02"), x.Windows[n-1].From.Format("01-02"), len(x.Used))
	}
	if len(x.Left) > 0 {
		why := map[string]int{}
		for _, l := range x.Left {
			why[l.Why]++
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(why)) {
			parts = append(parts, fmt.Sprintf("%d %s", why[k], whyText(k)))
		}
		p("left out  %s", strings.Join(parts, ", "))
	}
}

func widenedText(b *baseline.Band) string {
	switch b.Widened {
	case "":
		return ""
	case "day":
		return " (the whole day)"
	}
	return " (±" + b.Widened + ")"
}

func spanText(w window) string { return w.From.Format("15:04") + "–" + w.To.Format("15:04") }

// String is one observation's line.
func (v ballot) String() string {
	line := fmt.Sprintf("%s %-8s", v.At.Format("15:04:05"), v.Trigger)
	if v.Value > 0 {
		line += fmt.Sprintf("  %9s", human.Seconds(v.Value))
	}
	if v.Value <= 0 && v.Ratio > 0 {
		line += fmt.Sprintf("  ×%.2f", v.Ratio)
	}
	if v.Limit > 0 {
		line += fmt.Sprintf("  limit %9s  ×%.2f  z %5.2f", human.Seconds(v.Limit), v.Ratio, v.Z)
	}
	line += "  " + strings.ReplaceAll(string(v.Call), "_", " ")
	if v.Why != "" {
		line += " (" + whyText(v.Why) + ")"
	}
	if v.Literal != "" && v.Literal != v.Call {
		line += "  [literal: " + string(v.Literal) + "]"
	}
	return line
}

// writeBeside tells what other rules make of it.
func (x *Explanation) writeBeside(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, "  "+format+"\n", args...) }
	switch l := x.Literal; l.State {
	case "": // it knows single canaries' latencies alone
	case "ready":
		p("literal   n %d, mean %s, sd %s, mean + 2 sd %s, z %.2f: %s", l.N, human.Seconds(l.Mean), human.Seconds(l.SD), human.Seconds(l.Limit), l.Z, l.Call)
	default:
		p("literal   learning: fewer than 5 values in exactly that slot")
	}
	if t := x.Today; t != nil {
		p("today's   %s", t.Words)
	}
}

// chartRows is the height of the chart.
const chartRows = 7

// chart draws the votes against mean and limit, newest on the right.
func (x *Explanation) chart() []string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x.Votes {
		for _, y := range []float64{v.Value, v.Mean, v.Limit} {
			if y > 0 {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	if !(high > low) {
		return nil
	}
	row := func(y float64) int { return int(math.Round((high - y) / (high - low) * (chartRows - 1))) }
	grid := make([][]rune, chartRows)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", 3*len(x.Votes)))
	}
	for i, v := range x.Votes {
		if v.Limit > 0 {
			copy(grid[row(v.Mean)][3*i:], []rune("···"))
			copy(grid[row(v.Limit)][3*i:], []rune("───"))
		}
		if v.Value > 0 {
			mark := '○'
			if v.Call == baseline.Breach {
				mark = '●'
			}
			grid[row(v.Value)][3*i+1] = mark
		}
	}
	lines := make([]string, chartRows)
	for i := range grid {
		lines[i] = fmt.Sprintf("%9s │%s", human.Seconds(high-(high-low)*float64(i)/(chartRows-1)), strings.TrimRight(string(grid[i]), " "))
	}
	return append(lines, strings.Repeat(" ", 9)+" └ "+"● breach  ○ not  ─ limit  · usual")
}

// write tells why a canary did or did not fire.
func (v verdictOver) write(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%-36s %-5s %5d ", v.Series, v.Metric, v.Samples)
	switch {
	case v.Together:
		_, _ = fmt.Fprint(w, "rounds of its canaries together")
	case v.Fires > 0:
		_, _ = fmt.Fprintf(w, "samples, %4d above the limit", v.Breaches)
	default:
		_, _ = fmt.Fprintf(w, "samples, %4d above the limit, at most %d of %d in a row of votes", v.Breaches, v.Most, v.Of)
	}
	switch {
	case v.PeakRatio > 0 && v.Together:
		_, _ = fmt.Fprintf(w, ", highest ×%.2f at %s", v.PeakRatio, v.PeakAt.UTC().Format(time.DateTime))
	case v.PeakRatio > 0:
		_, _ = fmt.Fprintf(w, ", highest %s (×%.2f) at %s", human.Seconds(v.Peak), v.PeakRatio, v.PeakAt.UTC().Format(time.DateTime))
	}
	switch {
	case v.Fires > 0 && v.Score <= 0:
		_, _ = fmt.Fprint(w, ", none spoke for a step up")
	case v.Fires > 0:
		_, _ = fmt.Fprintf(w, ", highest score %.1f at %s", v.Score, v.ScoreAt.Format(time.DateTime))
	}
	_, _ = fmt.Fprintf(w, ": %s\n", v.Why)
}

// scatterText says what a band's σ is made of.
func scatterText(b *baseline.Band) string {
	if b.SW == 0 {
		return "of the slot's values: one probe's is not known"
	}
	text := fmt.Sprintf("one probe %.3f, level %.3f", b.SW, b.SL)
	if b.Sigma > 1.0005*math.Hypot(b.SW, b.SL) { // not to be seen below
		text += ", together more"
	}
	return text
}
