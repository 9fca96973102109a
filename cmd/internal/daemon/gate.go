package daemon

import (
	"sync"
	"time"

	"serin/probe"
)

// lockedOutEvery is how often one canary of a credential still probes after auth or quota failed: often enough to see
// the cure, seldom enough to cost nothing.
const lockedOutEvery = 15 * time.Minute

// gate says which due runs are not worth sending: the endpoint asked to wait, or its credential is refused.
type gate struct {
	mu    sync.Mutex
	until map[string]time.Time // target → end of its Retry-After
	shut  map[string]*lockout  // credential → what it was refused for
}

// lockout is one refused credential.
type lockout struct {
	reason string    // auth, quota
	last   time.Time // newest probe let through
	before time.Time // the one before it
}

func newGate() *gate {
	return &gate{until: map[string]time.Time{}, shut: map[string]*lockout{}}
}

// credentialOf names what shares a refusal: the provider and where its key comes from.
func credentialOf(t *probe.Target) string { return t.Provider + "\x00" + t.APIKey.Label() }

// allow reports whether a regular run of t may be sent at now; if not, why. One that is let through although its
// credential is refused is the trial of a quarter of an hour: unsent gives it back.
func (g *gate) allow(t *probe.Target, now time.Time) (reason string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if end, held := g.until[t.Name]; held {
		if now.Before(end) {
			return probe.ReasonRetryAfter, false
		}
		delete(g.until, t.Name)
	}
	l := g.shut[credentialOf(t)]
	if l == nil {
		return "", true
	}
	if now.Sub(l.last) < lockedOutEvery {
		return l.reason, false
	}
	l.before, l.last = l.last, now
	return "", true
}

// pausedUntil returns until when t is not probed regularly.
func (g *gate) pausedUntil(t *probe.Target, now time.Time) (until time.Time, paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.shut[credentialOf(t)]; l != nil {
		until = l.last.Add(lockedOutEvery)
	}
	if end := g.until[t.Name]; end.After(until) {
		until = end
	}
	return until, until.After(now)
}

// unsent takes back that a run of t was let through at now.
func (g *gate) unsent(t *probe.Target, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.shut[credentialOf(t)]; l != nil && l.last.Equal(now) {
		l.last = l.before
	}
}

// observe learns from a finished probe.
func (g *gate) observe(t *probe.Target, s *probe.Sample, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.RetryAfter > 0 && s.Outcome.Family() != probe.FamilyOK {
		g.until[t.Name] = now.Add(s.RetryAfter)
	}
	key := credentialOf(t)
	switch {
	case s.Outcome == probe.Auth || s.Outcome == probe.Quota:
		g.shut[key] = &lockout{reason: string(s.Outcome), last: now}
	case s.Outcome.Family() == probe.FamilyOK:
		delete(g.shut, key)
	}
}

// reset forgets everything: a reload may have brought the cure.
func (g *gate) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.until)
	clear(g.shut)
}
