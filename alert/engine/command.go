package engine

import (
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/probe/glob"
)

// Accept makes the level of every firing latency alert that matches the new normal, at once. pattern is a glob over
// target/scene/size, or over its first parts; who and why go into history. It returns the series accepted; an error says that the
// pattern is none, or that nothing that matches fires.
func (e *Engine) Accept(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	return e.command(pattern, now, "no latency alert of such a series fires, or it has too few values yet", func(s *series) bool {
		return s.isLatency() && s.alert.IsFiring() && !s.lead.Rule.Literal() && s.accept(e, who, why)
	})
}

// Undo takes back the acceptances of the last 7 days of every series that matches.
func (e *Engine) Undo(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	return e.command(pattern, now, "nothing was accepted there in the last 7 days", func(s *series) (done bool) {
		if !s.isLatency() || s.isWhole() {
			return false
		}
		for _, x := range slices.Backward(slices.Clone(s.lead.state.Accepts)) {
			if x.Metric == s.kind.Metric() && e.now.Sub(x.At) <= undoWithin {
				s.lead.undo(e, x, who, why)
				done = true
			}
		}
		return done
	})
}

// ResetBaseline forgets the history of every series that matches, for good: they learn anew. Their firing latency alerts end.
func (e *Engine) ResetBaseline(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	return e.command(pattern, now, "no canary matches", func(s *series) bool {
		if !s.isLatency() || s.isWhole() {
			return false
		}
		if s.alert.IsFiring() {
			s.resolve(e, alert.EndReset)
		}
		c, h := s.lead, s.lead.history(s.kind.Metric())
		h.Reset(e.now)
		h.band = h.Band(e.now)
		s.alert = s.blank()
		c.state.Armed = nil
		c.state.Accepts = slices.DeleteFunc(slices.Clone(c.state.Accepts), func(x accepted) bool { return x.Metric == h.metric })
		h.relevel(e)
		s.event(e, alert.EventReset, byWhom(why, who), alert.Evidence{})
		return true
	})
}

// command does something to every series that a pattern matches, whole targets first, and returns those where it was done.
func (e *Engine) command(pattern string, now time.Time, nothing string, do func(*series) bool) (alert.Judged, []string, error) {
	if !glob.ValidKey(pattern) {
		return alert.Judged{}, nil, fmt.Errorf("pattern %q: write target/scene/size, with * for any", pattern)
	}
	e.begin(latest(e.now, now))
	var done []string
	for _, t := range e.order {
		list := slices.Collect(t.all())
		slices.Reverse(list)
		for _, s := range list {
			if glob.MatchKey(pattern, s.key) && do(s) {
				done = append(done, s.key+" "+string(s.kind))
			}
		}
	}
	judged := e.commit()
	if len(done) == 0 {
		return judged, nil, fmt.Errorf("pattern %q: %s", pattern, nothing)
	}
	slices.Sort(done)
	return judged, done, nil
}
