package message

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxKinLines is how many targets of a provider get a line of their own.
const maxKinLines = 8

// group reports whether a story is about a whole provider.
func (s Story) group() bool { return s.Incident.Provider != "" }

// heads returns the leading alert of each target of a provider's incident, open ones first.
func heads(s Story, open bool) []Alert {
	var list []Alert
	for _, a := range s.Alerts {
		seen := slices.ContainsFunc(list, func(b Alert) bool { return targetOf(b) == targetOf(a) })
		if !seen && (!open || a.Resolved.IsZero()) {
			list = append(list, a)
		}
	}
	return list
}

// providerTrouble is the headline of a provider's incident: provider openai: errors on 7 of 12 targets (server error: HTTP 503).
func providerTrouble(s Story) string {
	list := heads(s, true)
	text := "provider " + oneLine(s.Incident.Provider, 80) + ": " + affliction(s, list)
	if len(list) > 0 && !slices.ContainsFunc(list, func(a Alert) bool { return a.State != StateRecovering }) {
		text += ", recovering"
	}
	return text
}

// affliction says what is wrong with how many targets: one word where all have the same, else each with its number.
func affliction(s Story, list []Alert) string {
	of := fmt.Sprintf(" on %d of %d targets", len(list), max(len(s.Kin), len(list)))
	kinds := countKinds(list)
	if len(kinds) != 1 {
		var parts []string
		for _, k := range kinds {
			parts = append(parts, fmt.Sprintf("%s %d", subject(k.kind), k.n))
		}
		if len(parts) == 0 {
			return "trouble" + of
		}
		return "trouble" + of + " (" + strings.Join(parts, ", ") + ")"
	}
	lead := list[0]
	if latency(lead.Kind) {
		if middle, top := spreadOf(list); middle > 0 {
			return subject(lead.Kind) + " " + times(middle) + " of normal" + of + fmt.Sprintf(" (median; worst %s)", times(top))
		}
		return subject(lead.Kind) + " slow" + of
	}
	return subject(lead.Kind) + of + cause(lead.Last)
}

type kindCount struct {
	kind Kind
	n    int
}

// countKinds counts the kinds of alerts, the most frequent first.
func countKinds(list []Alert) []kindCount {
	var out []kindCount
	for _, a := range list {
		i := slices.IndexFunc(out, func(k kindCount) bool { return k.kind == a.Kind })
		if i < 0 {
			i = len(out)
			out = append(out, kindCount{kind: a.Kind})
		}
		out[i].n++
	}
	slices.SortStableFunc(out, func(a, b kindCount) int { return b.n - a.n })
	return out
}

