package outbox

import (
	"slices"
	"strings"
	"time"

	"serin/alert"
)

// maxThreads is the most thread lines of one incident that wait; the oldest are dropped first. A channel that is away for
// a day gets the newest ones, not a minute of old ones.
const maxThreads = 20

// keepEnded is how long the opening of an incident that ended is kept: one that fires again goes on in its thread.
const keepEnded = 24 * time.Hour

// Why a notice is dropped without a call.
const (
	whySuperseded  = "superseded by a newer edit"
	whyJoined      = "its end is sent in its place"
	whyOpened      = "the opening says it"
	whyUnannounced = "its incident was not announced here"
	whySkipped     = "not for this channel"
	whyTooMany     = "too many lines wait for this thread"
)

// topic is one incident on one channel.
type topic struct {
	opening *alert.Notice   // nil = none known here
	waiting []*alert.Notice // by revision; the opening too until it is sent
	ended   time.Time       // when the end was sent or dropped
}

// add takes a notice that is not known yet.
func (t *topic) add(n alert.Notice) {
	i, known := slices.BinarySearchFunc(t.waiting, n.Revision, func(q *alert.Notice, revision int) int { return q.Revision - revision })
	if known || t.opening != nil && t.opening.Revision == n.Revision {
		return
	}
	if n.Act == alert.ActOpen {
		t.opening = &n
	}
	if n.State == alert.NoticePending || n.State == alert.NoticeBlocked {
		t.waiting = slices.Insert(t.waiting, i, &n)
	}
}

// head returns what is next, nil when nothing waits.
func (t *topic) head() *alert.Notice {
	if len(t.waiting) == 0 {
		return nil
	}
	return t.waiting[0]
}

// remove takes n out of the queue.
func (t *topic) remove(n *alert.Notice, now time.Time) {
	t.waiting = slices.DeleteFunc(t.waiting, func(q *alert.Notice) bool { return q == n })
	switch n.Act {
	case alert.ActResolve:
		t.ended = now
	case alert.ActOpen, alert.ActReopen:
		t.ended = time.Time{}
	}
}

// isOver reports whether nothing more can come of the topic.
func (t *topic) isOver(now time.Time) bool {
	return len(t.waiting) == 0 && (t.opening == nil || !t.ended.IsZero() && now.Sub(t.ended) > keepEnded)
}

// isAnnounced reports whether the opening was sent.
func (t *topic) isAnnounced() bool { return t.opening != nil && t.opening.State == alert.NoticeSent }

// hasOpening reports whether the opening was sent or will be.
func (t *topic) hasOpening() bool { return t.opening != nil && t.opening.State != alert.NoticeDropped }

// isSkipped reports whether the incident is none of this channel's: its opening was not for it.
func (t *topic) isSkipped() bool {
	return t.opening != nil && t.opening.State == alert.NoticeDropped && t.opening.Error == whySkipped
}

// settle brings the queue down to what is worth sending and returns the notices that changed.
func (t *topic) settle(skips func(alert.Notice) bool, now time.Time) (changed []alert.Notice) {
	drop := func(n *alert.Notice) {
		if why := t.needless(n, skips); why != "" {
			n.State, n.Error, n.Sending = alert.NoticeDropped, why, false
			t.remove(n, now)
			changed = append(changed, *n)
		}
	}
	if n := t.head(); n != nil && n == t.opening {
		drop(n)
	}
	if n := t.promote(skips); n != nil {
		changed = append(changed, *n)
	}
	for _, n := range slices.Clone(t.waiting) {
		drop(n)
	}
	if end := t.end(); end != nil && t.opening != nil && t.opening.State == alert.NoticeDropped && !saysUnsent(end.Message) {
		t.join(end)
		changed = append(changed, *end)
	}
	return changed
}

// promote makes the newest edit or reopening the opening of an incident whose opening was dropped, and returns it: an
// incident that was not for this channel, could not be sent for a day, or had ended by then, is now.
func (t *topic) promote(skips func(alert.Notice) bool) *alert.Notice {
	if t.hasOpening() || t.end() != nil {
		return nil
	}
	for _, n := range slices.Backward(t.waiting) {
		as := *n
		as.Act = alert.ActOpen
		if (n.Act == alert.ActReopen || n.Act == alert.ActUpdate && t.opening != nil) && !skips(as) {
			n.Act, n.Message.Mention = alert.ActOpen, n.Message.Severity != alert.Info
			t.opening = n
			return n
		}
	}
	return nil
}

// needless says why n need not be sent, "" where it must be.
func (t *topic) needless(n *alert.Notice, skips func(alert.Notice) bool) string {
	switch {
	case skips(*n):
		return whySkipped
	case n.Act == alert.ActOpen && t.end() != nil:
		return whyJoined
	case n.Act == alert.ActOpen || n.Act == alert.ActTest || n.Act == alert.ActNote:
		return ""
	case n.Act == alert.ActResolve && t.isSkipped():
		return whyUnannounced
	case n.Act == alert.ActResolve: // sent rather twice than never, should the store have lost the opening
		return ""
	case !t.hasOpening():
		return whyUnannounced
	case n.Act == alert.ActThread && !n.Created.After(t.opening.Created): // its news stands in the opening
		return whyOpened
	case n.Revision < t.opening.Revision || n.Act == alert.ActUpdate && t.after(n, alert.ActUpdate, alert.ActResolve) > 0:
		return whySuperseded
	case n.Act == alert.ActThread && t.after(n, alert.ActThread) >= maxThreads:
		return whyTooMany
	}
	return ""
}

// after counts the later notices of those acts.
func (t *topic) after(n *alert.Notice, acts ...alert.Act) (count int) {
	for _, q := range t.waiting {
		if q.Revision > n.Revision && slices.Contains(acts, q.Act) {
			count++
		}
	}
	return count
}

// end returns the resolve that waits, nil when there is none.
func (t *topic) end() *alert.Notice {
	for _, n := range t.waiting {
		if n.Act == alert.ActResolve {
			return n
		}
	}
	return nil
}

// unsent is what a resolve says whose opening was never sent.
const unsent = "This ended before its opening could be sent: this is its only message."

// join makes the end say that the opening was never sent. It mentions nobody, for it is over, and inherits the
// opening's waits.
func (t *topic) join(end *alert.Notice) {
	end.Message.Mention = false
	end.Message.Lines = append([]alert.Line{{Role: "scope", Text: unsent}}, end.Message.Lines...)
	if end.Attempts == 0 {
		end.NotBefore, end.Limited, end.Attempts = t.opening.NotBefore, t.opening.Limited, t.opening.Attempts
	}
}

// saysUnsent reports whether a resolve says already that its opening was never sent.
func saysUnsent(m alert.Message) bool {
	return slices.ContainsFunc(m.Lines, func(l alert.Line) bool { return strings.HasSuffix(l.Text, unsent) })
}
