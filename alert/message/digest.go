package message

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// DigestStory is what a digest tells: what happened from one time to another that woke nobody.
type DigestStory struct {
	From, To    time.Time
	Zone        *time.Location // nil = UTC
	Transitions []Transition   // any: those that are events or changes of an endpoint are told
	Alerts      []Alert        // of severity info that fired: single canaries whose target as a whole judges
	Instance    string
	Region      string
}

// Bounds of a digest: lines of one sort.
const maxDigestLines = 12

// ComposeDigest writes the digest; ok is false where there is nothing to tell.
func ComposeDigest(s DigestStory) (m Message, ok bool) {
	changes, levels, spikes := s.sorted()
	singles := slices.DeleteFunc(slices.Clone(s.Alerts), func(a Alert) bool { return a.Severity != Info })
	if len(changes)+len(levels)+len(spikes)+len(singles) == 0 {
		return Message{}, false
	}
	m = Message{Severity: Info, State: "digest", Footer: footer(Story{Instance: s.Instance, Region: s.Region, Now: s.To, Zone: s.Zone})}
	var parts []string
	section := func(n int, noun string, lines []string) {
		if n == 0 {
			return
		}
		parts = append(parts, count(n, noun))
		for i, text := range lines {
			if i == maxDigestLines {
				text = "and " + count(len(lines)-i, "more line") + " of this sort; /api/v1/alerts/history has them all"
			}
			m.Lines = append(m.Lines, Line{Role: "detail", Text: text})
			if i == maxDigestLines {
				return
			}
		}
	}
	section(len(changes), "change", s.eventLines(changes))
	section(len(levels), "new level", s.eventLines(levels))
	section(len(singles), "canary slow alone", s.singleLines(singles))
	section(len(spikes), "odd value", s.spikeLines(spikes))
	m.Headline = "what woke nobody from " + clock(s.From, s.To, s.Zone) + " to " + onDay(s.To, s.To, s.Zone, "15:04") + ": " +
		strings.Replace(strings.Join(parts, ", "), "canary slow alones", "canaries slow alone", 1)
	return m, true
}

// sorted takes the transitions apart: changes of an endpoint, levels that became normal, and single odd values.
func (s DigestStory) sorted() (changes, levels, spikes []Transition) {
	for _, x := range s.Transitions {
		switch {
		case x.Kind == KindChange:
			changes = append(changes, x)
		case x.Event == EventSpike || x.Event == EventLow:
			spikes = append(spikes, x)
		case x.Event == EventDown || x.Event == EventAccept || x.Event == EventUndo || x.Event == EventReset:
			levels = append(levels, x)
		}
	}
	return changes, levels, spikes
}

// eventLines are one line each: 14:02 gw-eu / chat / short: the endpoint answers as model "b".
func (s DigestStory) eventLines(list []Transition) []string {
	var out []string
	for _, x := range list {
		what := ""
		if latency(x.Kind) {
			what = " " + subject(x.Kind)
		}
		out = append(out, onDay(x.At, s.To, s.Zone, "15:04")+" "+spaced(x.Series)+what+": "+oneLine(x.Reason, 300))
	}
	return out
}

// singleLines tell of alerts that their target's own judgement did not bear out.
func (s DigestStory) singleLines(list []Alert) []string {
	var out []string
	for _, a := range list {
		text := onDay(start(a), s.To, s.Zone, "15:04") + " " + spaced(a.Series) + ": " + subject(a.Kind) + " slow"
		if a.Resolved.IsZero() {
			text += " since then"
		} else {
			text += " for " + elapsed(a.Resolved.Sub(start(a)))
		}
		out = append(out, text+worst(a)+", its target as a whole was not")
	}
	return out
}

// spikeLines gather odd values by series, the most frequent first: 4 of gw-eu / chat / short TTFT, up to 8.4 s (×4.2).
func (s DigestStory) spikeLines(list []Transition) []string {
	type gathered struct {
		name string
		n    int
		far  Evidence
	}
	var by []gathered
	for _, x := range list {
		name := spaced(x.Series) + " " + subject(x.Kind)
		i := slices.IndexFunc(by, func(g gathered) bool { return g.name == name })
		if i < 0 {
			i = len(by)
			by = append(by, gathered{name: name})
		}
		by[i].n++
		if e := x.Evidence; e.Ratio > by[i].far.Ratio {
			by[i].far = e
		}
	}
	slices.SortStableFunc(by, func(a, b gathered) int { return cmp.Or(b.n-a.n, cmp.Compare(b.far.Ratio, a.far.Ratio)) })
	var out []string
	for _, g := range by {
		text := count(g.n, "odd value") + " of " + g.name
		if g.far.Ratio > 0 {
			text += ", up to " + seconds(g.far.Value) + " (" + times(g.far.Ratio) + " of usual)"
		}
		out = append(out, text)
	}
	return out
}

// spaced writes a series as messages do: gw-eu / chat / short.
func spaced(series string) string { return strings.ReplaceAll(series, "/", " / ") }
