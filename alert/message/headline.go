package message

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert"
)

// headline says an open incident as a colleague would: who, what, how much, what is usual, the factor.
func (v view) headline() string {
	if _, _, ok := v.credential(); ok {
		return v.keyHeadline()
	}
	switch len(v.now) {
	case 0:
		return v.Incident.Scope + ": trouble"
	case 1:
		return joined("; ", v.sentence(v.now[0]), v.ofGroup())
	}
	return v.groupHeadline()
}

// sentence is what one target has: gw-eu (qwen2.5-72b) is slow: first token 701 ms, usually 300 ms (2.3x).
func (v view) sentence(t trouble) string { return v.who(t) + " " + v.predicate(t) }

// who names a target with its title and model.
func (v view) who(t trouble) string {
	p := t.target.Target
	if p == nil {
		return t.name
	}
	if title := alert.OneLine(p.Title, 60); title != "" && title != t.name {
		return title + " (" + joined(", ", t.name, alert.OneLine(p.Model, 60)) + ")"
	}
	if p.Model == "" {
		return t.name
	}
	return t.name + " (" + alert.OneLine(p.Model, 60) + ")"
}

func (v view) predicate(t trouble) string {
	a := t.alerts[0]
	switch {
	case t.isRecovering() && t.isSlow():
		return "is recovering: " + v.calming(t)
	case t.isRecovering():
		return "answers again: " + lastGood(a) + v.failed(t, ", after ")
	case t.isSlow():
		return "is slow: " + v.slowness(t)
	case a.Kind == alert.KindNoData:
		return joined(": ", "has not been probed for "+elapsed(v.Now.Sub(a.Began())), alert.OneLine(a.Last.Reason, 200))
	case a.Kind == alert.KindLimit:
		return "is rate-limited: our quota at this provider is exhausted" + v.failed(t, ", ")
	case a.Kind == alert.KindTimeout:
		return "times out: " + v.cause(t, a) + v.failed(t, ", ") + v.also(t, alert.KindError)
	}
	return "fails: " + v.cause(t, a) + v.failed(t, ", ") + v.also(t, alert.KindTimeout)
}

// also adds the other kind of failure of a target.
func (v view) also(t trouble, k alert.Kind) string {
	list := t.of(k)
	if len(list) == 0 {
		return ""
	}
	verb := map[alert.Kind]string{alert.KindTimeout: "timeouts", alert.KindError: "errors"}[k]
	return "; " + verb + " too: " + v.cause(t, list[0])
}

// cause is the outcome in words with the limit it ran into, or with the endpoint's reason.
func (v view) cause(t trouble, a alert.Alert) string {
	e := a.Last
	text := e.Outcome.Words()
	switch {
	case e.Outcome == "":
		return string(a.Kind) + "s"
	case e.TimedOut():
		return text + v.within(t, a)
	case e.Reason != "":
		text += " (" + alert.OneLine(e.Reason, 100) + ")"
	}
	return text
}

// within is how long a timeout waited: within 30 s.
func (v view) within(t trouble, a alert.Alert) string {
	if c := v.canary(t); c != nil && t.target.Target != nil {
		if d := t.target.TimeoutOf(a.Last.Outcome, c.Size); d > 0 {
			return " within " + elapsed(d)
		}
	}
	if a.Last.Outcome == "skipped" {
		return ""
	}
	return " in time"
}

// failed says how many of the newest checks failed, behind a separator: 3 of the last 4 checks.
func (v view) failed(t trouble, sep string) string {
	bad, all := 0, 0
	for _, a := range t.of(t.alerts[0].Kind) {
		b, n := failures(a)
		bad, all = bad+b, all+n
	}
	if bad == 0 || all < 2 {
		return ""
	}
	return sep + fmt.Sprintf("%d of the last %s", bad, count(all, "check"))
}

// failures counts the newest checks of an alert, and those that failed its way. A rate over a whole target has no votes.
func failures(a alert.Alert) (bad, all int) {
	if len(a.Votes) == 0 {
		return map[alert.Kind]int{alert.KindTimeout: a.Timeouts, alert.KindError: a.Errors}[a.Kind], a.Probes
	}
	votes := a.Votes[max(0, len(a.Votes)-newest):]
	for _, vote := range votes {
		if vote.SpeaksFor(a.Kind) {
			bad++
		}
	}
	return bad, len(votes)
}

// newest is how many of the newest checks a count looks at.
const newest = 6

// lastGood says how many of the newest checks were good.
func lastGood(a alert.Alert) string {
	n := 0
	for _, vote := range slices.Backward(a.Votes) {
		if vote.SpeaksFor(a.Kind) {
			break
		}
		n++
	}
	if n < 2 {
		return "the last check was good"
	}
	return fmt.Sprintf("the last %d checks were good", n)
}

