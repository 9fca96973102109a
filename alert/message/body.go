package message

import (
	"cmp"
	"fmt"
	"strings"
)

// firingLines is the body of an open incident, what matters most first: channels with little room drop from the end.
func firingLines(s Story) []Line {
	lead := s.Alerts[0]
	var out []Line
	add := func(role, text string) {
		if text != "" {
			out = append(out, Line{Role: role, Text: text})
		}
	}
	add("scope", scopeLine(s, lead))
	add("scope", fitLine(lead))
	add("scope", fixedLine(lead))
	add("scope", partsLine(s))
	add("scope", sameKeyLine(s))
	add("siblings", siblingLine(s.Siblings))
	add("scope", ackLine(s))
	add("scope", muteLine(s, lead))
	add("spark", sparkText(s))
	add("mark", markLine(s))
	add("hint", hint(s))
	add("counts", countsLine(lead))
	if r := lead.Last.Reason; len(cause(lead.Last)) > 0 && oneLine(r, 100) != oneLine(r, 500) {
		add("detail", "the endpoint says: "+oneLine(r, 500))
	}
	for _, a := range openOthers(s) {
		text := "also: " + troubleOf(s, a)
		if a.Mute != (Mute{}) {
			text += ", " + a.Mute.Text(s.Now, s.Zone)
		}
		add("detail", text)
	}
	return out
}

// scopeLine says how many of how many, and since when: 4 of the last 5 checks were slow, since 14:05 +08:00 (16 min).
func scopeLine(s Story, a Alert) string {
	since := "since " + clock(start(a), s.Now, s.Zone) + " (" + elapsed(s.Now.Sub(start(a))) + ")"
	if a.Fit != nil {
		since = "slow " + since
	} else if t := tally(a, s.N); t != "" {
		since = t + " " + wentWrong(a.Kind) + ", " + since
	}
	if s.Interval > 0 {
		since += " · one check every " + elapsed(s.Interval)
	}
	return since
}

// wentWrong is what the checks did that a tally counts.
func wentWrong(k Kind) string {
	switch k {
	case KindTimeout:
		return "timed out"
	case KindError:
		return "failed"
	case KindLimit:
		return "were rate limited"
	}
	return "were slow"
}

// fitLine says why an alert fired that no count decided: 14 checks in 6 rounds fit a lasting step up to ×1.6.
func fitLine(a Alert) string {
	f, whose := a.Fit, "this level"
	if f == nil {
		return ""
	}
	checks := count(f.Votes, observation(a))
	if !strings.Contains(a.Series, "/") {
		checks, whose = count(f.Checks, "check")+" in "+checks, "this target's level"
	}
	if f.Away {
		return fmt.Sprintf("why: for hours %s has been about %s of usual; by itself it rarely goes beyond %s", whose, times(f.Hours), times(f.Reach))
	}
	return fmt.Sprintf("why: %s fit a lasting step up to about %s; by itself %s moves by %.0f %%", checks, times(f.Ratio), whose, 100*f.Moves())
}

// worstPart is "; slowest: short 310 ms, normal 120–180 ms (×2.1)": the alert of a whole target has no value of its own.
func worstPart(s Story) string {
	if len(s.Parts) == 0 {
		return ""
	}
	return "; slowest: " + s.Parts[0].text()
}

// partsLine lists the other canaries of a whole target.
func partsLine(s Story) string {
	if len(s.Parts) < 2 {
		return ""
	}
	var list []string
	for _, p := range s.Parts[1:min(len(s.Parts), 1+maxParts)] {
		list = append(list, p.text())
	}
	return strings.Join(list, " · ")
}

// maxParts is how many canaries of a whole target are named with their numbers, beside the slowest.
const maxParts = 4

func (p Part) text() string {
	return fmt.Sprintf("%s %s, normal %s (%s)", p.Name, seconds(p.Value), between(p.Low, p.Limit), times(p.Ratio))
}

// sameKeyLine says whom a refused key concerns beside the target that tells of it.
func sameKeyLine(s Story) string {
	if len(s.SameKey) == 0 {
		return ""
	}
	return "the same key is for " + listed(s.SameKey, 6) + ": that it is refused there too is not told again"
}

// fixedLine says so where the value could not be compared with what is normal.
func fixedLine(a Alert) string {
	limit := seconds(cmp.Or(a.Last.Limit, a.Worst.Limit))
	switch {
	case !a.Fixed:
		return ""
	case a.Learned != "":
		return fmt.Sprintf("cannot compare with normal yet: learning, %s; fixed limit %s", a.Learned, limit)
	}
	return "held against the fixed limit of the config, " + limit + ", not against what is normal"
}

// ackLine says who has taken the incident.
func ackLine(s Story) string {
	if s.Incident.Acked == "" {
		return ""
	}
	return ackText(s.Incident.Acked)
}

func ackText(by string) string { return "acknowledged by " + oneLine(by, 300) + ": no more reminders" }

// muteLine says by what an alert that people know of is muted, or told as less than it is.
func muteLine(s Story, a Alert) string {
	if a.Mute == (Mute{}) {
		return ""
	}
	return a.Mute.Text(s.Now, s.Zone)
}

// siblingLine groups siblings of one sort and state: TPOT: normal · short, medium: normal · gw-us: firing.
func siblingLine(all []Sibling) string {
	var groups []string
	for _, of := range []Of{OfMetric, OfSize, OfTarget} {
		for _, state := range siblingStates() {
			if names := siblingNames(all, of, state); len(names) > 0 {
				groups = append(groups, listed(names, 6)+": "+stateWord(state))
			}
		}
	}
	return strings.Join(groups, " · ")
}

// siblingStates lists the states in the order of a sibling line: trouble first.
func siblingStates() []State {
	return []State{StateFiring, StateFlapping, StateRecovering, StateNoData, StatePending, StateSuppressed, StateOK, StateLearning}
}

func siblingNames(all []Sibling, of Of, state State) []string {
	var names []string
	for _, b := range all {
		if b.State == state && b.of() == of {
			names = append(names, oneLine(b.Name, 80))
		}
	}
	return names
}

// of returns what a sibling is, guessed from its name where it does not say.
func (b Sibling) of() Of {
	switch {
	case b.Of != "":
		return b.Of
	case latency(Kind(strings.ToLower(b.Name))):
		return OfMetric
	case b.Name == "short", b.Name == "medium", b.Name == "long", strings.Contains(b.Name, "/"):
		return OfSize
	}
	return OfTarget
}

// listed joins names, at most limit of them.
func listed(names []string, limit int) string {
	if len(names) > limit {
		return strings.Join(names[:limit], ", ") + fmt.Sprintf(" and %d more", len(names)-limit)
	}
	return strings.Join(names, ", ")
}

func stateWord(s State) string {
	switch s {
	case StateOK:
		return "normal"
	case StatePending:
		return "in doubt"
	case StateNoData:
		return "no data"
	}
	return string(s)
}

// sparkText is the last hour as a line of blocks with its lowest and highest value.
func sparkText(s Story) string {
	low, high := extent(s.Spark)
	if high == 0 || len(s.Spark) < 3 {
		return ""
	}
	return fmt.Sprintf("%s %s, last hour (%s)", sparkline(s.Spark), s.SparkOf, between(low, high))
}

// countsLine keeps the two counts apart.
func countsLine(a Alert) string {
	if a.Probes == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s in %s", count(a.Timeouts, "timeout"), count(a.Errors, "error"), count(a.Probes, observation(a)))
}
