package outbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"serin/alert"
)

// record writes down the answer to an attempt and returns the notice as it is now.
func (l *lane) record(j *job, receipt alert.Receipt, err error) alert.Notice {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	j.notice.Sending = false
	if err == nil {
		l.recordSent(j, receipt)
	} else {
		l.recordRefused(j, err)
	}
	return *j.notice
}

// recordSent keeps the receipt; the caller holds mu.
func (l *lane) recordSent(j *job, receipt alert.Receipt) {
	n := j.notice
	n.State, n.Sent, n.Receipt, n.Error, n.NotBefore = alert.NoticeSent, l.box.opt.Now(), receipt, "", time.Time{}
	j.topic.remove(n, l.box.opt.Now())
	l.box.opt.Count(l.name, "sent")
	l.box.opt.Sent(*n)
	l.box.opt.Log.Info("notice sent", append(l.attrs(n), "attempts", n.Attempts)...)
}

// recordRefused decides what follows from an error; the caller holds mu.
func (l *lane) recordRefused(j *job, err error) {
	n, now := j.notice, l.box.opt.Now()
	cause, ok := errors.AsType[*alert.SendError](err)
	if !ok {
		cause = &alert.SendError{Code: "error", Retryable: true, Lost: true}
	}
	n.Error = l.box.opt.Redact(err.Error())
	switch {
	case !cause.Retryable:
		l.block(n, cause)
	case now.Sub(n.Created) >= giveUpAfter:
		l.giveUp(j)
	case cause.Limited:
		n.Limited, n.NotBefore = true, now.Add(cmp.Or(max(cause.RetryAfter, 0), limitedWait))
		l.wait(n.NotBefore)
		l.retry(n, "limited", now)
	default:
		n.NotBefore = now.Add(backoff(n.Attempts))
		l.retry(n, "retry", now)
	}
}

func (l *lane) retry(n *alert.Notice, result string, now time.Time) {
	l.box.opt.Count(l.name, result)
	l.box.opt.Log.Warn("notice not delivered, trying again", append(l.attrs(n), "wait", n.NotBefore.Sub(now), "attempts", n.Attempts, "error", n.Error)...)
}

// block keeps a notice that the channel refuses for good. It logs an error once a cause, then warnings.
func (l *lane) block(n *alert.Notice, cause *alert.SendError) {
	n.State = alert.NoticeBlocked
	l.box.opt.Count(l.name, "blocked")
	level := slog.LevelWarn
	if !l.loud[cause.Code] {
		l.loud[cause.Code], level = true, slog.LevelError
	}
	l.box.opt.Log.Log(context.Background(), level, "channel refuses a notice; it is kept and tried again after a reload or restart",
		append(l.attrs(n), "error", n.Error)...)
}

// giveUp drops a notice after a day of attempts.
func (l *lane) giveUp(j *job) {
	n := j.notice
	n.State = alert.NoticeDropped
	j.topic.remove(n, l.box.opt.Now())
	l.box.opt.Count(l.name, "dropped")
	l.box.opt.Log.Error("notice given up after a day of attempts", append(l.attrs(n), "attempts", n.Attempts, "headline", l.box.opt.Redact(n.Message.Headline), "error", n.Error)...)
}

// backoff returns the wait after so many attempts: 1 s, 2 s, 4 s … 5 min.
func backoff(attempts int) time.Duration {
	wait := backoffMin
	for range min(attempts-1, 20) {
		wait *= 2
	}
	return min(wait, backoffMax)
}
