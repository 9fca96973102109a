package message

import (
	"cmp"
	"fmt"
	"slices"

	"serin/alert"
)

// update is a view whose news are told.
type update struct{ view }

// compose says what changed, one line each. Each line names its target, since it stands alone on channels without threads.
func (v update) compose() alert.Message {
	m := v.frame(alert.MessageUpdate)
	news := v.sorted()
	if len(news) == 0 {
		m.Headline = v.headline()
		return m
	}
	switch news[0].What {
	case NewsReminder:
		m.State = alert.MessageReminder
	case NewsEnded, NewsTargetRecovered:
		m.State = alert.MessageEased
	}
	m.Headline = v.say(news[0])
	m.Lines = v.newsLines(news)
	return m
}

// sorted returns the news, what is wrong before what ended; of one kind and target only the first, which says all.
func (v update) sorted() []News {
	var out []News
	for _, n := range v.News {
		if !slices.ContainsFunc(out, func(o News) bool { return o.What == n.What && v.about(o) == v.about(n) }) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b News) int { return cmp.Compare(a.What, b.What) })
	return out
}

func (v update) newsLines(news []News) []alert.Line {
	var b body
	for i, n := range news[1:] {
		if i == maxTargets {
			b.add("detail", fmt.Sprintf("and %d more changes", len(news)-1-i))
			break
		}
		b.add("detail", v.say(n))
	}
	if news[0].What == NewsReminder && len(v.now) > 0 && v.now[0].isSlow() && !v.now[0].isRecovering() {
		b.add("do", "if this level is here to stay: serin accept "+v.Incident.ID+" --why TEXT")
	}
	return b
}

// say says one thing that changed.
func (v update) say(n News) string {
	switch n.What {
	case NewsReminder:
		return "still firing after " + elapsed(v.Now.Sub(began(v.firingAlerts()))) + ": " + v.headline()
	case NewsReopened:
		return v.reopened() + v.headline()
	case NewsEscalated:
		return "escalated: " + v.headline()
	case NewsTargetJoined:
		return v.grown() + v.sentenceOf(n.Target)
	case NewsAcked:
		return v.scope() + ": " + v.ackedBy(alert.OneLine(n.Detail, 300))
	case NewsTargetRecovered:
		return joined("; still ", ending(v).end(v.trouble(n.Target)), v.ofGroup())
	}
	return v.sayAlert(n)
}

// grown says how far it has grown: now 2 of 12 targets of gateway.
func (v update) grown() string {
	if text := v.ofGroup(); text != "" {
		return "now " + text + ": "
	}
	return "also "
}

// sentenceOf says what a target has.
func (v update) sentenceOf(name string) string {
	if i := v.at(v.now, name); i >= 0 {
		return v.sentence(v.now[i])
	}
	return v.headline()
}

// sayAlert says what happened to alerts of one target.
func (v update) sayAlert(n News) string {
	t, labels := trouble{}, []string(nil)
	for _, other := range v.News {
		i := slices.IndexFunc(v.Alerts, func(a alert.Alert) bool { return a.ID == other.Alert })
		if other.What != n.What || i < 0 || v.Alerts[i].Target() != v.about(n) {
			continue
		}
		a := v.Alerts[i]
		if t.name == "" {
			t = trouble{name: a.Target(), target: v.targetOf(a.Target())}
		}
		t.alerts = append(t.alerts, a)
		if label := t.labelOf(a.Series); label != "" && len(t.target.Canaries) > 1 && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if t.alerts == nil {
		return v.headline()
	}
	sizes := listed(labels, maxNames)
	switch n.What {
	case NewsEnded:
		return joined(": ", sizes, ending(v).end(t))
	case NewsSlower:
		return v.who(t) + " is slower still: " + v.slowness(t) + ", " + times(t.alerts[0].Slower) + " of its last 24 h"
	}
	return joined(": ", joined(" ", "also", sizes), v.sentence(t))
}

// about returns the target of news.
func (v update) about(n News) string {
	for _, a := range v.Alerts {
		if a.ID == n.Alert {
			return a.Target()
		}
	}
	return n.Target
}

// reopened says that it fires again, and how often it has.
func (v update) reopened() string {
	n := len(v.Incident.Reopened) + 1
	if n < 3 {
		return "fires again: "
	}
	return fmt.Sprintf("fires again, %s time since %s: ", ordinal(n), v.time(v.Incident.Opened))
}

func ordinal(n int) string {
	if n%100 >= 11 && n%100 <= 13 {
		return fmt.Sprint(n, "th")
	}
	return fmt.Sprint(n) + cmp.Or(map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10], "th")
}

// scope names the one target or the group.
func (v view) scope() string {
	if _, key, ok := v.credential(); ok {
		return "key " + key
	}
	return alert.OneLine(v.Incident.Scope, 80)
}
