package message

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert"
)

// thread tells what changed, one line each. Each line names its target, since it stands alone on channels without threads.
func (v view) thread() alert.Message {
	m := v.frame(alert.MessageUpdate)
	news := slices.SortedStableFunc(slices.Values(v.News), func(a, b News) int { return rank(a.What) - rank(b.What) })
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
	m.Mention = slices.ContainsFunc(news, func(n News) bool { return n.What == NewsEscalated || n.What == NewsReopened }) && v.mentions()
	m.Lines = v.newsLines(news)
	return m
}

func (v view) newsLines(news []News) []alert.Line {
	var b body
	for i, n := range news[1:] {
		if i == maxTargets {
			b.add("detail", fmt.Sprintf("and %d more changes", len(news)-1-i))
			break
		}
		b.add("detail", v.say(n))
	}
	if news[0].What == NewsReminder {
		b.add("do", v.acceptLine())
	}
	return b
}

// rank orders news: what is wrong before what ended, so that the first is the headline.
func rank(w What) int {
	order := []What{NewsReminder, NewsEscalated, NewsReopened, NewsTargetJoined, NewsSlower, NewsJoined, NewsPaused, NewsAckEnded,
		NewsUnmuted, NewsAcked, NewsMuted, NewsInhibited, NewsRecovering, NewsTargetRecovered, NewsEnded}
	return slices.Index(order, w)
}

// acceptLine says how a lasting level becomes normal.
func (v view) acceptLine() string {
	if len(v.now) == 0 || !v.now[0].isSlow() || v.now[0].isRecovering() {
		return ""
	}
	return "if this level is here to stay: serin accept " + v.Incident.ID + " --why TEXT"
}

// say says one thing that changed.
func (v view) say(n News) string {
	detail := alert.OneLine(n.Detail, 300)
	switch n.What {
	case NewsReminder:
		return "still firing after " + elapsed(v.Now.Sub(began(v.firingAlerts()))) + ": " + v.headline()
	case NewsEscalated:
		return "escalated to " + strings.ToUpper(string(v.Incident.Severity)) + ": " + v.headline()
	case NewsReopened:
		return v.reopened() + v.about(n)
	case NewsTargetJoined:
		return joined(": ", v.now2(), v.about(n))
	case NewsAcked:
		return v.scopeName() + ": " + v.ackedBy(detail)
	case NewsAckEnded:
		return joined(" ", "the ack has ended: reminders begin again.", v.headline())
	case NewsMuted:
		return v.about(n) + ", " + v.mutedBy(n)
	case NewsUnmuted:
		return "no longer muted: " + v.about(n)
	case NewsPaused:
		return joined(": ", v.headline(), v.pause())
	}
	return v.sayAlert(n, detail)
}

// sayAlert says what happened to one alert.
func (v view) sayAlert(n News, detail string) string {
	i := slices.IndexFunc(v.alerts, func(a alert.Alert) bool { return a.ID == n.Alert })
	if n.What == NewsTargetRecovered {
		return joined("; ", v.over1(v.ended(n.Target)), joined(" ", v.ofGroup(), v.stillIn()))
	}
	if i < 0 {
		return v.scopeName() + ": " + string(n.What)
	}
	a := v.alerts[i]
	t := trouble{name: a.Target(), target: v.targetOf(a.Target()), alerts: []alert.Alert{a}}
	switch n.What {
	case NewsEnded:
		return v.over1(t)
	case NewsInhibited:
		return v.who(t) + ": " + subject(a.Kind) + " inhibited by " + detail
	case NewsSlower:
		return v.who(t) + " is slower still: " + v.slowness(t) + v.slower(a)
	case NewsRecovering:
		return joined("; ", v.sentence(t), v.watched(t))
	}
	return joined(" / ", v.sentence(t)) + v.which(t)
}

// slower is by how much the level of the last 24 h is exceeded.
func (v view) slower(a alert.Alert) string {
	if a.Slower <= 0 {
		return ""
	}
	return ", " + times(a.Slower) + " of its last 24 h"
}

// which names the canary of an alert where its target has several.
func (v view) which(t trouble) string {
	if label := t.labelOf(t.alerts[0].Series); label != "" && len(t.target.Canaries) > 1 {
		return " (" + label + ")"
	}
	return ""
}

// ended gathers the ended alerts of a target.
func (v view) ended(name string) trouble {
	t := trouble{name: name, target: v.targetOf(name)}
	for _, a := range v.alerts {
		if a.Target() == name && !a.IsFiring() {
			t.alerts = append(t.alerts, a)
		}
	}
	return t
}

// now2 says how far it has grown: now 2 of 12 targets of gateway.
func (v view) now2() string {
	if text := v.ofGroup(); text != "" {
		return "now " + text
	}
	return ""
}

func (v view) stillIn() string {
	if v.ofGroup() == "" {
		return ""
	}
	return "still in trouble"
}

// about is the sentence of what news is about, else the headline.
func (v view) about(n News) string {
	name := n.Target
	for _, a := range v.alerts {
		if a.ID == n.Alert && n.Alert != "" {
			name = a.Target()
		}
	}
	if i := v.at(v.now, name); i >= 0 {
		return v.sentence(v.now[i])
	}
	return v.headline()
}

// mutedBy says by what the alert of news is muted.
func (v view) mutedBy(n News) string {
	for _, m := range v.Incident.Members {
		if (n.Alert == "" || m.Alert == n.Alert) && m.Mute != (alert.Mute{}) {
			return muteText(m.Mute, v.Now, v.zone)
		}
	}
	return joined(" ", "muted", alert.OneLine(n.Detail, 300))
}

// reopened says that it fires again, and how often it has.
func (v view) reopened() string {
	n := len(v.Incident.Reopened) + 1
	if n < 3 {
		return "fires again: "
	}
	return fmt.Sprintf("fires again, %s time since %s: ", ordinal(n), v.time(v.Incident.Opened))
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		suffix = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if suffix == "" {
			suffix = "th"
		}
	}
	return fmt.Sprint(n) + suffix
}

// scopeName is the one target or the group.
func (v view) scopeName() string { return alert.OneLine(v.Incident.Scope, 80) }
