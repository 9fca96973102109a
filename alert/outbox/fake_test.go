package outbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
)

// memJournal keeps notices by key, as the store does, and what it looked like after each commit.
type memJournal struct {
	mu     sync.Mutex
	rows   map[string]alert.Notice
	broken bool
	each   func() // after each commit
}

func rowKey(n alert.Notice) string {
	return fmt.Sprintf("%s %s %06d", n.Channel, n.Incident, n.Revision)
}

func (j *memJournal) Commit(_ context.Context, c alert.Change) error {
	j.mu.Lock()
	if j.broken {
		j.mu.Unlock()
		return errors.New("disk full")
	}
	if j.rows == nil {
		j.rows = map[string]alert.Notice{}
	}
	for _, n := range c.Notices {
		j.rows[rowKey(n)] = n
	}
	j.mu.Unlock()
	if j.each != nil {
		j.each()
	}
	return nil
}

// restore returns what a start would find.
func (j *memJournal) restore() []alert.Notice {
	j.mu.Lock()
	defer j.mu.Unlock()
	waits, over := map[string]bool{}, map[string]bool{}
	for _, n := range j.rows {
		switch {
		case n.State == alert.NoticePending || n.State == alert.NoticeBlocked:
			waits[n.Incident] = true
		case n.Act == alert.ActResolve:
			over[n.Incident] = true
		}
	}
	var out []alert.Notice
	for _, k := range slices.Sorted(maps.Keys(j.rows)) {
		n := j.rows[k]
		open := n.Act == alert.ActOpen && (waits[n.Incident] || !over[n.Incident])
		if n.State == alert.NoticePending || n.State == alert.NoticeBlocked || open {
			out = append(out, n)
		}
	}
	return out
}

func (j *memJournal) row(n alert.Notice) alert.Notice {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rows[rowKey(n)]
}

// fakeChannel records calls with their time since the bubble began.
type fakeChannel struct {
	name    string
	edits   bool // false: as a webhook, what pages alone
	noInfo  bool
	delay   time.Duration
	answer  func(call int, n alert.Notice) error // nil: takes everything
	entered func()
	left    func() // taken or not, before the answer reaches the outbox

	mu    sync.Mutex
	start time.Time
	calls []string
	taken map[string]int
}

func (c *fakeChannel) Name() string { return c.name }

func (c *fakeChannel) Skips(n alert.Notice) bool {
	if c.noInfo && n.Act != alert.ActTest && n.Message.Severity == alert.Info {
		return true
	}
	return !c.edits && n.SkipsUnpaged()
}

func (c *fakeChannel) Send(ctx context.Context, n alert.Notice, open alert.Receipt) (alert.Receipt, error) {
	c.mu.Lock()
	c.calls = append(c.calls, fmt.Sprintf("%s %s %s.%d%s %q", time.Since(c.start), n.Act, n.Incident, n.Revision, onTop(open), n.Message.Headline))
	call, answer := len(c.calls), c.answer
	c.mu.Unlock()
	if c.entered != nil {
		c.entered()
	}
	select {
	case <-ctx.Done():
		return alert.Receipt{}, ctx.Err()
	case <-time.After(c.delay):
	}
	var err error
	if answer != nil {
		err = answer(call, n)
	}
	c.mu.Lock()
	if err == nil || errors.Is(err, errTakenAnyway) {
		if c.taken == nil {
			c.taken = map[string]int{}
		}
		c.taken[rowKey(n)]++
	}
	c.mu.Unlock()
	if c.left != nil {
		c.left()
	}
	if err != nil {
		return alert.Receipt{}, err
	}
	if !c.edits {
		return alert.Receipt{}, nil
	}
	return alert.Receipt{Channel: "C1", TS: fmt.Sprint(call)}, nil
}

var _ alert.Channel = (*fakeChannel)(nil)

// sent returns the calls so far.
func (c *fakeChannel) sent() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// heal has the channel take everything from now on.
func (c *fakeChannel) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = nil
}

// reset forgets the calls and counts time from now.
func (c *fakeChannel) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.start = nil, time.Now()
}

// errTakenAnyway is a lost answer to a message that was taken.
var errTakenAnyway = errors.New("cut after taken")

func onTop(r alert.Receipt) string {
	if r.TS == "" {
		return ""
	}
	return " on " + r.TS
}

func (c *fakeChannel) want(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range max(len(want), len(c.calls)) {
		var g, w string
		if i < len(c.calls) {
			g = c.calls[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("call %d is\n  %s, want\n  %s", i, g, w)
		}
	}
}

// bench is an outbox in a bubble.
type bench struct {
	t       *testing.T
	journal *memJournal
	box     *Outbox
	counts  map[string]int
	mu      sync.Mutex
	log     *logCount
	end     func()
}

// launch starts an outbox over channels in the bubble of the caller, with what the journal has.
func launch(t *testing.T, j *memJournal, channels ...alert.Channel) *bench {
	b := &bench{t: t, journal: j, counts: map[string]int{}, log: &logCount{}}
	b.box = New(Options{Journal: j, Channels: channels, Log: b.log.logger(), Count: func(channel, result string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.counts[channel+" "+result]++
	}})
	for _, c := range channels {
		if f, ok := c.(*fakeChannel); ok && f.start.IsZero() {
			f.start = time.Now()
		}
	}
	b.box.Restore(j.restore())
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { b.box.Run(ctx) })
	b.end = func() { cancel(); wg.Wait() }
	return b
}

// tell decides notices as the engine does: on disk first, then to the outbox.
func (b *bench) tell(notices ...alert.Notice) {
	b.t.Helper()
	_ = b.journal.Commit(b.t.Context(), alert.Change{Told: alert.Told{Notices: notices}}) // a broken journal is the test's wish
	b.box.Add(notices...)
	synctest.Wait()
}

func (b *bench) count(key string, want int) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts[key] != want {
		b.t.Errorf("%s counted %d times, want %d; all: %v", key, b.counts[key], want, b.counts)
	}
}

// forgets wants channel slack to keep those incidents alone once all others have ended long ago.
func (b *bench) forgets(but ...string) {
	b.t.Helper()
	time.Sleep(keepEnded + time.Minute)
	l := b.box.lanes["slack"]
	l.wakeUp()
	synctest.Wait()
	if got := slices.Sorted(maps.Keys(l.topics)); !slices.Equal(got, but) {
		b.t.Errorf("the lane keeps %q, want %q", got, but)
	}
}

// note makes a notice of channel "slack", decided now.
func note(incident string, revision int, act alert.Act) alert.Notice {
	state := "firing"
	if act == alert.ActResolve {
		state = "resolved"
	}
	return alert.Notice{Incident: incident, Channel: "slack", Revision: revision, Act: act, State: alert.NoticePending, Created: time.Now().Add(time.Duration(revision)),
		Message: alert.Message{Severity: alert.Warning, State: state, Incident: incident, Headline: fmt.Sprintf("%s %s", incident, act)}}
}

// advance sleeps in virtual time and lets everything settle.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
