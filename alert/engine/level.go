package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

const (
	levelLeast   = 3             // values that say where a level is
	presentFor   = 3 * time.Hour // whose median is the present level, or …
	presentRuns  = 12            // … as many runs, whichever is longer
	slowerStill  = 1.25          // ratio of the provisional level that is told
	undoWithin   = 7 * 24 * time.Hour
	levelRenewal = 30 * time.Minute
)

// provisional is the level of an alert's last day, ln from usual: where a fault lasts, a second one shows beside it.
type provisional struct {
	at    time.Time // when it was measured
	level float64
	known bool
}

// excludes reports whether an alert has just lasted so long that its samples leave the bands. One of a fixed limit never does: it
// would keep the band from being learned.
func (s *series) excludes(now time.Time) bool {
	if !s.isLatency() || s.alert.Excluding || s.alert.Fixed {
		return false
	}
	r := &s.lead.Rule
	return !r.Literal() && r.ExcludeAfter > 0 && now.Sub(s.alert.Fired) >= r.ExcludeAfter
}

// excludedUntil is the time from which samples of a long alert count for the bands again.
func (s *series) excludedUntil() time.Time { return s.alert.FirstBreach.Add(s.lead.Rule.ExcludeFor) }

// excludes reports whether a firing alert leaves a value of the canary out of its band.
func (c *canary) excludes(m probe.Metric, at time.Time) bool {
	out := func(s *series) bool {
		return s.alert.IsFiring() && s.alert.Excluding && at.Before(s.excludedUntil())
	}
	if out(c.of(alert.Kind(m))) {
		return true
	}
	r := c.target.round(m)
	return r != nil && c.joins() && out(r.series)
}

// exclude leaves the samples since an alert's first breach out of the bands.
func (s *series) exclude(e *Engine) {
	s.alert.Excluding = true
	to := e.now
	if until := s.excludedUntil(); until.Before(to) {
		to = until
	}
	for _, h := range s.judge.histories() {
		h.flip(e, s.alert.FirstBreach, to, true)
	}
	e.change.alert(s.alert)
	s.touch(e)
	e.log.Info("samples leave the band", "series", s.key, "kind", string(s.kind), "since", s.alert.FirstBreach, "reason", "alert lasts", "alert", s.alert.ID)
}

// include takes the good checks that ended an alert back into the bands.
func (s *series) include(e *Engine, a alert.Alert) alert.Alert {
	a.Excluding = false
	if !a.Recovered() {
		return a
	}
	s.alert = a
	for _, h := range s.judge.histories() {
		if !h.canary.excludes(h.metric, e.now) {
			h.flip(e, a.LastBreach.Add(1), e.now, false)
		}
	}
	return a
}

// flip leaves a history's values out of its bands, or takes them back in.
func (h *history) flip(e *Engine, from, to time.Time, out bool) {
	h.Exclude(from, to, out)
	e.change.Exclusions = append(e.change.Exclusions, alert.Exclusion{Canary: h.canary.key, Metric: h.metric, From: from.UnixNano(), To: to.UnixNano(), Excluded: out})
	e.change.canary(h.canary)
}

