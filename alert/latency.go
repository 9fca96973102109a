package alert

import (
	"time"

	"serin/baseline"
	"serin/probe"
)

// latency judges one metric of a sample: by its band, beside it by the user's limit, and by a fixed limit while learning.
func (e *Engine) latency(c *watch, s *probe.Sample, m probe.Metric) (Observation, baseline.Residual) {
	o := Observation{At: s.Time, Trigger: s.Trigger, Outcome: s.Outcome, Reason: s.Reason, RequestID: s.RequestID,
		Call: baseline.NotJudged, Verdict: baseline.Ruling{Why: whyMissing}}
	v, why := baseline.Value(s, m)
	if why != "" {
		return e.censored(c, s, m, o), baseline.Residual{}
	}
	verdict := c.series[m].Judge(s.Time, v)
	e.band(c, m, verdict.Band)
	o.Verdict, o.Call, o.judged = verdict.Ruling, verdict.Call, verdict
	o = o.within(c.series[m], verdict)
	limit := userLimit(c.Watched, m)
	o.Urgent = limit.Critical > 0 && v > limit.Critical
	fixed := limit.lowest()
	if verdict.Call == baseline.NotJudged && verdict.Why == whyLearning {
		if fixed == 0 {
			if def := defaultLimit(c.Watched, m); def > 0 && e.arm(c, m, def) {
				fixed = def
			}
		}
		if fixed > 0 {
			return e.byLimit(o, v, fixed), verdict.Res
		}
		return o, verdict.Res
	}
	if fixed > 0 && v > fixed && verdict.Call != baseline.Breach {
		return e.byLimit(o, v, fixed), verdict.Res
	}
	return o, verdict.Res
}

// byLimit turns an observation into one of a fixed limit.
func (e *Engine) byLimit(o Observation, v, limit time.Duration) Observation {
	if o.Call == baseline.NotJudged {
		o.Learned = e.learned(o.Band)
	}
	o.Verdict = againstFixed(v, limit)
	o.Call, o.Low, o.Band, o.Fixed = o.Verdict.Call, 0, nil, true
	return o
}

// censored makes a first-token timeout a breach of ttft where its limit lies above the band's: the value was at least
// that. It enters no band, and is counted as a timeout only.
func (e *Engine) censored(c *watch, s *probe.Sample, m probe.Metric, o Observation) Observation {
	if m != probe.TTFT || s.Outcome != probe.TimeoutFirstToken || missing(s) || c.Rule.Literal() {
		return o
	}
	v := c.series[m].Judge(s.Time, c.Canary.Target.FirstToken(c.Canary.Size))
	e.band(c, m, v.Band)
	if v.Call != baseline.Breach {
		return o
	}
	o.Verdict, o.Call = v.Ruling, v.Call
	return o.within(c.series[m], v)
}

// within takes what a series' band says around a verdict.
func (o Observation) within(s *baseline.Series, v baseline.Verdict) Observation {
	if v.Band != nil {
		o.Low, o.Band, o.LevelModel = v.Band.Low, v.Band, s.LevelModel()
		if x, ok := s.Share(v); ok && o.LevelModel.Known() {
			o.Shares = []baseline.Share{x}
		}
	}
	return o
}
