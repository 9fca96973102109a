package blackbox_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// book is what was decided and told, a line each. It holds no prose: what messages say may change, who is told what and
// when may not.
type book struct {
	start    time.Time
	lines    []string
	ordinals map[string]string // incident id → #1, #2, …
	shown    map[string]string // incident id → as last written
}

func newBook(start time.Time) *book {
	return &book{start: start, ordinals: map[string]string{}, shown: map[string]string{}}
}

func (b *book) text() string { return strings.Join(b.lines, "\n") + "\n" }

// say writes a line: "1d 11:05:02 …", the day counted from the start where it is not the first.
func (b *book) say(at time.Time, format string, args ...any) {
	at = at.UTC()
	day := int(at.Sub(midnight(b.start)).Hours() / 24)
	stamp := at.Format("15:04:05")
	if day != 0 {
		stamp = fmt.Sprintf("%dd %s", day, stamp)
	}
	b.lines = append(b.lines, stamp+" "+fmt.Sprintf(format, args...))
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func (b *book) transition(x alert.Transition) {
	if x.Event != "" {
		b.say(x.At, "%s %s: event %s", x.Series, x.Kind, x.Event)
		return
	}
	b.say(x.At, "%s %s: %s → %s%s", x.Series, x.Kind, x.From, x.To, code(x.Reason))
}

// code is a reason of one word, which is no prose.
func code(reason string) string {
	if reason == "" || strings.Contains(reason, " ") {
		return ""
	}
	return ", " + reason
}

func (b *book) ordinal(id string) string {
	if b.ordinals[id] == "" {
		b.ordinals[id] = fmt.Sprintf("#%d", len(b.ordinals)+1)
	}
	return b.ordinals[id]
}

// incident writes what changed about an incident.
func (b *book) incident(at time.Time, inc alert.Incident) {
	text := fmt.Sprintf("%s %s", inc.State, inc.Severity)
	if inc.Acked != "" {
		text += ", acked"
	}
	if n := len(inc.Reopened); n > 0 {
		text += fmt.Sprintf(", fired again %d times", n)
	}
	if b.shown[inc.ID] != text {
		b.shown[inc.ID] = text
		b.say(at, "incident %s of %s: %s", b.ordinal(inc.ID), inc.Scope, text)
	}
}

// message writes what a channel took: "slack: open #1 warning mention [gw/chat/short ttft]".
func (b *book) message(at time.Time, n alert.Notice) {
	what := fmt.Sprintf("%s: %s", n.Channel, n.Act)
	if n.Incident != "" && n.Act != alert.ActNote {
		what += " " + b.ordinal(n.Incident)
	}
	what += " " + string(n.Message.Severity)
	if s := n.Message.State; s != "firing" && s != "update" && s != "resolved" {
		what += " " + s
	}
	if n.Message.Mention {
		what += " mention"
	}
	if n.Act == alert.ActThread && n.Pages {
		what += " pages"
	}
	b.say(at, "%s [%s]", what, strings.Join(about(n.Facts), ", "))
}

// about names the alerts of a notice: those that fire first, each part by name.
func about(f alert.Facts) []string {
	var open, ended []string
	for _, x := range f.Alerts {
		name := x.Alert.Series + " " + string(x.Alert.Kind)
		switch {
		case !x.Alert.IsFiring():
			ended = append(ended, name+" ended")
			continue
		case x.Inhibited != "":
			name += " held back"
		case x.Mute.IsFull():
			name += " muted"
		}
		open = append(open, name)
	}
	slices.Sort(open)
	slices.Sort(ended)
	return append(open, ended...)
}

// states writes the state of every canary and kind that is not ok, by the numbers of serin_alert_state.
func (b *book) states(at time.Time, canaries []alert.CanaryStatus, held map[string]bool) {
	for _, c := range canaries {
		var list []string
		for _, k := range alert.Kinds() {
			if v := stateNumber(c, k, held[c.Key()+" "+string(k)]); v != 0 {
				list = append(list, fmt.Sprintf("%s=%d", k, v))
			}
		}
		if list != nil {
			b.say(at, "state of %s: %s", c.Key(), strings.Join(list, " "))
		}
	}
}

func stateNumber(c alert.CanaryStatus, k alert.Kind, held bool) int {
	switch s := c.States[k]; {
	case s.IsFiring() && held:
		return 5
	case s.IsFiring():
		return 2
	case k != alert.KindNoData && c.States[alert.KindNoData].IsFiring():
		return 4
	case s == alert.StatePending:
		return 1
	case s == alert.StateLearning:
		return 3
	}
	return 0
}
