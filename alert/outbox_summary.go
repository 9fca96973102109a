package alert

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Openings that queue behind one sent within summaryWithin become one message when more than summaryMore of them were
// decided within summaryWithin. The members keep their openings, with Summary set; their ends are lines in its thread.
const (
	summaryMore   = 5
	summaryWithin = 60 * time.Second
	summaryPrefix = "summary-" // of a summary's id; incidents have short ids without a dash
)

// gather makes a summary of the openings that queue; the caller holds mu. It returns what changed, nothing where there
// are few.
func (l *lane) gather(now time.Time) []Notice {
	if l.opened.IsZero() || now.Sub(l.opened) > summaryWithin {
		return nil // the first goes at once, alone
	}
	members := l.crowd(now)
	if len(members) <= summaryMore {
		return nil
	}
	told := make([]Notice, 0, len(members))
	for _, n := range members {
		told = append(told, *n)
	}
	sum := Notice{Incident: summaryPrefix + members[0].Incident, Channel: l.name, Revision: 1, Act: ActOpen, Message: summarize(told),
		State: NoticePending, Created: members[0].Created}
	if l.channel.Skips(sum) { // a machine that keeps each incident by its id
		return nil
	}
	changed := []Notice{sum}
	for _, n := range members {
		n.Summary = sum.Incident
		changed = append(changed, *n)
	}
	l.add(sum)
	return changed
}

// crowd returns the openings that are due and were decided within a minute of the newest, oldest first.
func (l *lane) crowd(now time.Time) []*Notice {
	var due []*Notice
	var newest time.Time
	for _, t := range l.topics {
		if at, ok := t.due(); !ok || at.After(now) || !mayJoin(t.head()) {
			continue
		}
		due = append(due, t.head())
		newest = later(newest, t.head().Created)
	}
	due = slices.DeleteFunc(due, func(n *Notice) bool { return newest.Sub(n.Created) > summaryWithin })
	slices.SortFunc(due, func(a, b *Notice) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Incident, b.Incident))
	})
	return due
}

// mayJoin reports whether a notice is an opening that a summary may tell. Info has a channel of its own.
func mayJoin(n *Notice) bool {
	return n.Act == ActOpen && n.Summary == "" && n.Message.Severity != Info && !n.Summarizes()
}

// members returns the topics that a summary tells.
func (l *lane) members(summary string) []*topic {
	var list []*topic
	for _, t := range l.topics {
		if t.open != nil && t.open.Summary == summary {
			list = append(list, t)
		}
	}
	return list
}

// inSummary reports whether a topic waits for its summary.
func (l *lane) inSummary(t *topic) bool { return t.waiting() && t.open.Summary != "" }

// orphan frees an opening whose summary is not there or not waiting any more: it goes by itself.
func (l *lane) orphan(t *topic) {
	if !l.inSummary(t) {
		return
	}
	if sum := l.topics[t.open.Summary]; sum == nil || !sum.waiting() {
		t.open.Summary = ""
	}
}

// Summarizes reports whether a notice is one message for many incidents. Who keeps each incident by its id skips it, and
// gets each opening instead.
func (n Notice) Summarizes() bool { return strings.HasPrefix(n.Incident, summaryPrefix) }

// spread gives a summary's receipt to its members and returns them; nothing for any other notice.
func (l *lane) spread(sum *Notice) []Notice {
	if !sum.Summarizes() {
		return nil
	}
	var changed []Notice
	for _, t := range l.members(sum.Incident) {
		n := t.open
		n.State, n.Sent, n.Receipt, n.Message = NoticeSent, sum.Sent, sum.Receipt, sum.Message
		t.pop(n)
		changed = append(changed, *n)
	}
	return changed
}

// endInSummary makes a member's end a line in the summary's thread, and the last one's the summary's end too. A channel
// without threads sends each end as it is.
func (l *lane) endInSummary(j *job) {
	line := j.out
	line.Act = ActThread
	switch {
	case l.channel.Skips(line):
	case len(l.members(j.topic.open.Summary)) > 1:
		j.out = line
	default:
		j.out.Message = summaryOver(j.topic.open.Message)
		j.out.Message.Thread = line.Message.Headline
	}
}