// spreadOf returns the median and the highest of what alerts last measured against normal; 0 where nothing is known.
func spreadOf(list []Alert) (middle, top float64) {
	var all []float64
	for _, a := range list {
		if e, _ := lately(a); e.Ratio > 0 {
			all = append(all, e.Ratio)
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	return median(all), slices.Max(all)
}

// providerLines is the body of a provider's incident that is open.
func providerLines(s Story) []Line {
	list := heads(s, true)
	mute, same := oneMute(list)
	var out []Line
	add := func(role, text string) {
		if text != "" {
			out = append(out, Line{Role: role, Text: text})
		}
	}
	add("scope", providerSince(s))
	add("siblings", kinLine(s.Kin))
	add("scope", ackLine(s))
	if same {
		add("scope", muteLine(s, Alert{Mute: mute}))
	}
	add("mark", markLine(s))
	add("hint", providerHint(s))
	add("counts", providerCounts(s))
	return append(out, targetLines(s, list, func(s Story, a Alert) string {
		text := troubleOf(s, a)
		if m := muteLine(s, a); m != "" && !same {
			text += ", " + m
		}
		return text
	})...)
}

// targetLines are one line a target, as far as a message names them.
func targetLines(s Story, list []Alert, say func(Story, Alert) string) (out []Line) {
	for i, a := range list {
		if i == maxKinLines {
			return append(out, Line{Role: "detail", Text: "and " + count(len(list)-i, "more target")})
		}
		out = append(out, Line{Role: "detail", Text: say(s, a)})
	}
	return out
}

// oneMute returns the mute of alerts, and whether it is the same for all of them.
func oneMute(list []Alert) (Mute, bool) {
	if len(list) == 0 {
		return Mute{}, false
	}
	first := list[0].Mute
	return first, !slices.ContainsFunc(list, func(a Alert) bool { return a.Mute != first })
}

// providerSince says since when, and where it began.
func providerSince(s Story) string {
	from := began(s)
	text := "since " + clock(from, s.Now, s.Zone) + " (" + elapsed(s.Now.Sub(from)) + ")"
	if len(s.Alerts) > 0 {
		text += ", first on " + targetOf(slices.MinFunc(s.Alerts, func(a, b Alert) int { return start(a).Compare(start(b)) }))
	}
	return text
}

// kinLine groups a provider's targets: in trouble: gw-1, gw-2 · well again: gw-3 · normal: gw-4.
func kinLine(kin []Kin) string {
	var order []string
	names := map[string][]string{}
	for _, k := range kin {
		word := stateWord(k.State)
		switch {
		case k.In:
			word = "in trouble"
		case k.Left && (k.State == StateOK || k.State == StateLearning):
			word = "well again"
		}
		if names[word] == nil {
			order = append(order, word)
		}
		names[word] = append(names[word], oneLine(k.Target, 80))
	}
	var groups []string
	for _, word := range order {
		groups = append(groups, word+": "+listed(names[word], 6))
	}
	return strings.Join(groups, " · ")
}

// providerHint says so where not one target is well.
func providerHint(s Story) string {
	if len(s.Kin) < 2 || slices.ContainsFunc(s.Kin, func(k Kin) bool { return !k.In }) {
		return ""
	}
	return "looks like the provider itself, or the way there: every target of it that is watched is in trouble"
}

// providerCounts sums the probes of all series, each once.
func providerCounts(s Story) string {
	var sum Alert
	seen := map[string]Alert{}
	for _, a := range s.Alerts {
		if b, ok := seen[a.Series]; strings.Contains(a.Series, "/") && (!ok || a.Probes > b.Probes) {
			seen[a.Series] = a
		}
	}
	for _, a := range seen {
		sum.Probes, sum.Timeouts, sum.Errors = sum.Probes+a.Probes, sum.Timeouts+a.Timeouts, sum.Errors+a.Errors
	}
	return countsLine(sum)
}

// providerOver is the headline of the end of a provider's incident.
func providerOver(s Story) string {
	list := heads(s, false)
	var parts []string
	for _, k := range countKinds(list) {
		parts = append(parts, subject(k.kind))
	}
	return fmt.Sprintf("provider %s: well again after %s of %s on %d of %d targets", oneLine(s.Incident.Provider, 80), elapsed(ended(s).Sub(began(s))),
		cmp.Or(strings.Join(parts, ", "), "trouble"), len(s.Incident.Targets), max(len(s.Kin), len(s.Incident.Targets)))
}

// providerOverLines is the body of the end.
func providerOverLines(s Story) []Line {
	from, to := began(s), ended(s)
	out := []Line{{Role: "scope", Text: fmt.Sprintf("from %s to %s (%s)", clock(from, s.Now, s.Zone), clock(to, s.Now, s.Zone), elapsed(to.Sub(from)))}}
	if text := providerCounts(s); text != "" {
		out = append(out, Line{Role: "counts", Text: text})
	}
	if text := markLine(s); text != "" {
		out = append(out, Line{Role: "mark", Text: text})
	}
	return append(out, targetLines(s, heads(s, false), targetOver)...)
}

// targetOver says the end of a whole target by its leading alert.
func targetOver(s Story, a Alert) string {
	a.Series = targetOf(a)
	return recoveryOf(s, a)
}

// composeMerged ends the message of one target whose trouble goes on as part of its provider's.
func composeMerged(s Story) Message {
	m := frame(s, "merged")
	m.Headline = fmt.Sprintf("%s: goes on as part of incident %s, which is about the whole provider %s", s.Incident.Scope, s.Incident.Merged, oneLine(s.Merged, 80))
	m.Link = incidentLink(s.URL, s.Incident.Merged)
	if len(s.Alerts) > 0 {
		m.Lines = []Line{{Role: "scope", Text: leadTrouble(s)}}
	}
	m.Lines = append(m.Lines, Line{Role: "hint", Text: "not over: updates and its end are told there"})
	return m
}

// targetNews tells of whole targets that came or went: also gw-7: …; several in one line each.
func targetNews(s Story, n News) string {
	i := slices.IndexFunc(s.Alerts, func(a Alert) bool {
		return targetOf(a) == n.Target && (n.What == TurnResolved || a.Resolved.IsZero())
	})
	switch {
	case i < 0:
		return n.Target + ": " + string(n.What)
	case n.What == TurnResolved:
		return targetOver(s, s.Alerts[i])
	}
	return "also: " + troubleOf(s, s.Alerts[i])
}