// groupName names the incident's group as in "of gateway"; "" where it is about one target.
func (v view) groupName() string {
	switch v.groupKind() {
	case "provider", "host", "credential":
		return alert.OneLine(v.Incident.Scope, 80)
	}
	return ""
}

// ofGroup says how many of how many are in trouble: 1 of 12 targets of gateway.
func (v view) ofGroup() string {
	if len(v.Group) < 2 || v.groupName() == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d targets of %s", len(v.now), v.groupSize(), v.groupName())
}

// groupSize counts the targets of the group, with those of the incident that left it.
func (v view) groupSize() int { return max(len(v.Group), len(v.now)+len(v.over)) }

// groupHeadline says what several targets have: gateway: 3 of 12 targets slow, first token 2.3x of usual, worst gw-eu 4.2x.
func (v view) groupHeadline() string {
	words := v.classes()
	head := fmt.Sprintf("%s: %d of %d targets ", joined("", v.groupName(), v.scopeOnly()), len(v.now), v.groupSize())
	if len(words) > 1 {
		var parts []string
		for _, w := range words {
			parts = append(parts, fmt.Sprintf("%d %s", w.n, w.word))
		}
		return head + "in trouble: " + strings.Join(parts, ", ")
	}
	return head + words[0].word + v.spread()
}

func (v view) scopeOnly() string {
	if v.groupName() == "" {
		return alert.OneLine(v.Incident.Scope, 80)
	}
	return ""
}

// class says with one word what a target has.
func (t trouble) class() string {
	switch a := t.alerts[0]; {
	case t.isRecovering():
		return "recovering"
	case t.isSlow():
		return "slow"
	case a.Kind == alert.KindTimeout:
		return "timing out"
	case a.Kind == alert.KindLimit:
		return "rate-limited"
	case a.Kind == alert.KindNoData:
		return "not probed"
	}
	return "failing"
}

type wordCount struct {
	word string
	n    int
}

// classes counts what the targets in trouble have, the most frequent first.
func (v view) classes() []wordCount {
	var out []wordCount
	for _, t := range v.now {
		i := slices.IndexFunc(out, func(w wordCount) bool { return w.word == t.class() })
		if i < 0 {
			i = len(out)
			out = append(out, wordCount{word: t.class()})
		}
		out[i].n++
	}
	slices.SortStableFunc(out, func(a, b wordCount) int { return b.n - a.n })
	return out
}

// spread says how bad it is on several targets of one class.
func (v view) spread() string {
	lead := v.now[0]
	if lead.isRecovering() {
		return ""
	}
	if !lead.isSlow() {
		if lead.alerts[0].Last.Outcome == "" {
			return ""
		}
		return ": " + v.cause(lead, lead.alerts[0])
	}
	k := lead.alerts[0].Kind
	var all []float64
	worst, name := 0.0, ""
	for _, t := range v.now {
		r := v.ratioOf(t, k)
		if r <= 0 {
			continue
		}
		if all = append(all, r); r > worst {
			worst, name = r, t.name
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s %s of usual at the median, worst %s (%s)", metricName(k), times(median(all)), name, times(worst))
}

// ratioOf is how slow a target is in a metric, 0 where it is not.
func (v view) ratioOf(t trouble, k alert.Kind) float64 {
	if list := v.readings(t, k); len(list) > 0 {
		return list[0].ratio
	}
	for _, a := range t.of(k) {
		return a.Last.Ratio
	}
	return 0
}

// keyHeadline says whose key is refused or exhausted: key GATEWAY_API_KEY is refused by gateway: 3 targets.
func (v view) keyHeadline() string {
	provider, key, _ := v.credential()
	lead, ok := v.lead()
	provider, key = alert.OneLine(provider, 80), alert.OneLine(key, 80)
	whom := v.concerned()
	switch {
	case ok && lead.isRecovering():
		return joined(" of ", "key "+key, provider) + " works again: the last check was good; " + whom
	case ok && lead.alerts[0].Last.Outcome == "quota":
		return joined(" at ", "the quota of key "+key, provider) + " is used up: " + whom
	case ok && lead.target.Target != nil && lead.target.APIKey.IsZero():
		return joined(" ", provider, "wants a key, and none is set: "+whom)
	}
	return joined(" by ", "key "+key+" is refused", provider) + ": " + whom
}

// concerned says how many targets use a credential.
func (v view) concerned() string {
	if n := max(len(v.Group), len(v.now)); n > 1 {
		return fmt.Sprintf("%d targets", n)
	}
	if lead, ok := v.lead(); ok {
		return v.who(lead)
	}
	return v.Incident.Scope
}
