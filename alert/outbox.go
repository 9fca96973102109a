package alert

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Times of delivery.
const (
	sendLimit   = 10 * time.Second // of one call
	commitLimit = 10 * time.Second // a store that hangs holds a message up no longer
	pace        = time.Second      // one message a channel
	limitedWait = 60 * time.Second // after a 429 that does not say how long
	backoffMin  = time.Second
	backoffMax  = 5 * time.Minute
	giveUpAfter = 24 * time.Hour
	longestWait = time.Hour // of a wait that the store kept: the clock may have been set back since
)

// OutboxOptions wire an Outbox to the world. Journal is needed; the rest has defaults.
type OutboxOptions struct {
	Journal  Journal
	Channels []Channel
	Log      *slog.Logger
	Redact   func(string) string                         // takes secrets out of what is logged and stored
	Count    func(channel, result string)                // called once a result, one of NoticeResults
	Now      func() time.Time                            // default time.Now
	Sent     func(n Notice)                              // called once for each notice that a channel took; it must not block
	Lease    Lease                                       // who sends, where several daemons share the journal; default SoleSender
	Reread   func(ctx context.Context) ([]Notice, error) // what the journal owes now, asked when the lease comes back
}

// NoticeResults lists what can become of an attempt: sent; retry (tried again later), limited (the channel asked to
// wait), blocked (refused for good, kept), dropped (given up after a day), skipped (superseded, or not for this channel).
func NoticeResults() []string {
	return []string{"sent", "retry", "limited", "blocked", "dropped", "skipped"}
}

// Outbox delivers notices: one goroutine a channel, so that a channel that fails holds up no other; in order within an
// incident; at least once under the key (incident, channel, revision). An attempt is in the journal before the call and
// its answer after it, so that after a crash what was taken is not sent again, and what has no answer is sent once
// more. While the journal fails it goes on from memory. It is safe for concurrent use.
type Outbox struct {
	opt     OutboxOptions
	mu      sync.Mutex // guards the lanes and all notices in them; never held across a call or a wait
	lanes   map[string]*lane
	running bool        // Run is on
	spawn   func(*lane) // starts a lane's goroutine; nil while this process may not send
	stop    chan struct{}
	stopped sync.Once
	done    chan struct{}
}

var _ Mailbox = (*Outbox)(nil)

// NewOutbox returns an outbox that sends nothing until Run.
func NewOutbox(o OutboxOptions) *Outbox {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Count == nil {
		o.Count = func(string, string) {}
	}
	if o.Sent == nil {
		o.Sent = func(Notice) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lease == nil {
		o.Lease = SoleSender{}
	}
	b := &Outbox{opt: o, lanes: map[string]*lane{}, stop: make(chan struct{}), done: make(chan struct{})}
	for _, c := range o.Channels {
		b.lane(c.Name()).channel = c
	}
	return b
}

// lane returns the lane of a channel, made when it is new; the caller holds mu or is alone.
func (b *Outbox) lane(name string) *lane {
	l, ok := b.lanes[name]
	if !ok {
		l = newLane(b, name)
		b.lanes[name] = l
	}
	return l
}

// Restore takes what the store kept, before Run. Blocked notices are tried again; waits and attempts go on where they
// were.
func (b *Outbox) Restore(notices []Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range notices {
		if n.State == NoticeBlocked {
			n.State, n.NotBefore = NoticePending, time.Time{}
		}
		if !n.NotBefore.IsZero() {
			n.NotBefore = earlier(n.NotBefore, b.opt.Now().Add(longestWait))
		}
		b.lane(n.Channel).add(n).kept = true
	}
}

// Add takes notices that the journal has (or holds in memory). It never blocks; a notice that is known already is left
// as it is.
func (b *Outbox) Add(notices ...Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range notices {
		l := b.lane(n.Channel)
		if l.channel == nil {
			b.opt.Log.Error("notice for a channel that is not configured", "channel", n.Channel, "incident", n.Incident)
		}
		l.add(n)
		l.nudge()
	}
}

// Use puts other channels in force, by name, and wakes what was blocked: for a reload. Notices of a channel that is gone
// are kept.
func (b *Outbox) Use(channels []Channel) {
	b.mu.Lock()
	for _, l := range b.lanes {
		l.channel = nil
	}
	for _, c := range channels {
		l := b.lane(c.Name())
		l.channel = c
		if b.spawn != nil {
			b.spawn(l)
		}
	}
	b.mu.Unlock()
	b.Wake()
}

// Wake has what a channel refused for good tried again: for a reload.
func (b *Outbox) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		l.unblock()
		l.nudge()
	}
}

// Pending returns how many notices are not delivered yet, blocked ones too, and when the oldest of them was decided
// (zero when there is none).
func (b *Outbox) Pending() (n int, oldest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		for _, t := range l.topics {
			n += len(t.queue)
			for _, q := range t.queue {
				if oldest.IsZero() || q.Created.Before(oldest) {
					oldest = q.Created
				}
			}
		}
	}
	return n, oldest
}

// Stuck returns the configured channels whose oldest notice waits longer than limit at now, by name.
func (b *Outbox) Stuck(now time.Time, limit time.Duration) (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, l := range b.lanes {
		if l.channel != nil && slices.ContainsFunc(l.queued(), func(n *Notice) bool { return now.Sub(n.Created) > limit }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// queued returns what a lane has not delivered; the caller holds mu.
func (l *lane) queued() (list []*Notice) {
	for _, t := range l.topics {
		list = append(list, t.queue...)
	}
	return list
}

// Stop ends Run without cutting a call under way, and waits for it. What is left stays in the journal.
func (b *Outbox) Stop() {
	b.stopped.Do(func() { close(b.stop) })
	b.mu.Lock()
	running := b.running
	b.mu.Unlock()
	if running {
		<-b.done
	}
}

// commit stores notices; a journal that fails keeps them itself and writes them later, so the caller goes on.
func (b *Outbox) commit(ctx context.Context, notices []Notice) {
	if len(notices) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	if err := b.opt.Journal.Commit(ctx, Change{Notices: notices}); err != nil {
		b.opt.Log.Warn("notices not on disk yet, delivering from memory", "notices", len(notices), "error", b.opt.Redact(err.Error()))
	}
}

// backoff returns the wait after so many attempts: 1 s, 2 s, 4 s … 5 min.
func backoff(attempts int) time.Duration {
	wait := backoffMin
	for range min(attempts-1, 20) {
		wait *= 2
	}
	return min(wait, backoffMax)
}

// byRevision orders notices of one incident.
func byRevision(a, b *Notice) int { return a.Revision - b.Revision }

// sortedInsert puts n in its place.
func sortedInsert(queue []*Notice, n *Notice) []*Notice {
	i, _ := slices.BinarySearchFunc(queue, n, byRevision)
	return slices.Insert(queue, i, n)
}