// level is how far the values since a time are from usual, ln: the median of the members' medians; false where too few are known.
func (s *series) level(from, now time.Time) (float64, bool) {
	var gaps []float64
	for _, h := range s.judge.histories() {
		if gap, n := h.Gap(from, now.Add(1)); n >= levelLeast {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return 0, false
	}
	return alert.Median(gaps), true
}

// hold looks after an alert that has fired for over a day: it ends once its level is calm beside what the days have learned since, and a
// second fault on top of it is told. At the limit itself half of the checks breach, and it would fire again at once.
func (s *series) hold(e *Engine, a alert.Alert, t alert.Turn, o alert.Observation) (alert.Alert, alert.Turn) {
	rule := &s.lead.Rule
	if o.Fixed || o.Call == baseline.NotJudged || rule.Literal() || o.At.Before(s.excludedUntil()) {
		return a, t
	}
	if e.now.Sub(s.recent.at).Abs() >= levelRenewal {
		s.recent.at = e.now
		s.recent.level, s.recent.known = s.level(e.now.Add(-rule.ExcludeFor), e.now)
	}
	offset := offsetOf(&o)
	day := s.recent.level - offset
	switch {
	case !s.recent.known:
	case t.Resolved:
		if day-s.sinceBreach(&o) < math.Log(rule.ResolveRatio) { // it did not come down
			a.Reason, t.Why = alert.EndRelearned, alert.EndRelearned
		}
	case s.isCalm(&o, offset, e.now):
		return alert.Resolve(a, alert.EndRelearned, e.now, t)
	default:
		a = s.findSlower(e, a, day)
	}
	return a, t
}

// sinceBreach is how far (ln) the observations since the newest breach are from usual: their median.
func (s *series) sinceBreach(o *alert.Observation) float64 {
	list := []float64{math.Log(o.Verdict.Ratio)}
	for _, v := range s.alert.Votes {
		if v.At.After(s.alert.LastBreach) {
			list = append(list, math.Log(v.Verdict.Ratio))
		}
	}
	return alert.Median(list)
}

// isCalm reports whether the present level is calm beside the limit that an observation was held against.
func (s *series) isCalm(o *alert.Observation, offset float64, now time.Time) bool {
	present, ok := s.level(now.Add(-max(presentFor, presentRuns*s.lead.Canary.Interval)), now)
	if !ok || o.Verdict.Z == 0 {
		return false
	}
	line, r := 2*math.Log(o.Verdict.Ratio)/o.Verdict.Z, present-offset
	return r <= line/2 || math.Exp(r) < s.lead.Rule.ResolveRatio
}

// findSlower tells of a firing alert that its newest votes are slower still than its last day, base (ln) over usual; once, until
// none of them is.
func (s *series) findSlower(e *Engine, a alert.Alert, base float64) alert.Alert {
	votes := a.Votes[max(0, len(a.Votes)-s.quorum.N):]
	over := func(v alert.Vote) bool { return math.Log(v.Verdict.Ratio)-base > math.Log(slowerStill) }
	n := 0
	for _, v := range votes {
		if over(v) {
			n++
		}
	}
	switch {
	case n == 0:
		a.Slower = 0
	case a.Slower == 0 && n >= s.quorum.M && over(votes[len(votes)-1]):
		a.Slower = a.Last.Ratio / math.Exp(base)
		s.alert = a
		s.event(e, alert.EventSlower, fmt.Sprintf("×%.2f of the last %s", a.Slower, s.lead.Rule.ExcludeFor), a.Last)
	}
	return a
}

// accepted is a slower level that a person accepted as normal, while it may still be taken back.
type accepted struct {
	Metric probe.Metric `json:"metric"`
	First  time.Time    `json:"first"` // first breach: values before it were raised
	At     time.Time    `json:"at"`
	C      float64      `json:"c"` // ln ratio of the new level to the old
	By     string       `json:"by,omitempty"`
}

// accept makes the level since an alert's first breach the normal one of each of its histories, each by its own median, and ends the
// alert; those of single canaries that fire beside a whole target's end with it.
func (s *series) accept(e *Engine, who, why string) bool {
	var gaps []float64
	for _, h := range s.judge.histories() {
		own, first := h.canary.of(s.kind), s.alert.FirstBreach
		if own.alert.IsFiring() {
			first = own.alert.FirstBreach
		}
		gap, ok := h.raise(e, first, who, why)
		if !ok {
			continue
		}
		gaps = append(gaps, gap)
		if own != s && own.alert.IsFiring() {
			own.endAccepted(e, gap, who)
		}
	}
	if len(gaps) == 0 {
		return false
	}
	s.endAccepted(e, alert.Median(gaps), who)
	return true
}

func (s *series) endAccepted(e *Engine, gap float64, who string) {
	s.alert.Accepted, s.alert.By = math.Exp(gap), who
	s.resolve(e, alert.EndAccepted)
}

// raise rescales a history to its level since first.
func (h *history) raise(e *Engine, first time.Time, who, why string) (gap float64, ok bool) {
	gap, n := h.Gap(first, e.now)
	if n < levelLeast {
		return 0, false
	}
	h.Rescale(first, e.now, gap)
	h.flip(e, first, e.now.Add(-1), false)
	c := h.canary
	c.state.Accepts = append(slices.Clone(c.state.Accepts), accepted{Metric: h.metric, First: first, At: e.now, C: gap, By: who})
	h.relevel(e)
	c.of(alert.Kind(h.metric)).event(e, alert.EventAccept, byWhom(fmt.Sprintf("×%.2f of the old level is normal: %s", math.Exp(gap), why), who),
		alert.Evidence{At: e.now, Ratio: math.Exp(gap)})
	return gap, true
}

// undo takes an acceptance back; the values of the level taken back leave the band.
func (c *canary) undo(e *Engine, x accepted, who, why string) {
	h := c.history(x.Metric)
	c.state.Accepts = slices.DeleteFunc(slices.Clone(c.state.Accepts), func(y accepted) bool { return y == x })
	c.unsaved = true
	if h == nil {
		return
	}
	h.Unscale(x.First, x.At, e.now)
	h.flip(e, x.First, e.now.Add(-1), true)
	h.relevel(e)
	c.of(alert.Kind(h.metric)).event(e, alert.EventUndo, byWhom(why, who), alert.Evidence{At: e.now, Ratio: math.Exp(-x.C)})
}

// relevel makes all that is judged by a history measure its level anew.
func (h *history) relevel(e *Engine) {
	own := h.canary.of(alert.Kind(h.metric))
	own.alert = own.alert.Relevelled()
	h.canary.unsaved = true
	e.change.canary(h.canary)
	if r := h.canary.target.round(h.metric); r != nil {
		r.group.Recompute()
		r.series.alert = r.series.alert.Relevelled()
		e.change.round(r)
	}
}

func byWhom(text, who string) string {
	if who == "" {
		return text
	}
	return cmp.Or(text, "no reason given") + ", by " + alert.OneLine(who, 80)
}
