package message

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert"
)

// headline says an open incident as a colleague would: who, what, how much, what is usual, the factor.
func (v view) headline() string {
	if provider, key, ok := v.credential(); ok {
		return v.keyHeadline(provider, key)
	}
	switch len(v.now) {
	case 0:
		return v.scope() + ": trouble"
	case 1:
		if v.now[0].isRecovering() {
			return v.sentence(v.now[0])
		}
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
	if p.Model == "" || p.Model == t.name {
		return t.name
	}
	return t.name + " (" + alert.OneLine(p.Model, 60) + ")"
}

func (v view) predicate(t trouble) string {
	a := t.alerts[0]
	switch {
	case t.isRecovering() && t.isSlow():
		return "is recovering: " + v.easing(t)
	case t.isRecovering():
		return "answers again: " + lastGood(a)
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
	return "; " + subject(k) + " too: " + v.cause(t, list[0])
}

// cause is the outcome in words with the limit it ran into, or with the endpoint's reason.
func (v view) cause(t trouble, a alert.Alert) string {
	e := a.Last
	switch {
	case e.Outcome == "":
		return subject(a.Kind)
	case e.TimedOut():
		return e.Outcome.Words() + v.within(t, e)
	case e.Reason != "":
		return e.Outcome.Words() + " (" + alert.OneLine(e.Reason, maxReason) + ")"
	}
	return e.Outcome.Words()
}

// within is how long a timeout waited: within 30 s.
func (v view) within(t trouble, e alert.Evidence) string {
	if c := v.canary(t); c != nil {
		if d := c.Target.TimeoutOf(e.Outcome, c.Size); d > 0 {
			return " within " + elapsed(d)
		}
	}
	return ""
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

// maxReason bounds what the endpoint says, in characters.
const maxReason = 200

// newest is how many of the newest checks a count looks at.
const newest = 6

// lastGood says how many of the newest checks were good, after how many bad ones.
func lastGood(a alert.Alert) string {
	n := 0
	for _, vote := range slices.Backward(a.Votes) {
		if vote.SpeaksFor(a.Kind) {
			break
		}
		n++
	}
	bad, _ := failures(a)
	return fmt.Sprintf("%s good after %d bad", count(n, "check"), bad)
}

// groupName names a group of targets; "" where the incident is about one, or about a credential.
func (v view) groupName() string {
	if kind, _, _ := strings.Cut(v.Incident.Group, "/"); kind == "provider" || kind == "host" {
		return alert.OneLine(v.Incident.Scope, 80)
	}
	return ""
}

// ofGroup says how many of how many are in trouble: 1 of 12 targets of gateway.
func (v view) ofGroup() string {
	if len(v.Group) < 2 || v.groupName() == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d targets of %s", len(v.now), len(v.Group), v.groupName())
}

// groupHeadline says what several targets have: gateway: 3 of 12 targets slow: first token up to 4.2x of usual (gw-eu).
func (v view) groupHeadline() string {
	head := fmt.Sprintf("%s: %d of %d targets ", alert.OneLine(v.Incident.Scope, 80), len(v.now), max(len(v.Group), len(v.now)))
	words := v.classes()
	if len(words) == 1 {
		return joined(": ", head+words[0].word, v.spread())
	}
	var parts []string
	for _, w := range words {
		parts = append(parts, fmt.Sprintf("%d %s", len(w.names), w.word))
	}
	return head + "in trouble: " + strings.Join(parts, ", ")
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

// class is the targets that have the same.
type class struct {
	word  string
	names []string
}

// classes groups the targets in trouble by what they have, the most first.
func (v view) classes() []class {
	var out []class
	for _, t := range v.now {
		i := slices.IndexFunc(out, func(c class) bool { return c.word == t.class() })
		if i < 0 {
			i = len(out)
			out = append(out, class{word: t.class()})
		}
		out[i].names = append(out[i].names, t.name)
	}
	slices.SortStableFunc(out, func(a, b class) int { return len(b.names) - len(a.names) })
	return out
}

// spread says how bad it is on several targets that have the same.
func (v view) spread() string {
	lead := v.now[0]
	k := lead.alerts[0].Kind
	switch {
	case lead.isRecovering():
		return ""
	case !lead.isSlow():
		return v.cause(lead, lead.alerts[0])
	}
	worst, name := 0.0, ""
	for _, t := range v.now {
		if list := v.readings(t, k); len(list) > 0 && list[0].ratio > worst {
			worst, name = list[0].ratio, t.name
		}
	}
	if name == "" {
		return ""
	}
	return metricName(k) + " up to " + times(worst) + " of usual (" + name + ")"
}

// keyHeadline says whose key is refused or exhausted: key GATEWAY_API_KEY is refused by gateway: 3 targets.
func (v view) keyHeadline(provider, key string) string {
	lead, ok := v.lead()
	if !ok {
		return "key " + key + ": trouble"
	}
	whom := fmt.Sprintf("%d targets", len(v.Group))
	if len(v.Group) < 2 {
		whom = v.who(lead)
	}
	switch {
	case lead.isRecovering():
		return "key " + key + " of " + provider + " works again: the last check was good"
	case lead.alerts[0].Last.Outcome == "quota":
		return "the quota of key " + key + " at " + provider + " is used up: " + whom
	case lead.target.Target != nil && lead.target.APIKey.IsZero():
		return provider + " wants a key, and none is set: " + whom
	}
	return "key " + key + " is refused by " + provider + ": " + whom
}
