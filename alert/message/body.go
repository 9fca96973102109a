package message

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"serin/alert"
)

// Bounds of a message of one breath.
const (
	maxTargets = 8 // with a line of their own
	maxNames   = 4
	maxLabels  = 4
)

// body is a list of lines, what matters most first: channels with little room drop from the end.
type body []alert.Line

func (b *body) add(role, text string) {
	if text != "" {
		*b = append(*b, alert.Line{Role: role, Text: text})
	}
}

// firing is the body of an open incident.
func (v view) firing() []alert.Line {
	var b body
	lead := v.now[0]
	b.add("scope", v.concerned())
	b.add("scope", v.learning(lead))
	b.add("scope", v.pause())
	b.add("scope", v.ack())
	for _, text := range v.mutes() {
		b.add("scope", text)
	}
	b.add("spark", joined(" · ", v.spark(lead), v.marks(began(v.firingAlerts()))))
	looks, do := v.hint(lead)
	b.add("hint", looks)
	if do != "" {
		b.add("do", "do: "+do)
	}
	return append(b, v.perTarget(v.now, v.sentence)...)
}

func (v view) firingAlerts() (list []alert.Alert) {
	for _, t := range v.now {
		list = append(list, t.alerts...)
	}
	return list
}

// concerned says since when, and whom it concerns.
func (v view) concerned() string {
	from := began(v.firingAlerts())
	since := fmt.Sprintf("since %s (%s)", moment(from, v.Now, v.zone, hourZone), elapsed(v.Now.Sub(from)))
	lead := v.now[0]
	if _, _, ok := v.credential(); ok {
		return joined(" · ", since, "used by "+listed(v.Group, maxTargets))
	}
	if len(v.now) > 1 || len(v.over) > 0 {
		return joined(" · ", since, v.first(), v.targets(), v.scenes())
	}
	return joined(" · ", since, v.watched(lead), joined("; ", v.sizes(lead), v.siblings(lead)), v.scenes(), lead.labels())
}

// first names the target on which it began.
func (v view) first() string {
	if len(v.now) < 2 {
		return ""
	}
	t := slices.MinFunc(v.now, func(a, b trouble) int { return began(a.alerts).Compare(began(b.alerts)) })
	return "first on " + t.name
}

// watched says until when a recovering target is watched.
func (v view) watched(t trouble) string {
	until := t.alerts[0].Watched
	for _, a := range t.alerts {
		if a.Watched.After(until) {
			until = a.Watched
		}
	}
	if !t.isRecovering() || !until.After(v.Now) {
		return ""
	}
	return "watched until " + v.time(until)
}

// targets lists the group's targets: slow: gw-1 and gw-2, recovered: gw-3, 9 others fine.
func (v view) targets() string {
	var parts []string
	for _, c := range v.classes() {
		parts = append(parts, listed(c.names, maxNames)+" "+c.word)
	}
	if len(v.over) > 0 {
		var names []string
		for _, t := range v.over {
			names = append(names, t.name)
		}
		parts = append(parts, listed(names, maxNames)+" recovered")
	}
	rest := slices.DeleteFunc(slices.Clone(v.Group), func(name string) bool { return v.at(v.now, name) >= 0 || v.at(v.over, name) >= 0 })
	return joined(", ", append(parts, v.standings(rest))...)
}

// scenes are the titles of the scenes that the trouble is in.
func (v view) scenes() string {
	var titles []string
	for _, t := range v.now {
		lead := v.canary(t)
		for _, c := range t.target.Canaries {
			title := alert.OneLine(c.Scene.Title, 60)
			if title != "" && (c.Key() == lead.Key() || standing(c, false) == affected) && !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
		}
	}
	return strings.Join(titles[:min(len(titles), 3)], ", ")
}

// labels are the target's labels: team search.
func (t trouble) labels() string {
	if t.target.Target == nil {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(t.target.Labels)) {
		if len(parts) < maxLabels {
			parts = append(parts, alert.OneLine(k, 40)+" "+alert.OneLine(t.target.Labels[k], 60))
		}
	}
	return strings.Join(parts, " · ")
}

// sizes says which canaries of a target are affected; of several that are slow, by how much.
func (v view) sizes(t trouble) string {
	list := v.readings(t, t.alerts[0].Kind)
	if len(t.target.Canaries) < 2 || t.alerts[0].WholeTarget() && t.isSlow() && len(list) == 0 {
		return "" // one, or it is not known which
	}
	if !t.isSlow() || len(list) < 2 || t.isRecovering() {
		return t.standings(list)
	}
	var parts []string
	for _, r := range list[:min(len(list), maxNames)] {
		parts = append(parts, r.label+" "+seconds(r.value)+" ("+times(r.ratio)+")")
	}
	text := "affected: " + strings.Join(parts, ", ")
	if n := len(list) - len(parts); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return joined("; ", text, t.standings(list))
}

// standings groups a target's canaries by how they stand: short affected, medium and long fine. Those with a reading are
// affected; where there are several, the reading names them.
func (t trouble) standings(list []reading) string {
	by := map[string][]string{}
	for _, c := range t.target.Canaries {
		word := standing(c, !t.isSlow())
		if !t.isRecovering() && slices.ContainsFunc(list, func(r reading) bool { return r.key == c.Key() }) {
			if word = affected; len(list) > 1 {
				continue
			}
		}
		if word == fine && !t.isSlow() && t.alerts[0].Kind != alert.KindNoData {
			word = answers
		}
		by[word] = append(by[word], t.label(c))
	}
	return sayStandings(by, false)
}

