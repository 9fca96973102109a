package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"serin/alert"
)

// Times of delivery.
const (
	callTimeout   = 10 * time.Second // of one call to a channel
	commitTimeout = 10 * time.Second // a store that hangs holds a message up no longer
	pace          = time.Second      // between two messages on one channel
	limitedWait   = 60 * time.Second // after a 429 that does not say how long
	backoffMin    = time.Second
	backoffMax    = 5 * time.Minute
	giveUpAfter   = 24 * time.Hour
	maxStoredWait = time.Hour // of a wait found in the store: the clock may have been set back since
)

// Options wire an Outbox to the world. Journal is required; the rest has defaults.
type Options struct {
	Journal  alert.Journal
	Channels []alert.Channel
	Log      *slog.Logger
	Redact   func(string) string // takes secrets out of what is logged and stored
	// Count is called with what became of an attempt: sent; retry (tried again later), limited (the channel asked to wait),
	// blocked (refused for good, kept), dropped (given up after a day), skipped (superseded, or not for this channel).
	Count func(channel, result string)
	Now   func() time.Time     // default time.Now
	Sent  func(n alert.Notice) // called once for each notice that a channel accepted; it must not block
}

// Outbox sends notices with one goroutine a channel, so that a channel that fails holds up no other. While the journal
// fails it goes on from memory. It is safe for concurrent use.
type Outbox struct {
	opt     Options
	mu      sync.Mutex // guards the lanes and all notices in them; never held across a call or a wait
	lanes   map[string]*lane
	start   func(*lane) // starts a lane's goroutine; nil unless Run is on
	stop    chan struct{}
	stopped sync.Once
	running bool // Run is on
	done    chan struct{}
}

// New returns an outbox that sends nothing until Run.
func New(o Options) *Outbox {
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
		o.Sent = func(alert.Notice) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Outbox{opt: o, lanes: map[string]*lane{}, stop: make(chan struct{}), done: make(chan struct{})}
	for _, c := range o.Channels {
		b.lane(c.Name()).channel = c
	}
	return b
}

// lane returns the lane of a channel and makes it where it is new; the caller holds mu or is alone.
func (b *Outbox) lane(name string) *lane {
	l, ok := b.lanes[name]
	if !ok {
		l = newLane(b, name)
		b.lanes[name] = l
	}
	return l
}

// Restore takes what the store kept, before Run. Blocked notices become pending; waits and attempts go on where they were.
func (b *Outbox) Restore(notices []alert.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	latest := b.opt.Now().Add(maxStoredWait)
	for _, n := range notices {
		unblock(&n)
		if n.NotBefore.After(latest) {
			n.NotBefore = latest
		}
		b.lane(n.Channel).add(n)
	}
}

// Add takes notices that the journal has (or holds in memory). It never blocks, and ignores a notice that it has already.
func (b *Outbox) Add(notices ...alert.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range notices {
		l := b.lane(n.Channel)
		if l.channel == nil {
			b.opt.Log.Error("notice for a channel that is not configured", "channel", n.Channel, "incident", n.Incident)
		}
		l.add(n)
		l.wakeUp()
	}
}

// Use replaces the channels, by name, and retries what was blocked: for a reload. Notices of a channel that is gone are
// kept.
func (b *Outbox) Use(channels []alert.Channel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		l.channel = nil
	}
	for _, c := range channels {
		l := b.lane(c.Name())
		l.channel = c
		if b.start != nil {
			b.start(l)
		}
	}
	for _, l := range b.lanes {
		l.unblock()
		l.wakeUp()
	}
}

// Pending returns how many notices are not delivered yet, blocked ones too, and when the oldest of them was decided
// (zero when there is none).
func (b *Outbox) Pending() (n int, oldest time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		for _, waiting := range l.waiting() {
			n++
			if oldest.IsZero() || waiting.Created.Before(oldest) {
				oldest = waiting.Created
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
		if l.channel != nil && slices.ContainsFunc(l.waiting(), func(n *alert.Notice) bool { return now.Sub(n.Created) > limit }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Run delivers until ctx ends, which cuts a call under way, or until Stop. It runs once.
func (b *Outbox) Run(ctx context.Context) {
	defer close(b.done)
	var lanes sync.WaitGroup
	b.setStart(func(l *lane) {
		if !l.running {
			l.running = true
			lanes.Go(func() { l.run(ctx) })
		}
	})
	select {
	case <-b.stop:
	case <-ctx.Done():
	}
	b.setStart(nil)
	lanes.Wait()
}

// setStart says how lanes are started from now on, and starts those that are there.
func (b *Outbox) setStart(start func(*lane)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start = start
	if start == nil {
		return
	}
	b.running = true
	for _, l := range b.lanes {
		start(l)
	}
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
func (b *Outbox) commit(ctx context.Context, notices []alert.Notice) {
	if len(notices) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err := b.opt.Journal.Commit(ctx, alert.Change{Told: alert.Told{Notices: notices}}); err != nil {
		b.opt.Log.Warn("notices not on disk yet, delivering from memory", "notices", len(notices), "error", b.opt.Redact(err.Error()))
	}
}
