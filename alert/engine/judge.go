package engine

import (
	"math"
	"slices"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// judge brings a sample to the series of its canary and of its target: kinds are those that it is an observation of.
func (e *Engine) judge(c *canary, s *probe.Sample, kinds []alert.Kind, rec *alert.Record) {
	e.change.canary(c)
	if !e.folding {
		e.flagMaintenance(c, s, rec)
	}
	if s.Has(probe.ModelChanged) {
		e.targetEvent(c.target, alert.EventModel, modelText(s), s.Time)
	}
	skipped := s.Outcome == probe.Skipped
	c.followRun(e, s)
	if skipped && s.Reason != probe.ReasonOverlap {
		for _, h := range c.metrics {
			e.addToRound(c, s, h, alert.Observation{}, kinds)
		}
		return
	}
	c.countProbe(e, s)
	var suspect []alert.Kind // what a regular probe makes worth another look
	for _, k := range []alert.Kind{alert.KindTimeout, alert.KindError, alert.KindLimit} {
		if c.of(k).judgeFailure(e, s, kinds) && k != alert.KindLimit {
			suspect = append(suspect, k)
		}
	}
	for _, h := range c.metrics {
		if e.judgeLatency(c, s, h, kinds, rec) {
			suspect = append(suspect, alert.Kind(h.metric))
		}
	}
	if s.Regular() && !skipped && !e.folding {
		c.recent = c.recent.add(s)
		c.earn()
		if len(suspect) > 0 {
			c.request(e, reprobeTimes(e.now, c.Watched), suspect)
		}
	}
	c.countRate(e, s)
}

func modelText(s *probe.Sample) string {
	text := "answers as model " + s.ReturnedModel
	if s.SystemFingerprint != "" {
		text += ", fingerprint " + s.SystemFingerprint
	}
	return text
}

// countProbe counts the probe, or the run that found earlier ones hanging, in every firing alert of its canary.
func (c *canary) countProbe(e *Engine, s *probe.Sample) {
	c.fails = ""
	if f := familyOf(s); f == probe.FamilyTimeout || f == probe.FamilyError {
		c.fails = alert.Kind(f)
	}
	if e.folding || s.Outcome.Family() == probe.FamilyNone && s.Outcome != probe.Skipped {
		return
	}
	for _, x := range c.series {
		if x.alert.IsFiring() {
			x.alert = x.alert.Count(s.Outcome)
			e.change.alert(x.alert)
			e.change.target(c.target)
		}
	}
}

// judgeFailure brings a sample to the alert of one family; it reports whether a regular probe failed so and the alert is quiet.
func (x *series) judgeFailure(e *Engine, s *probe.Sample, kinds []alert.Kind) bool {
	o := failure(s, x.kind)
	if o.Call == baseline.NotJudged || o.Call != baseline.Breach && !slices.Contains(kinds, x.kind) {
		return false
	}
	x.step(e, o)
	return o.Call == baseline.Breach && !x.alert.IsFiring()
}

// unjudged is an observation of a sample that says nothing yet.
func unjudged(s *probe.Sample) alert.Observation {
	return alert.Observation{At: s.Time, Trigger: s.Trigger, Outcome: s.Outcome, Reason: s.Reason, RequestID: s.RequestID,
		Call: baseline.NotJudged, Verdict: baseline.Ruling{Why: "missing"}}
}

// failure says what a sample is to a family: a breach when it failed so, calm when it was good, else neither. What says
// nothing about the endpoint, or is about our own budget, is missing.
func failure(s *probe.Sample, k alert.Kind) alert.Observation {
	o := unjudged(s)
	switch f := familyOf(s); {
	case f == probe.FamilyNone, f == probe.FamilyLimit && k != alert.KindLimit:
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

func kindFamily(k alert.Kind) probe.Family {
	switch k {
	case alert.KindTimeout:
		return probe.FamilyTimeout
	case alert.KindError:
		return probe.FamilyError
	case alert.KindLimit:
		return probe.FamilyLimit
	}
	return ""
}

// judgeLatency holds one metric of a sample against its band, brings it to its series and its round, and adds it to the history. It
// reports whether a regular probe is worth another look.
func (e *Engine) judgeLatency(c *canary, s *probe.Sample, h *history, kinds []alert.Kind, rec *alert.Record) bool {
	if !c.isOwn(s, e.opt.Baseline) {
		h.leaveOut(s, "spec")
		e.addToRound(c, s, h, alert.Observation{}, kinds)
		return false
	}
	x := c.of(alert.Kind(h.metric))
	o, res := e.latency(c, s, h)
	var t alert.Turn
	if slices.Contains(kinds, x.kind) {
		t = x.step(e, o)
		x.requestCalm(e, o, t)
		x.recordOutlier(e, o)
	}
	e.addToRound(c, s, h, o, kinds)
	if !e.folding {
		e.keep(c, s, h, res, rec)
	}
	return !x.alert.IsFiring() && x.shouldConfirm(e, o, t.View)
}

// shouldConfirm reports whether an observation is to be followed by re-probes; the step test takes back those that it needs no more.
func (x *series) shouldConfirm(e *Engine, o alert.Observation, v alert.StepView) bool {
	regular := isRegular(o.Trigger)
	switch {
	case v.Known && regular:
		return v.Looks()
	case v.Enough():
		x.cancelReprobes(e)
		return false
	}
	return regular && o.Call == baseline.Breach
}

// keep adds a regular value to its history and to the record.
func (e *Engine) keep(c *canary, s *probe.Sample, h *history, res baseline.Residual, rec *alert.Record) {
	v, why := entering(s, h.metric)
	if why != "" {
		h.leaveOut(s, why)
		return
	}
	if !s.Regular() {
		return
	}
	out := c.excludes(h.metric, s.Time)
	h.Add(baseline.Point{At: s.Time, Y: math.Log(v.Seconds()), Regular: true, Excluded: out, Res: res})
	if rec.Residuals == nil {
		rec.Residuals = map[probe.Metric]baseline.Residual{}
	}
	rec.Residuals[h.metric] = res
	if out {
		if rec.Excluded == nil {
			rec.Excluded = map[probe.Metric]bool{}
		}
		rec.Excluded[h.metric] = true
	}
}