// The ways in which a canary or a target stands.
const (
	affected = "affected"
	calming  = "recovering"
	suspect  = "suspect" // one bad check
	learning = "learning"
	fine     = "fine"
	answers  = "still answering" // beside an outage nothing is said of its latency
)

// standing says how a canary stands. In an outage its latencies do not count.
func standing(c alert.CanaryStatus, outage bool) string {
	word := fine
	if c.Fails != "" {
		word = suspect
	}
	for k, s := range c.States {
		switch {
		case outage && k.Metric() != "":
		case s == alert.StateFiring, s == alert.StateNoData:
			return affected
		case s == alert.StateRecovering:
			word = calming
		case s == alert.StatePending && word != calming:
			word = suspect
		case s == alert.StateLearning && word == fine:
			word = learning
		}
	}
	return word
}

// siblings says how other targets with the same scene stand.
func (v view) siblings(t trouble) string {
	c := v.canary(t)
	if c == nil {
		return ""
	}
	var names []string
	for _, o := range v.Targets {
		if o.Name != t.name && slices.ContainsFunc(o.Canaries, func(x alert.CanaryStatus) bool { return x.Scene.Name == c.Scene.Name }) {
			names = append(names, o.Name)
		}
	}
	return v.standings(names)
}

// standings groups targets by how their worst canary stands, those in trouble first.
func (v view) standings(names []string) string {
	by := map[string][]string{}
	for _, name := range names {
		word := fine
		for _, c := range v.targetOf(name).Canaries {
			if w := standing(c, false); graver(w, word) {
				word = w
			}
		}
		by[word] = append(by[word], name)
	}
	return sayStandings(by, true)
}

func standingWords() []string {
	return []string{affected, calming, suspect, learning, fine, answers}
}

func graver(a, b string) bool {
	return slices.Index(standingWords(), a) < slices.Index(standingWords(), b)
}

// sayStandings writes names by how they stand. Of many fine targets the number is enough.
func sayStandings(by map[string][]string, targets bool) string {
	var parts []string
	for _, word := range standingWords() {
		names := by[word]
		switch {
		case len(names) == 0:
		case targets && word == fine && len(names) >= maxNames:
			parts = append(parts, fmt.Sprintf("%d other targets fine", len(names)))
		default:
			parts = append(parts, listed(names, maxNames)+" "+word)
		}
	}
	return strings.Join(parts, ", ")
}

// learning says so where values could not be compared with usual.
func (v view) learning(t trouble) string {
	for _, a := range t.alerts {
		if a.Fixed && a.Learned != "" && a.Last.Limit > 0 {
			return "cannot compare with usual yet: learning, " + alert.OneLine(a.Learned, 80) + "; fixed limit " + seconds(a.Last.Limit)
		}
	}
	return ""
}

// pause says until when probing rests after a refused or exhausted key.
func (v view) pause() string {
	if !v.Paused.After(v.Now) {
		return ""
	}
	return "probing with this key pauses until " + v.time(v.Paused) + ", then one short probe tries again; to try now: serin reload"
}

// ack says who has the incident.
func (v view) ack() string {
	if v.Incident.Acked == "" {
		return ""
	}
	return v.ackedBy(v.Incident.Acked)
}

func (v view) ackedBy(who string) string {
	text := "acked by " + alert.OneLine(who, 300)
	if until := v.Incident.AckedUntil; !until.IsZero() {
		return text + ": no reminders until " + v.time(until)
	}
	return text + ": no more reminders"
}

// mutes says each silence and window once, with what it mutes where that is not all.
func (v view) mutes() []string {
	var order []alert.Mute
	by := map[alert.Mute][]string{}
	n := 0
	for _, a := range v.Alerts {
		if !a.IsFiring() {
			continue
		}
		n++
		m := v.Incident.Member(a.ID).Mute
		if m == (alert.Mute{}) {
			continue
		}
		if by[m] == nil {
			order = append(order, m)
		}
		by[m] = append(by[m], spaced(a.Series)+" ("+subject(a.Kind)+")")
	}
	var out []string
	for _, m := range order {
		text := muteText(m, v.Now, v.zone)
		if len(by[m]) < n {
			text += ": " + listed(by[m], maxNames)
		}
		out = append(out, text)
	}
	return out
}

// subject names a kind.
func subject(k alert.Kind) string {
	switch k {
	case alert.KindTimeout:
		return "timeouts"
	case alert.KindError:
		return "errors"
	case alert.KindLimit:
		return "rate limit"
	case alert.KindNoData:
		return "no data"
	}
	return metricName(k)
}

// spaced writes a series as messages do: gw-eu / chat / short.
func spaced(series string) string { return strings.ReplaceAll(series, "/", " / ") }

// tally says what was seen: 5 timeouts, 1 error in 9 checks.
func tally(a alert.Alert) string {
	var parts []string
	if a.Timeouts > 0 {
		parts = append(parts, count(a.Timeouts, "timeout"))
	}
	if a.Errors > 0 || a.Timeouts == 0 {
		parts = append(parts, count(a.Errors, "error"))
	}
	return strings.Join(parts, ", ") + " in " + count(a.Probes, "check")
}

// perTarget gives each of several targets a line.
func (v view) perTarget(list []trouble, say func(trouble) string) body {
	var b body
	if len(list) < 2 {
		return nil
	}
	for i, t := range list {
		if i == maxTargets {
			b.add("detail", fmt.Sprintf("and %d more targets", len(list)-i))
			break
		}
		b.add("detail", say(t))
	}
	return b
}
