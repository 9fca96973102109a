package alert

import (
	"slices"
	"time"
)

// maxThreads is the most thread lines of one incident that wait; the oldest go first.
const maxThreads = 20

// Why a notice is dropped without a call.
const (
	whySuperseded = "superseded by a newer edit"
	whyToldAtEnd  = "told together with the end"
	whyUnheard    = "for something never announced here"
	whySkipped    = "not for this channel"
	whyTooMany    = "too many lines wait for this thread"
	whySummary    = "told by a summary"
)

// topic is one incident on one channel: its opening, and what waits, by revision. The opening stands in the queue too
// until it is sent.
type topic struct {
	open  *Notice // nil = never heard of
	queue []*Notice
	kept  bool // came from the store
}

// add takes a notice that is not known yet.
func (t *topic) add(n Notice) {
	if slices.ContainsFunc(t.queue, func(q *Notice) bool { return q.Revision == n.Revision }) {
		return
	}
	if n.Act == ActOpen {
		if t.open != nil && t.open.Revision == n.Revision {
			return
		}
		t.open = &n
	}
	if n.State == NoticePending || n.State == NoticeBlocked {
		t.queue = sortedInsert(t.queue, &n)
	}
}

// head returns what is next, nil when nothing waits.
func (t *topic) head() *Notice {
	if len(t.queue) == 0 {
		return nil
	}
	return t.queue[0]
}

// pop takes n out of the queue.
func (t *topic) pop(n *Notice) {
	t.queue = slices.DeleteFunc(t.queue, func(q *Notice) bool { return q == n })
}

// announced reports whether the opening was taken.
func (t *topic) announced() bool { return t.open != nil && t.open.State == NoticeSent }

// waiting reports whether the opening is still to be sent.
func (t *topic) waiting() bool { return t.open != nil && slices.Contains(t.queue, t.open) }

// settle brings the queue to what is worth sending and returns the notices that changed: edits that a newer one
// supersedes go, an opening whose end is here already becomes one message with it, and nothing is said about what was
// never announced.
func (t *topic) settle(skips func(Notice) bool) []Notice {
	var changed []Notice
	drop := func(n *Notice, why string) {
		n.State, n.Error, n.Sending = NoticeDropped, why, false
		t.pop(n)
		changed = append(changed, *n)
	}
	t.promote(skips, &changed)
	for _, n := range slices.Clone(t.queue) {
		if why := t.needless(n, skips); why != "" {
			drop(n, why)
		}
	}
	if end := t.end(); end != nil && t.waiting() && t.open.Summary == "" {
		t.join(end, drop)
		changed = append(changed, *end)
	} else if end != nil && t.open != nil && t.open.State == NoticeDropped && !tellsOpening(end.Message) {
		end.Message = withoutOpening(end.Message)
		changed = append(changed, *end)
	}
	return changed
}

// promote turns an edit of something whose opening was dropped into its opening.
func (t *topic) promote(skips func(Notice) bool, changed *[]Notice) {
	if t.open == nil || t.open.State != NoticeDropped || t.end() != nil {
		return
	}
	for _, n := range slices.Backward(t.queue) { // the newest edit tells most
		as := *n
		as.Act = ActOpen
		if n.Act != ActUpdate || skips(as) {
			continue
		}
		n.Act, n.Message.Mention = ActOpen, n.Message.Severity != Info
		t.open = n
		*changed = append(*changed, *n)
		return
	}
}

// needless says why n is not worth a call, "" when it is.
func (t *topic) needless(n *Notice, skips func(Notice) bool) string {
	switch {
	case skips(*n):
		return whySkipped
	case n.Act == ActOpen || n.Act == ActTest || n.Act == ActNote:
		return ""
	case t.open == nil && t.kept && n.Act == ActResolve:
		return "" // an end is told rather twice than never, should the store have lost the opening
	case t.open == nil:
		return whyUnheard
	case t.open.State == NoticeDropped && (n.Act != ActResolve || t.open.Error == whySkipped):
		return whyUnheard
	case n.Revision < t.open.Revision:
		return whySuperseded
	case n.Act == ActUpdate && t.open.Summary != "":
		return whySummary
	case n.Act == ActUpdate && t.after(n, ActUpdate, ActResolve) > 0:
		return whySuperseded
	case n.Act == ActThread && t.after(n, ActThread) >= maxThreads:
		return whyTooMany
	}
	return ""
}

// after counts the later notices of those acts.
func (t *topic) after(n *Notice, acts ...Act) int {
	count := 0
	for _, q := range t.queue {
		if q.Revision > n.Revision && slices.Contains(acts, q.Act) {
			count++
		}
	}
	return count
}

// end returns the resolve that waits, nil when there is none.
func (t *topic) end() *Notice {
	for _, n := range t.queue {
		if n.Act == ActResolve {
			return n
		}
	}
	return nil
}

// join makes one message of an opening that never got out and its end. The end inherits the opening's waits.
func (t *topic) join(end *Notice, drop func(*Notice, string)) {
	end.Message = withoutOpening(end.Message)
	end.State, end.NotBefore, end.Limited, end.Attempts = t.open.State, t.open.NotBefore, t.open.Limited, t.open.Attempts
	for _, n := range slices.Clone(t.queue) {
		if n.Revision < end.Revision {
			drop(n, whyToldAtEnd)
		}
	}
}

// finished reports whether nothing more will come of the topic: its end was sent or there is nothing to end.
func (t *topic) finished(last *Notice) bool {
	return len(t.queue) == 0 && (last.Act == ActResolve || last.Act == ActTest || t.open == nil)
}

// due returns when the head may be tried; ok is false when it waits for something else than time.
func (t *topic) due() (at time.Time, ok bool) {
	n := t.head()
	if n == nil || n.State != NoticePending {
		return time.Time{}, false
	}
	return n.NotBefore, true
}
