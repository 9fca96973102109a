package alert

import (
	"cmp"
	"context"
	"time"
)

// lane is one channel's notices and the goroutine that sends them. The outbox's mutex guards it.
type lane struct {
	box     *Outbox
	name    string
	channel Channel           // nil = not configured any more
	topics  map[string]*topic // by incident, and by the id of a summary
	hold    time.Time         // until then the channel wants nothing
	next    time.Time         // pace
	opened  time.Time         // when an opening was sent last
	loud    map[string]bool   // refusals that were logged since the last wake
	running bool
	wake    chan struct{}
}

func newLane(b *Outbox, name string) *lane {
	return &lane{box: b, name: name, topics: map[string]*topic{}, loud: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// add takes a notice and returns its topic; the caller holds mu.
func (l *lane) add(n Notice) *topic {
	t, ok := l.topics[n.Incident]
	if !ok {
		t = &topic{}
		l.topics[n.Incident] = t
	}
	t.add(n)
	if n.Limited && n.NotBefore.After(l.hold) {
		l.hold = n.NotBefore
	}
	return t
}

// nudge wakes the goroutine.
func (l *lane) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been told already
	}
}

// unblock makes refused notices pending again; the caller holds mu.
func (l *lane) unblock() {
	clear(l.loud)
	for _, t := range l.topics {
		for _, n := range t.queue {
			if n.State == NoticeBlocked {
				n.State, n.NotBefore = NoticePending, time.Time{}
			}
		}
	}
}

// run sends until ctx ends or the outbox stops.
func (l *lane) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.box.stop:
			return
		default:
		}
		job, wait, changed := l.pick()
		l.box.commit(ctx, changed)
		l.skipped(changed)
		if job != nil {
			l.deliver(ctx, job)
			continue
		}
		if !l.sleep(ctx, wait) {
			return
		}
	}
}

// sleep waits until something may be due; wait < 0 is until something changes. It reports false when the lane ends.
func (l *lane) sleep(ctx context.Context, wait time.Duration) bool {
	var timer <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-l.box.stop:
		return false
	case <-l.wake:
	case <-timer:
	}
	return true
}

// job is one call: the notice in the queue, and what goes out for it.
type job struct {
	id      string // of the topic
	topic   *topic
	notice  *Notice
	out     Notice
	open    Receipt
	channel Channel
}

// pick settles the queues and returns the next call, or how long to wait for one (< 0: until something changes), and
// what changed on the way.
func (l *lane) pick() (next *job, wait time.Duration, changed []Notice) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.channel == nil {
		return nil, -1, nil
	}
	now := l.box.opt.Now()
	changed = l.settle()
	if ready := later(l.hold, l.next); now.Before(ready) {
		return nil, ready.Sub(now), changed
	}
	changed = append(changed, l.gather(now)...)
	id, at := l.first(now)
	switch {
	case id == "" && at.IsZero():
		return nil, -1, changed
	case id == "":
		return nil, at.Sub(now), changed
	}
	return l.begin(id, now), 0, changed
}

// settle settles all topics and forgets the finished ones; the caller holds mu.
func (l *lane) settle() []Notice {
	var changed []Notice
	for id, t := range l.topics {
		l.orphan(t)
		out := t.settle(l.channel.Skips)
		changed = append(changed, out...)
		if len(out) > 0 && t.finished(&out[len(out)-1]) {
			delete(l.topics, id)
		}
	}
	return changed
}

// first returns the topic whose head goes next, or when the earliest may; the caller holds mu.
func (l *lane) first(now time.Time) (id string, at time.Time) {
	for key, t := range l.topics {
		due, ok := t.due()
		if !ok || l.inSummary(t) {
			continue
		}
		if due.After(now) {
			if at.IsZero() || due.Before(at) {
				at = due
			}
			continue
		}
		if id == "" || urgent(t, l.topics[id]) < 0 {
			id = key
		}
	}
	return id, at
}

// urgent orders topics: new messages before edits and threads, graver ones first, then by time.
func urgent(a, b *topic) int {
	class := func(t *topic) int {
		if t.head().Act == ActOpen || t.head().Act == ActTest || !t.announced() {
			return 0
		}
		return 1
	}
	grave := func(t *topic) int {
		if class(t) == 0 && t.head().Message.Severity == Critical {
			return 0
		}
		return 1
	}
	x, y := a.head(), b.head()
	return cmp.Or(class(a)-class(b), grave(a)-grave(b), x.Created.Compare(y.Created), cmp.Compare(x.Incident, y.Incident))
}

// begin marks the attempt; the caller holds mu.
func (l *lane) begin(id string, now time.Time) *job {
	t := l.topics[id]
	n := t.head()
	if n.Sending {
		l.box.opt.Log.Info("sending a notice again, the answer of the last attempt was lost", l.attrs(n)...)
	}
	n.Sending, n.Limited = true, false
	n.Attempts++
	l.next = now.Add(pace)
	j := &job{id: id, topic: t, notice: n, out: *n, channel: l.channel}
	if t.announced() {
		j.open = t.open.Receipt
	}
	if n.Act == ActResolve && t.announced() && t.open.Summary != "" {
		l.endInSummary(j)
	}
	return j
}

// deliver makes one call and stores its answer.
func (l *lane) deliver(ctx context.Context, j *job) {
	l.box.commit(ctx, []Notice{l.copy(j.notice)})
	call, cancel := context.WithTimeout(ctx, sendLimit)
	receipt, err := j.channel.Send(call, j.out, j.open)
	cancel()
	if err != nil && ctx.Err() != nil {
		return // cut by a stop: the journal has the attempt without an answer
	}
	changed := l.answered(j, receipt, err)
	l.box.commit(ctx, changed)
}

func (l *lane) copy(n *Notice) Notice {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	return *n
}

func (l *lane) attrs(n *Notice) []any {
	return []any{"channel", l.name, "incident", n.Incident, "act", string(n.Act), "revision", n.Revision}
}
