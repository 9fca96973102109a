package engine

import (
	"fmt"
	"math"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// history is one metric of one canary: its past values, and the newest band made of them. It judges the canary's own series.
type history struct {
	*baseline.Series
	metric probe.Metric
	canary *canary
	band   baseline.Band // zero before the first
	kept   bandMark      // of the newest band that was stored since the start
	saved  baseline.Stamp
	waits  bool // said already that the fixed limit waits for the band
	self   []*history
}

func newHistory(c *canary, m probe.Metric) *history {
	h := &history{metric: m, canary: c}
	h.self = []*history{h}
	return h
}

// bandReady is the state of a band that judges.
const bandReady = "ready"

func (h *history) ready() bool           { return h.band.State == bandReady }
func (h *history) histories() []*history { return h.self }
func (h *history) freeze(on bool)        { h.Freeze(on) }

// bandMark tells stored bands apart.
type bandMark struct {
	slot             int64
	state, threshold string
}

// keepBand keeps the newest band, and stores it when its slot is new.
func (h *history) keepBand(e *Engine, b *baseline.Band) {
	if b == nil {
		return
	}
	h.band = *b
	if mark := (bandMark{b.Slot.UnixNano(), b.State, b.Threshold}); !e.folding && h.kept != mark {
		h.kept = mark
		e.change.Bands = append(e.change.Bands, *b)
	}
}

// leaveOut notes why a regular probe's latency is not in the band.
func (h *history) leaveOut(s *probe.Sample, why string) {
	if s.Regular() && s.Outcome != probe.Skipped {
		h.Miss(s.Time, why)
	}
}

// entering returns the value with which a sample enters its band, or why it does not.
func entering(s *probe.Sample, m probe.Metric) (v time.Duration, why string) {
	if v, why = baseline.Value(s, m); why == "" && s.Has(probe.InMaintenance) {
		why = string(probe.InMaintenance)
	}
	return v, why
}

// latency judges one metric of a sample: by its band, beside it by the user's limit, and by a fixed limit while learning.
func (e *Engine) latency(c *canary, s *probe.Sample, h *history) (alert.Observation, baseline.Residual) {
	o := unjudged(s)
	v, why := baseline.Value(s, h.metric)
	if why != "" {
		return e.censored(c, s, h, o), baseline.Residual{}
	}
	verdict := h.Judge(s.Time, v)
	h.keepBand(e, verdict.Band)
	o.Verdict, o.Call, o.Judged = verdict.Ruling, verdict.Call, verdict
	h.within(&o, verdict)
	limit := userLimit(c.Watched, h.metric)
	o.Urgent = limit.Critical > 0 && v > limit.Critical
	fixed := lowest(limit)
	if verdict.Call == baseline.NotJudged && verdict.Why == "learning" {
		if def := defaultLimit(c.Watched, h.metric); fixed == 0 && def > 0 && e.arm(c, h, def) {
			fixed = def
		}
		if fixed > 0 {
			o.Learned = e.learned(o.Band)
			againstFixed(&o, v, fixed)
		}
	} else if fixed > 0 && v > fixed && verdict.Call != baseline.Breach {
		againstFixed(&o, v, fixed)
	}
	return o, verdict.Res
}

// censored makes a first-token timeout a breach of ttft where its limit lies above the band's: the value was at least
// that. It enters no band, and is counted as a timeout only.
func (e *Engine) censored(c *canary, s *probe.Sample, h *history, o alert.Observation) alert.Observation {
	if h.metric != probe.TTFT || s.Outcome != probe.TimeoutFirstToken || s.First || s.Has(probe.ClientSuspect) || c.Rule.Literal() {
		return o
	}
	v := h.Judge(s.Time, c.Canary.Target.FirstToken(c.Canary.Size))
	h.keepBand(e, v.Band)
	if v.Call == baseline.Breach {
		o.Verdict, o.Call = v.Ruling, v.Call
		h.within(&o, v)
	}
	return o
}

// within takes what the band says around a verdict.
func (h *history) within(o *alert.Observation, v baseline.Verdict) {
	if v.Band == nil {
		return
	}
	o.Low, o.Band, o.LevelModel = v.Band.Low, v.Band, h.LevelModel()
	if x, ok := h.Share(v); ok && o.LevelModel.Known() {
		o.Shares = []baseline.Share{x}
	}
}

// The default fixed limits: for short canaries of targets without reasoning, while the band is learned.
const (
	shortTTFTLimit = 5 * time.Second
	shortTPOTLimit = 200 * time.Millisecond
)

// armAfter is how many samples must have a median below half of a default limit before it may alert.
const (
	armAfter = 14
	armFrom  = 64 // of the newest samples
)

// userLimit returns the limit that the user set for a metric, zero when there is none.
func userLimit(w alert.Watched, m probe.Metric) alert.Limit {
	switch m {
	case probe.TTFT:
		return w.Rule.TTFTLimit[w.Canary.Size]
	case probe.TPOT:
		return w.Rule.TPOTLimit[w.Canary.Size]
	}
	return alert.Limit{}
}

// lowest is the limit that breaches: a critical one alone warns as well.
func lowest(l alert.Limit) time.Duration {
	if l.Warning > 0 {
		return l.Warning
	}
	return l.Critical
}

// defaultLimit returns the fixed limit that holds while learning, 0 when there is none.
func defaultLimit(w alert.Watched, m probe.Metric) time.Duration {
	if w.Canary.Size != probe.Short || w.Canary.Target.Reasoning {
		return 0
	}
	switch m {
	case probe.TTFT:
		return shortTTFTLimit
	case probe.TPOT:
		return shortTPOTLimit
	}
	return 0
}

// againstFixed holds a value against a fixed limit instead of its band: above it breaches, at or below is calm.
func againstFixed(o *alert.Observation, v, limit time.Duration) {
	o.Verdict = baseline.Ruling{Call: baseline.Calm, Value: v.Seconds(), Limit: limit.Seconds(), Ratio: v.Seconds() / limit.Seconds()}
	if v > limit {
		o.Verdict.Call = baseline.Breach
	}
	o.Call, o.Low, o.Band, o.Fixed = o.Verdict.Call, 0, nil, true
}

// arm decides whether a default limit may alert: once the canary has shown that it usually stays below half of it.
func (e *Engine) arm(c *canary, h *history, limit time.Duration) bool {
	if c.state.Armed[h.metric] {
		return true
	}
	usual, n := usualOf(h.Points())
	switch {
	case n < armAfter:
		return false
	case usual < limit.Seconds()/2:
		c.state.Armed = with(c.state.Armed, h.metric)
		c.unsaved = true
		return true
	case !h.waits:
		h.waits = true
		e.log.Info("fixed limit waits for the band", "canary", c.key, "metric", string(h.metric), "usual_seconds", usual,
			"limit_seconds", limit.Seconds(), "reason", "usual is over half of the fixed limit")
	}
	return false
}

// with returns a set with one more member.
func with(set map[probe.Metric]bool, m probe.Metric) map[probe.Metric]bool {
	out := map[probe.Metric]bool{m: true}
	for k := range set {
		out[k] = true
	}
	return out
}

// usualOf returns the median of the newest points in seconds, and how many there are.
func usualOf(pts []baseline.Point) (float64, int) {
	pts = pts[max(0, len(pts)-armFrom):]
	if len(pts) == 0 {
		return 0, 0
	}
	ys := make([]float64, len(pts))
	for i, p := range pts {
		ys[i] = p.Y
	}
	return math.Exp(alert.Median(ys)), len(pts)
}

// learned says how much of the band has been learned.
func (e *Engine) learned(b *baseline.Band) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("day %d of %d, %d samples", max(b.Days, 1), int(e.opt.Baseline.Window/(24*time.Hour)), b.N)
}

