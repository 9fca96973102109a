package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"serin/alert"
)

// lane is one channel's notices and the goroutine that sends them. The outbox's mutex guards it.
type lane struct {
	box       *Outbox
	name      string
	channel   alert.Channel     // nil = not configured any more
	topics    map[string]*topic // by incident
	notBefore time.Time         // until then nothing goes out: the pace, or what the channel asked for
	loud      map[string]bool   // refusals that were logged as errors since the last reload
	running   bool
	wake      chan struct{}
}

func newLane(b *Outbox, name string) *lane {
	return &lane{box: b, name: name, topics: map[string]*topic{}, loud: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// add takes a notice; the caller holds mu.
func (l *lane) add(n alert.Notice) {
	t, ok := l.topics[n.Incident]
	if !ok {
		t = &topic{}
		l.topics[n.Incident] = t
	}
	t.add(n)
	if n.Limited {
		l.wait(n.NotBefore)
	}
}

// wait holds the whole lane until then; the caller holds mu.
func (l *lane) wait(until time.Time) {
	if until.After(l.notBefore) {
		l.notBefore = until
	}
}

// waiting returns what is not delivered; the caller holds mu.
func (l *lane) waiting() (list []*alert.Notice) {
	for _, t := range l.topics {
		list = append(list, t.waiting...)
	}
	return list
}

// unblock makes refused notices pending again; the caller holds mu.
func (l *lane) unblock() {
	clear(l.loud)
	for _, n := range l.waiting() {
		unblock(n)
	}
}

func unblock(n *alert.Notice) {
	if n.State == alert.NoticeBlocked {
		n.State, n.NotBefore = alert.NoticePending, time.Time{}
	}
}

// wakeUp has the goroutine look again.
func (l *lane) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default: // it will look already
	}
}

// run sends until ctx ends or the outbox stops.
func (l *lane) run(ctx context.Context) {
	for {
		job, wait, changed := l.pick()
		l.box.commit(ctx, changed)
		if job != nil {
			l.deliver(ctx, job)
			wait = 0
		}
		if !l.sleep(ctx, wait) {
			return
		}
	}
}

// forever is a wait that ends only when something changes.
const forever = time.Duration(-1)

// sleep waits until something may be due or something changes. It returns false when the lane ends.
func (l *lane) sleep(ctx context.Context, wait time.Duration) bool {
	select { // an end comes before all else
	case <-ctx.Done():
		return false
	case <-l.box.stop:
		return false
	default:
	}
	var due <-chan time.Time
	if wait != forever {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-l.box.stop:
		return false
	case <-l.wake:
	case <-due:
	}
	return true
}

// job is one call: the notice in the queue, and what goes out for it.
type job struct {
	topic   *topic
	notice  *alert.Notice
	out     alert.Notice
	opening alert.Receipt
	channel alert.Channel
}

// pick brings the queues up to date and returns the next call, or how long to wait for one, and which notices changed.
func (l *lane) pick() (next *job, wait time.Duration, changed []alert.Notice) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.channel == nil {
		return nil, forever, nil
	}
	changed = l.settle()
	now := l.box.opt.Now()
	t, at := l.first(now)
	switch {
	case t == nil:
		return nil, forever, changed
	case now.Before(at):
		return nil, at.Sub(now), changed
	}
	return l.begin(t, now), 0, changed
}

// settle drops what need not be sent and forgets the topics that are over; the caller holds mu.
func (l *lane) settle() (changed []alert.Notice) {
	now := l.box.opt.Now()
	for id, t := range l.topics {
		for _, n := range t.settle(l.channel.Skips, now) {
			changed = append(changed, n)
			l.countSkipped(n)
		}
		if t.isOver(now) {
			delete(l.topics, id)
		}
	}
	return changed
}

func (l *lane) countSkipped(n alert.Notice) {
	if n.State == alert.NoticeDropped {
		l.box.opt.Count(l.name, "skipped")
		l.box.opt.Log.Debug("notice not sent", append(l.attrs(&n), "why", n.Error)...)
	}
}

// first returns the topic whose next notice goes out first and when it may, nil where none waits; the caller holds mu.
// Of those that are due the one that was decided first goes first.
func (l *lane) first(now time.Time) (next *topic, at time.Time) {
	for _, t := range l.topics {
		n := t.head()
		if n == nil || n.State != alert.NoticePending {
			continue
		}
		due := latest(n.NotBefore, l.notBefore, now)
		if next == nil || cmp.Or(due.Compare(at), compare(n, next.head())) < 0 {
			next, at = t, due
		}
	}
	return next, at
}

// compare orders notices by when they were decided.
func compare(a, b *alert.Notice) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Incident, b.Incident), a.Revision-b.Revision)
}

// begin marks the attempt; the caller holds mu.
func (l *lane) begin(t *topic, now time.Time) *job {
	n := t.head()
	if n.Sending {
		l.box.opt.Log.Info("sending a notice again, the answer of the last attempt was lost", l.attrs(n)...)
	}
	n.Sending, n.Limited = true, false
	n.Attempts++
	l.wait(now.Add(pace))
	j := &job{topic: t, notice: n, out: *n, channel: l.channel}
	if t.isAnnounced() {
		j.opening = t.opening.Receipt
	}
	return j
}

// deliver makes one call, with the attempt in the journal before it and the answer after it.
func (l *lane) deliver(ctx context.Context, j *job) {
	l.box.commit(ctx, []alert.Notice{j.out})
	call, cancel := context.WithTimeout(ctx, callTimeout)
	receipt, err := l.send(call, j)
	cancel()
	if err != nil && ctx.Err() != nil {
		return // cut by a stop: the journal has the attempt without an answer
	}
	l.box.commit(ctx, []alert.Notice{l.record(j, receipt, err)})
}

// send calls the channel. A panic in it fails this call alone.
func (l *lane) send(ctx context.Context, j *job) (receipt alert.Receipt, err error) {
	defer func() {
		if v := recover(); v != nil {
			l.box.opt.Log.Error("a fault of serin's own in a channel", append(l.attrs(&j.out), "error", l.box.opt.Redact(fmt.Sprintf("panic: %v\n%s", v, debug.Stack())))...)
			err = errors.New("a fault of serin's own; its log says where")
		}
	}()
	return j.channel.Send(ctx, j.out, j.opening)
}

func (l *lane) attrs(n *alert.Notice) []any {
	return []any{"channel", l.name, "incident", n.Incident, "act", string(n.Act), "revision", n.Revision}
}

// latest returns the last of some instants.
func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
