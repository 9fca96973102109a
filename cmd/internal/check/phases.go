package check

import (
	"math"
	"strings"
	"time"

	"serin/cmd/internal/human"
	"serin/probe"
)

// barWidth is the length of the bar of phases, in characters.
const barWidth = 32

// phaseStep is one phase of a probe: a letter for the bar, a name, a length.
type phaseStep struct {
	letter string
	name   string
	d      time.Duration
}

// phaseSteps cuts a probe into phases that follow one another, from the call to the end of the stream, or to the moment at
// which it was given up.
func phaseSteps(s *probe.Sample, d *probe.Diary) []phaseStep {
	var list []phaseStep
	at := time.Duration(0)
	add := func(letter, name string, d probe.Span) {
		if d.Known && d.D > 0 {
			list = append(list, phaseStep{letter, name, d.D})
			at += d.D
		}
	}
	until := func(letter, name string, end probe.Span) {
		add(letter, name, probe.Span{D: end.D - at, Known: end.Known})
	}
	add("d", "dns", s.DNS)
	add("c", "connect", s.Connect)
	add("t", "tls", s.TLS)
	until("s", "send", s.Sent)
	until("w", "wait for the first byte", s.TTFB)
	until("p", "for the first token", s.TTFT)
	if s.TTFA.Known && s.TTFA.D > s.TTFT.D {
		until("r", "reasoning", s.TTFA)
	}
	if s.Outcome.Success() {
		until("a", "answer", s.E2E)
		until("e", "end", s.StreamTotal)
		return list
	}
	took := probe.Known(d.Took)
	switch {
	case !s.Sent.Known:
		letter, name := brokenPhase(d.Cause.Phase)
		until(letter, name, took)
	case !s.TTFB.Known:
		until("w", "wait for the first byte, which did not come", took)
	case !s.TTFT.Known:
		until("n", "no token", took)
	default:
		if n := len(d.Events); n > 0 {
			until("a", "part of an answer", probe.Known(d.Events[n-1].At))
		}
		until("n", "nothing more", took)
	}
	return list
}

// brokenPhase names the phase before the request was sent in which a probe ended.
func brokenPhase(phase string) (letter, name string) {
	switch phase {
	case "dns":
		return "d", "dns, without an answer"
	case "tls":
		return "t", "tls, not done"
	}
	return "c", "connect, not done"
}

// phaseText draws the phases as a bar, and says those that a person can see in it.
func phaseText(s *probe.Sample, d *probe.Diary) string {
	list := phaseSteps(s, d)
	var total time.Duration
	for _, p := range list {
		total += p.d
	}
	if total == 0 {
		return ""
	}
	var bar strings.Builder
	var parts []string
	for _, p := range list {
		share := float64(p.d) / float64(total)
		if share < 0.005 && p.d < 10*time.Millisecond {
			continue
		}
		bar.WriteString(strings.Repeat(p.letter, max(1, int(math.Round(share*barWidth)))))
		parts = append(parts, p.letter+" "+p.name+" "+human.Span(probe.Known(p.d)))
	}
	return "[" + bar.String() + "] " + strings.Join(parts, " · ")
}