// A spike is one probe that is far from usual in both senses.
const (
	spikeSigmas = 5
	spikeRatio  = .40
)

// recordOutlier records one judged value that is odd by itself, while its alert is quiet. Re-probes say whether it was one alone.
func (x *series) recordOutlier(e *Engine, o alert.Observation) {
	if e.folding || o.Call == baseline.NotJudged || o.Fixed || x.alert.IsFiring() {
		return
	}
	v := o.Verdict
	numbers := alert.Evidence{At: o.At, Value: v.Value, Mean: v.Mean, Low: o.Low, Limit: v.Limit, Ratio: v.Ratio, Z: v.Z,
		Outcome: o.Outcome, RequestID: o.RequestID}
	switch {
	case o.Judged.Low:
		x.event(e, alert.EventLow, "faster than the mean less two standard deviations", numbers)
	case isSpike(v, o.Band) && isRegular(o.Trigger):
		x.event(e, alert.EventSpike, fmt.Sprintf("one probe at ×%.2f of usual", v.Ratio), numbers)
	}
}

func isSpike(v baseline.Ruling, b *baseline.Band) bool {
	return b != nil && b.Sigma > 0 && v.Ratio > 0 && math.Abs(v.Ratio-1) >= spikeRatio &&
		math.Abs(math.Log(v.Ratio)) > spikeSigmas*b.Sigma
}
