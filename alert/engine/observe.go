package engine

import (
	"context"
	"math"
	"slices"
	"time"

	"serin/baseline"
	"serin/probe"
)

// Observe carries one sample from the prober to the journal: record, verdicts, votes, alerts, incident, notices. A
// sample of a canary that is not watched is stored and judged by nobody; one that was seen before changes nothing. The
// store's failures are logged, not returned: the change is in memory and the caller goes on.
func (e *Engine) Observe(ctx context.Context, s probe.Sample) error {
	now := e.after(&s)
	c := e.watches[s.Key()]
	if c != nil && c.doubled(&s) {
		return nil
	}
	e.open(now)
	rec := Record{Sample: s}
	if c != nil && s.Trigger != probe.Check {
		e.judge(c, &s, &rec)
	}
	if !e.opt.Recorded { // the record is there already
		e.tx.Records = append(e.tx.Records, rec)
	}
	return e.finish(ctx)
}

// Answer observes a sample that answers the re-probe that was due at a time, however long after it was sent: for
// records, where the next sample there is must do.
func (e *Engine) Answer(ctx context.Context, s probe.Sample, due time.Time) error {
	e.answers = due
	defer func() { e.answers = time.Time{} }()
	return e.Observe(ctx, s)
}

// after is the time at which a sample is judged: when its probe ended, or the last tick if that was later.
func (e *Engine) after(s *probe.Sample) time.Time {
	end := s.Time
	for _, d := range []probe.Span{s.TTFT, s.E2E, s.StreamTotal} {
		if d.Known && d.D > 0 && s.Time.Add(d.D).After(end) {
			end = s.Time.Add(d.D)
		}
	}
	if late := e.now.Sub(end); late > 0 && late < maxLate {
		return e.now
	}
	return end
}

// maxLate bounds how long a probe may have run unseen; beyond it the clock was set back.
const maxLate = 15 * time.Minute

// judge brings a sample to every kind of its canary.
func (e *Engine) judge(c *watch, s *probe.Sample, rec *Record) {
	e.inMaintenance(c, s, rec)
	e.markChange(c, s)
	asked := e.asked(c, s)
	skipped := s.Outcome == probe.Skipped
	if skipped {
		c.runs.skip(s)
	} else {
		e.begun(c, s.Time, s.Regular())
		c.runs.end(s, e.now)
	}
	if skipped && s.Reason != probe.ReasonOverlap {
		for _, m := range c.metrics() {
			e.pour(c, s, m, Observation{}, asked)
		}
		return
	}
	e.countOpen(c, s)
	if s.Regular() && !skipped {
		c.memo.Tokens = min(c.memo.Tokens+reprobeEarn, reprobeBudget)
	}
	var again []Kind
	for _, k := range []Kind{KindTimeout, KindError, KindLimit} {
		if e.judgeFailure(c, s, k, asked) && k != KindLimit {
			again = append(again, k)
		}
	}
	for _, m := range c.metrics() {
		if e.judgeLatency(c, s, m, asked, rec) {
			again = append(again, Kind(m))
		}
	}
	if s.Regular() && !skipped {
		c.recent = c.recent.add(s)
		if len(again) > 0 {
			e.ask(c, reprobeTimes(e.now, c.Watched), again)
		}
	}
	e.judgeRate(c, s)
}

// asked returns the kinds that a sample is an observation of: all for a regular one, for a re-probe those that wanted it.
func (e *Engine) asked(c *watch, s *probe.Sample) []Kind {
	if s.Regular() {
		return c.kinds()
	}
	var got ask
	var ok bool
	at := s.Time
	if !e.answers.IsZero() {
		at = e.answers
	}
	if c.memo, got, ok = c.memo.answer(at); ok && s.Outcome == probe.Skipped && c.metered() {
		c.memo.Tokens = min(c.memo.Tokens+1, reprobeBudget) // never sent
	}
	return got.Kinds
}

// countOpen counts the probe, or the run that found earlier ones hanging, in every open alert of its canary.
func (e *Engine) countOpen(c *watch, s *probe.Sample) {
	if s.Outcome.Family() == probe.FamilyNone && s.Outcome != probe.Skipped {
		return
	}
	for _, k := range c.kinds() {
		if c.alerts[k].State.open() {
			c.alerts[k] = c.alerts[k].count(s.Outcome)
			e.tx.alert(c.alerts[k])
		}
	}
}

