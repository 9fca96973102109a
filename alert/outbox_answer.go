package alert

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// answered writes down what became of an attempt and returns what changed.
func (l *lane) answered(j *job, receipt Receipt, err error) []Notice {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	j.notice.Sending = false
	if err == nil {
		return l.taken(j, receipt)
	}
	return l.refused(j, err)
}

// taken stores a receipt; the caller holds mu.
func (l *lane) taken(j *job, receipt Receipt) []Notice {
	n := j.notice
	n.State, n.Sent, n.Receipt, n.Error, n.NotBefore = NoticeSent, l.box.opt.Now(), receipt, "", time.Time{}
	j.topic.pop(n)
	if n.Act == ActOpen {
		j.topic.open = n
		l.opened = n.Sent
	}
	changed := append([]Notice{*n}, l.spread(n)...)
	if j.topic.finished(n) {
		l.forget(j.id)
	}
	l.box.opt.Count(l.name, "sent")
	l.box.opt.Sent(*n)
	l.box.opt.Log.Info("notice sent", append(l.attrs(n), "attempts", n.Attempts)...)
	return changed
}

// forget drops a topic that is over, and the summary that it was the last of; the caller holds mu.
func (l *lane) forget(id string) {
	t := l.topics[id]
	delete(l.topics, id)
	if t.open != nil && t.open.Summary != "" && len(l.members(t.open.Summary)) == 0 {
		delete(l.topics, t.open.Summary)
	}
}

// refused decides what follows from an error; the caller holds mu.
func (l *lane) refused(j *job, err error) []Notice {
	n, now := j.notice, l.box.opt.Now()
	cause, ok := errors.AsType[*SendError](err)
	if !ok {
		cause = &SendError{Code: "error", Retryable: true, Lost: true}
	}
	n.Error = l.box.opt.Redact(err.Error())
	switch {
	case !cause.Retryable:
		l.block(n, cause)
	case now.Sub(n.Created) >= giveUpAfter:
		return l.giveUp(j)
	case cause.Limited:
		n.Limited, n.NotBefore = true, now.Add(cmp.Or(max(cause.RetryAfter, 0), limitedWait))
		l.hold = later(l.hold, n.NotBefore)
		l.retry(n, "limited", now)
	default:
		n.NotBefore = now.Add(backoff(n.Attempts))
		l.retry(n, "retry", now)
	}
	return []Notice{*n}
}

func (l *lane) retry(n *Notice, result string, now time.Time) {
	l.box.opt.Count(l.name, result)
	l.box.opt.Log.Warn("notice not taken, trying again", append(l.attrs(n), "wait", n.NotBefore.Sub(now), "attempts", n.Attempts, "error", n.Error)...)
}

// block keeps a notice that the channel refuses for good. It is loud once a cause.
func (l *lane) block(n *Notice, cause *SendError) {
	n.State = NoticeBlocked
	l.box.opt.Count(l.name, "blocked")
	level := slog.LevelWarn
	if !l.loud[cause.Code] {
		l.loud[cause.Code], level = true, slog.LevelError
	}
	l.box.opt.Log.Log(context.Background(), level, "channel refuses a notice; it is kept and tried again after a reload or restart",
		append(l.attrs(n), "error", n.Error)...)
}

// giveUp drops a notice, and what a summary would have told, after a day.
func (l *lane) giveUp(j *job) []Notice {
	lost := []*Notice{j.notice}
	for _, t := range l.members(j.id) {
		if t.waiting() {
			lost = append(lost, t.open)
		}
	}
	var changed []Notice
	for _, n := range lost {
		n.State, n.Sending, n.Error = NoticeDropped, false, j.notice.Error
		l.topics[n.Incident].pop(n)
		l.box.opt.Count(l.name, "dropped")
		l.box.opt.Log.Error("notice given up after a day of attempts", append(l.attrs(n), "attempts", n.Attempts, "headline", l.box.opt.Redact(n.Message.Headline), "error", n.Error)...)
		changed = append(changed, *n)
	}
	if j.topic.finished(j.notice) {
		l.forget(j.id)
	}
	return changed
}

// skipped counts and logs what was dropped without a call.
func (l *lane) skipped(changed []Notice) {
	for _, n := range changed {
		if n.State == NoticeDropped {
			l.box.opt.Count(l.name, "skipped")
			l.box.opt.Log.Debug("notice not sent", append(l.attrs(&n), "why", n.Error)...)
		}
	}
}
