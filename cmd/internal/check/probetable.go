package check

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"serin/cmd/internal/human"
	"serin/probe"
)

// table prints probes as rows under one head.
type table struct {
	w        io.Writer
	width    int // of the first column
	terminal bool
	headed   bool
}

func newTable(w io.Writer, keys []string) *table {
	t := &table{w: w, width: len("canary"), terminal: human.IsTerminal(w)}
	for _, key := range keys {
		t.width = max(t.width, len(key))
	}
	return t
}

// row prints one probe. Its outcome is painted, so that it is padded first.
func (t *table) row(s *probe.Sample) {
	if !t.headed {
		t.headed = true
		_, _ = fmt.Fprintf(t.w, "%-*s  %-12s %9s %9s %9s %9s %13s %7s %9s\n", t.width, "canary", "outcome", "TTFT", "TTFA", "TPOT", "E2E", "tokens", "tok/s", "RTT")
	}
	outcome := human.Paint(fmt.Sprintf("%-12s", s.Outcome), s.Outcome.Success(), t.terminal)
	line := fmt.Sprintf("%-*s  %s %9s %9s %9s %9s %13s %7s %9s", t.width, s.Key(), outcome, human.Span(s.TTFT), human.Span(s.TTFA), human.Span(s.TPOT),
		human.Span(s.E2E), countText(s.InputTokens)+" → "+countText(s.OutputTokens), speedText(s), human.Span(s.RTT))
	_, _ = fmt.Fprintln(t.w, strings.TrimRight(line+"  "+flagText(s), " "))
}

// speedText is the speed of decoding, tokens a second.
func speedText(s *probe.Sample) string {
	if !s.TPOT.Known {
		return "–"
	}
	return fmt.Sprintf("%.1f", 1/s.TPOT.Seconds())
}

func flagText(s *probe.Sample) string { return strings.Trim(fmt.Sprint(s.Flags), "[]") }

// printSpread prints medians of several probes, each with its n; p95 only where there are enough. Probes that failed by the
// server's or the network's fault count as endless: a server that refuses its slow work must not look fast.
func printSpread(w io.Writer, samples []probe.Sample) {
	failed := countCensored(samples)
	_, _ = fmt.Fprintf(w, "%d probes, %d ok\n", len(samples), countOK(samples))
	for _, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		printQuantiles(w, strings.ToUpper(string(m)), valuesOf(samples, func(s *probe.Sample) probe.Span { return s.Measure(m) }), failed)
	}
	printQuantiles(w, "RTT", valuesOf(samples, func(s *probe.Sample) probe.Span { return s.RTT }), 0)
}

// valuesOf returns what is known of a figure, sorted, seconds.
func valuesOf(samples []probe.Sample, of func(*probe.Sample) probe.Span) []float64 {
	var xs []float64
	for i := range samples {
		if v := of(&samples[i]); v.Known {
			xs = append(xs, v.Seconds())
		}
	}
	slices.Sort(xs)
	return xs
}

// printQuantiles prints the figures of sorted xs, with failed more values that are endless.
func printQuantiles(w io.Writer, name string, xs []float64, failed int) {
	if len(xs) == 0 {
		return
	}
	all := slices.Clone(xs)
	for range failed {
		all = append(all, math.Inf(1))
	}
	line := fmt.Sprintf("  %-5s p50 %s", name, quantileText(all, .5))
	if len(all) >= 20 {
		line += "  p95 " + quantileText(all, .95)
	}
	counts := fmt.Sprintf("n %d", len(xs))
	if failed > 0 {
		counts += fmt.Sprintf(" and %d failed", failed)
	}
	_, _ = fmt.Fprintf(w, "%s  min %s  max %s  (%s)\n", line, human.Seconds(xs[0]), human.Seconds(xs[len(xs)-1]), counts)
}

// quantileText is a quantile for people; "not met" where it lies among the failures.
func quantileText(xs []float64, q float64) string {
	if x := quantile(xs, q); !math.IsInf(x, 1) && !math.IsNaN(x) {
		return human.Seconds(x)
	}
	return "not met"
}

// countCensored counts the failures that are the server's or the network's.
func countCensored(samples []probe.Sample) int {
	n := 0
	for i := range samples {
		s := &samples[i]
		if side := s.Outcome.Side(s.Reason); !s.Outcome.Success() && (side == probe.SideServer || side == probe.SideNetwork) {
			n++
		}
	}
	return n
}

func countOK(samples []probe.Sample) int {
	n := 0
	for i := range samples {
		if samples[i].Outcome.Success() {
			n++
		}
	}
	return n
}

// quantile interpolates linearly in sorted xs.
func quantile(xs []float64, q float64) float64 {
	pos := q * float64(len(xs)-1)
	lo := int(math.Floor(pos))
	hi := min(lo+1, len(xs)-1)
	return xs[lo] + (pos-float64(lo))*(xs[hi]-xs[lo])
}