// judgeFailure brings a sample to one family's alert; it reports whether a regular probe failed and the alert is quiet.
func (e *Engine) judgeFailure(c *watch, s *probe.Sample, k Kind, asked []Kind) bool {
	o := failure(s, k)
	if o.Call == baseline.NotJudged || o.Call != baseline.Breach && !slices.Contains(asked, k) {
		return false
	}
	e.step(c, k, o)
	return o.Call == baseline.Breach && !c.alerts[k].State.open()
}

// failure says what a sample is to a family: a breach when it failed so, calm when it was good, else neither. What says
// nothing about the endpoint, or is about our own budget, is missing.
func failure(s *probe.Sample, k Kind) Observation {
	o := Observation{At: s.Time, Trigger: s.Trigger, Outcome: s.Outcome, Reason: s.Reason, RequestID: s.RequestID,
		Call: baseline.NotJudged, Verdict: baseline.Ruling{Why: whyMissing}}
	f := familyOf(s)
	switch {
	case f == probe.FamilyNone, f == probe.FamilyLimit && k != KindLimit:
	case f == kindFamily(k):
		o.Call = baseline.Breach
	case f == probe.FamilyOK:
		o.Call = baseline.Calm
	default:
		o.Call = baseline.Neither
	}
	return o
}

// familyOf is a sample's family as it votes: a run that found no room because earlier ones hang is a timeout. A parameter
// that is being learned says nothing, nor does a failure that our own delay may have caused.
func familyOf(s *probe.Sample) probe.Family {
	switch {
	case s.Outcome == probe.Skipped && s.Reason == probe.ReasonOverlap:
		return probe.FamilyTimeout
	case s.Reason == probe.ReasonLearningParameter, s.Has(probe.ClientSuspect) && !s.Outcome.Success():
		return probe.FamilyNone
	}
	return s.Outcome.Family()
}

func kindFamily(k Kind) probe.Family {
	switch k {
	case KindTimeout:
		return probe.FamilyTimeout
	case KindError:
		return probe.FamilyError
	case KindLimit:
		return probe.FamilyLimit
	}
	return ""
}

// judgeLatency holds one metric of a sample against its band, lets it vote, and adds it to the history. It reports
// whether a regular probe breached and the alert is quiet.
func (e *Engine) judgeLatency(c *watch, s *probe.Sample, m probe.Metric, asked []Kind, rec *Record) bool {
	k := Kind(m)
	if !c.mine(s, e.opt.Baseline) {
		c.miss(s, m, "spec")
		e.pour(c, s, m, Observation{}, asked)
		return false
	}
	o, res := e.latency(c, s, m)
	v, why := entering(s, m)
	var t turn
	if slices.Contains(asked, k) {
		t = e.step(c, k, o)
		e.oddities(c, k, o)
	}
	e.pour(c, s, m, o, asked)
	a := c.alerts[k]
	if why != "" {
		c.miss(s, m, why)
	} else if s.Regular() {
		e.keep(c, s, m, v, res, a.Excluding || e.poolExcludes(c, m), rec)
		e.watchLevel(c, m)
	}
	return !a.Open() && e.looks(c, k, o, t.view, s.Regular())
}

// looks reports whether an observation is to be followed by re-probes; the sharp rule takes back what it needs no more.
func (e *Engine) looks(c *watch, k Kind, o Observation, v sharpView, regular bool) bool {
	switch {
	case v.known && regular:
		return v.looks()
	case v.enough():
		e.unask(c, k, e.now)
		return false
	}
	return regular && o.Call == baseline.Breach
}

// keep adds a regular value to its series and to the record.
func (e *Engine) keep(c *watch, s *probe.Sample, m probe.Metric, v time.Duration, res baseline.Residual, out bool, rec *Record) {
	c.series[m].Add(baseline.Point{At: s.Time, Y: math.Log(v.Seconds()), Regular: true, Excluded: out, Res: res})
	if rec.Residuals == nil {
		rec.Residuals = map[probe.Metric]baseline.Residual{}
	}
	rec.Residuals[m] = res
	if out {
		if rec.Excluded == nil {
			rec.Excluded = map[probe.Metric]bool{}
		}
		rec.Excluded[m] = true
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
