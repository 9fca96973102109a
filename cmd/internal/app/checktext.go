package app

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"serin/probe"
)

// milliText renders a span as a person writes it: 8.4 s, 312 ms, 21.4 ms, 0.09 ms; "–" when unknown.
func milliText(s probe.Span) string {
	ms := s.Millis()
	switch {
	case !s.Known:
		return "–"
	case ms >= 10_000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.2f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 10:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

func countText(c probe.Count) string {
	if !c.Known {
		return "–"
	}
	return fmt.Sprint(c.V)
}

// printSample prints one probe: the outcome, the numbers, the phases.
func printSample(w io.Writer, s *probe.Sample, terminal bool) {
	outcome := string(s.Outcome)
	if s.Reason != "" {
		outcome += " (" + s.Reason + ")"
	}
	_, _ = fmt.Fprintf(w, "%s  %s\n", s.Key(), paint(outcome, s.Outcome.Success(), terminal))
	rows := [][2]string{
		{"HTTP", httpText(s)},
		{"TTFT", ttftText(s)},
		{"TPOT", tpotText(s)},
		{"E2E", milliText(s.E2E)},
		{"tokens", fmt.Sprintf("%s in (%s cached) → %s out (%s reasoning), %d chunks", countText(s.InputTokens), countText(s.CachedInputTokens), countText(s.OutputTokens), countText(s.ReasoningTokens), s.Chunks)},
		{"phases", phaseText(s)},
		{"clock", clockText(s)},
	}
	if s.Load.Known {
		rows = append(rows, [2]string{"load", milliText(s.Load) + " to load the model, as the server says"})
	}
	if s.CostUSD.Known {
		rows = append(rows, [2]string{"cost", fmt.Sprintf("%.6f USD", s.CostUSD.V)})
	}
	if s.Check != "" {
		rows = append(rows, [2]string{"answer", "check " + s.Check})
	}
	if len(s.Flags) > 0 {
		rows = append(rows, [2]string{"flags", strings.Trim(fmt.Sprint(s.Flags), "[]")})
	}
	for _, r := range rows {
		if r[1] != "" {
			_, _ = fmt.Fprintf(w, "  %-7s %s\n", r[0], r[1])
		}
	}
}

// paint colours an outcome on a terminal, unless NO_COLOR asks not to.
func paint(text string, good, terminal bool) string {
	if !terminal || os.Getenv("NO_COLOR") != "" {
		return text
	}
	colour := map[bool]string{true: "32", false: "31"}[good]
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func httpText(s *probe.Sample) string {
	if s.HTTPStatus == 0 {
		return ""
	}
	out := fmt.Sprintf("%d %s, %s connection", s.HTTPStatus, s.Proto, s.Conn)
	if s.ProxyUsed != "" {
		out += ", through proxy " + s.ProxyUsed
	}
	if s.RequestID != "" {
		out += ", request id " + s.RequestID
	}
	return out
}

func ttftText(s *probe.Sample) string {
	out := milliText(s.TTFT)
	if s.TTFT.Known && s.Sent.Known {
		out += fmt.Sprintf(" from the call, %s from the request's last byte on the wire", milliText(probe.Known(s.TTFT.D-s.Sent.D)))
	}
	if s.TTFA.Known && s.TTFA != s.TTFT {
		out += ", first answer token " + milliText(s.TTFA)
	}
	return out
}

func tpotText(s *probe.Sample) string {
	if !s.TPOT.Known {
		if s.TPOTReason == "" {
			return "–"
		}
		return "– (" + s.TPOTReason + ")"
	}
	return fmt.Sprintf("%s (%.1f tokens/s), largest gap %s", milliText(s.TPOT), 1/s.TPOT.Seconds(), milliText(s.MaxGap))
}

func phaseText(s *probe.Sample) string {
	var parts []string
	for _, p := range []struct {
		name string
		span probe.Span
	}{{"dns", s.DNS}, {"connect", s.Connect}, {"tls", s.TLS}, {"sent at", s.Sent}, {"first byte at", s.TTFB}, {"first event at", s.TTFE}, {"first token at", s.TTFT}, {"end at", s.StreamTotal}} {
		if p.span.Known {
			parts = append(parts, p.name+" "+milliText(p.span))
		}
	}
	return strings.Join(parts, " · ")
}

func clockText(s *probe.Sample) string {
	if s.Stamp == "" {
		return ""
	}
	return fmt.Sprintf("%s stamps, own delay at most %s", s.Stamp, milliText(s.Lag))
}

// printSpread prints medians of several probes, each with its n; p95 only where there are enough.
func printSpread(w io.Writer, samples []probe.Sample) {
	_, _ = fmt.Fprintf(w, "%d probes, %d ok\n", len(samples), countOK(samples))
	for _, m := range []probe.Metric{probe.TTFT, probe.TPOT, probe.E2E} {
		var xs []float64
		for i := range samples {
			if v := samples[i].Measure(m); v.Known {
				xs = append(xs, v.Seconds())
			}
		}
		if len(xs) == 0 {
			continue
		}
		slices.Sort(xs)
		line := fmt.Sprintf("  %-5s p50 %s", strings.ToUpper(string(m)), secondsText(quantile(xs, .5)))
		if len(xs) >= 20 {
			line += "  p95 " + secondsText(quantile(xs, .95))
		}
		_, _ = fmt.Fprintf(w, "%s  min %s  max %s  (n %d)\n", line, secondsText(xs[0]), secondsText(xs[len(xs)-1]), len(xs))
	}
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

func secondsText(x float64) string {
	return milliText(probe.Known(time.Duration(x * float64(time.Second))))
}

// quantile interpolates linearly in sorted xs.
func quantile(xs []float64, q float64) float64 {
	pos := q * float64(len(xs)-1)
	lo := int(math.Floor(pos))
	hi := min(lo+1, len(xs)-1)
	return xs[lo] + (pos-float64(lo))*(xs[hi]-xs[lo])
}
