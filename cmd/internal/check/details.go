package check

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"serin/cmd/internal/human"
	"serin/probe"
)

func countText(c probe.Count) string {
	if !c.Known {
		return "–"
	}
	return fmt.Sprint(c.V)
}

// printDetails prints under a probe's row what the row has no room for.
func printDetails(w io.Writer, s *probe.Sample, d *probe.Diary) {
	rows := [][2]string{
		{"reason", s.Reason},
		{"HTTP", httpText(s)},
		{"TTFT", ttftText(s)},
		{"load", loadText(s)},
		{"TPOT", tpotText(s)},
		{"person", personText(s)},
		{"tokens", tokenText(s)},
		{"phases", phaseText(s, d)},
		{"clock", clockText(s, d)},
		{"answer", checkText(s)},
	}
	if s.CostUSD.Known {
		rows = append(rows, [2]string{"cost", fmt.Sprintf("%.6f USD", s.CostUSD.V)})
	}
	for _, r := range rows {
		if r[1] != "" {
			_, _ = fmt.Fprintf(w, "  %-7s %s\n", r[0], r[1])
		}
	}
}

func httpText(s *probe.Sample) string {
	if s.Conn == "" {
		return ""
	}
	out := s.Conn + " connection to " + s.RemoteAddr
	if s.HTTPStatus != 0 {
		out = fmt.Sprintf("%d %s, %s", s.HTTPStatus, s.Proto, out)
	}
	if s.ProxyUsed != "" {
		out += ", which is the proxy " + s.ProxyUsed
	}
	if s.CertDays.Known {
		out += fmt.Sprintf(", certificate good for %d days", s.CertDays.V)
	}
	if s.RequestID != "" {
		out += ", request id " + s.RequestID
	}
	return out
}

// ttftText takes the first token's time apart, as far as that can be done.
func ttftText(s *probe.Sample) string {
	if !s.TTFT.Known || !s.Sent.Known {
		return ""
	}
	out := fmt.Sprintf("%s from the request's last byte on the wire", human.Span(s.FirstScreen()))
	if own := s.ServerTTFT(); own.Known {
		out += fmt.Sprintf(", %s of it the server's (without one RTT)", human.Span(own))
	}
	if s.FirstKind != "" && s.FirstKind != "text" {
		out += ", first token of kind " + s.FirstKind
	}
	return out
}

// loadText says what of the first token's time went into the model, where the server tells.
func loadText(s *probe.Sample) string {
	if !s.Load.Known {
		return ""
	}
	return human.Span(s.Load) + " to load the model, as the server says"
}

func tpotText(s *probe.Sample) string {
	switch {
	case s.TPOT.Known:
		return "largest gap " + human.Span(s.MaxGap)
	case s.TPOTReason != "":
		return "none: " + s.TPOTReason
	}
	return ""
}

// personText says what someone at this place sees over a connection without TLS whose name is known.
func personText(s *probe.Sample) string {
	if !s.Perceived().Known {
		return ""
	}
	return fmt.Sprintf("first screen %s (server's TTFT + RTT), whole answer %s (server's TTFT + (N−1)·TPOT + 2·RTT)", human.Span(s.FirstScreen()), human.Span(s.Perceived()))
}

func tokenText(s *probe.Sample) string {
	if s.TokensSource == "" {
		return ""
	}
	out := fmt.Sprintf("%s in (%s cached) → %s out (%s reasoning), %d chunks", countText(s.InputTokens), countText(s.CachedInputTokens), countText(s.OutputTokens), countText(s.ReasoningTokens), s.Chunks)
	// No figure is made of parts that another says are unknown.
	if s.OutputTokens.Known && s.E2E.D > 0 && s.TPOTReason != "unseen_tail" && !s.Has(probe.UsageOdd) {
		out += fmt.Sprintf(", %.1f tokens/s from call to last token", float64(s.OutputTokens.V)/s.E2E.Seconds())
	}
	return out + ", source " + s.TokensSource
}

func checkText(s *probe.Sample) string {
	if s.Check == "" {
		return ""
	}
	return "check " + s.Check
}

func clockText(s *probe.Sample, d *probe.Diary) string {
	if s.Stamp == "" {
		return ""
	}
	return fmt.Sprintf("%s stamps, own delay at most %s, the send stamp early by at most %s", s.Stamp, human.Span(s.Lag), human.Span(d.SendTook))
}

// printDiary prints every event with the instant of the read that completed it. It holds no content.
func printDiary(w io.Writer, d *probe.Diary) {
	last := time.Duration(0)
	for _, e := range d.Events {
		_, _ = fmt.Fprintf(w, "  %12.3f ms  +%10.3f ms  read %-5d %s\n", probe.Known(e.At).Millis(), probe.Known(e.At-last).Millis(), e.Read, e.Kind)
		last = e.At
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", name, d.Headers[name])
	}
}

// printAnswer prints the answer's text, each line indented.
func printAnswer(w io.Writer, d *probe.Diary) {
	for line := range strings.Lines(d.Text) {
		_, _ = fmt.Fprintln(w, "  |", strings.TrimRight(line, "\n"))
	}
}
