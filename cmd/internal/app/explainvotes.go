package app

import (
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/configs"
	"serin/probe"
)

// vote lists the newest observations. Those that an alert stored stand as they were decided; the others are held against
// the stored band again, with the residual that was stored of them.
func (x *Explanation) vote(sub subject, m probe.Metric, records []alert.Record, at time.Time) {
	stored := map[int64]alert.Vote{}
	if x.Alert != nil {
		for _, v := range append(slices.Clone(x.Alert.Votes), x.Alert.Decided...) {
			stored[v.At.UnixNano()] = v
		}
	}
	offset := 0.0
	for i := range records {
		r := &records[i]
		res, judged := r.Residuals[m]
		if judged && res.Judged {
			offset = res.O
		}
		if at.Sub(r.Sample.Time) > lookBack || r.Sample.Outcome == probe.Skipped {
			continue
		}
		v := ballot{At: r.Sample.Time.UTC(), Trigger: r.Sample.Trigger, Call: baseline.NotJudged}
		if v.Trigger == "" {
			v.Trigger = probe.Schedule
		}
		if kept, ok := stored[r.Sample.Time.UnixNano()]; ok {
			d := kept.Verdict
			v.Value, v.Mean, v.Limit, v.Ratio, v.Z, v.Call, v.Stored = d.Value, d.Mean, d.Limit, d.Ratio, d.Z, d.Call, true
		} else {
			v.again(r, bandAt(x.bands, r.Sample.Time), m, offset, sub.Rule.Threshold)
		}
		x.Votes = append(x.Votes, v)
	}
	x.Votes = x.Votes[max(0, len(x.Votes)-maxVotes):]
}

// again holds a value against the stored band.
func (v *ballot) again(r *alert.Record, band *baseline.Band, m probe.Metric, offset float64, th baseline.Threshold) {
	d, why := baseline.Value(&r.Sample, m)
	switch {
	case why != "":
		v.Why = why
		return
	case band == nil || band.State != "ready":
		v.Value, v.Why = d.Seconds(), "learning"
		return
	case band.Line == 0: // of the literal rule, in seconds
		v.Value, v.Mean, v.Limit, v.Ratio = d.Seconds(), band.Mean, band.Limit, d.Seconds()/band.Mean
		v.Call = baseline.Calm
		if v.Value > v.Limit {
			v.Call = baseline.Breach
		}
		return
	}
	if band.SW == 0 {
		offset = 0 // residuals were not ready: it was judged without
	}
	centre := band.Mu + offset
	res := baseline.Y(d) - centre
	if kept, ok := r.Residuals[m]; ok && kept.Judged && band.SW != 0 {
		res = kept.R
		centre = baseline.Y(d) - res
	}
	v.Value, v.Mean, v.Ratio, v.Z = d.Seconds(), math.Exp(centre), math.Exp(res), 2*res/band.Line
	v.Limit = max(math.Exp(centre+band.Line), v.Mean+th.MinAbs.Seconds())
	switch {
	case v.Value > v.Limit:
		v.Call = baseline.Breach
	case res <= band.Line/2 || v.Ratio < th.ResolveRatio:
		v.Call = baseline.Calm
	default:
		v.Call = baseline.Neither
	}
}

// plain puts the literal rule's numbers beside.
func (x *Explanation) plain(sub subject, m probe.Metric, records []alert.Record, state *baseline.State, opt baseline.Options, at time.Time) {
	rule, _ := configs.Preset("literal") // there is one
	s := seriesOf(sub, m, records, rule.Threshold, opt, state, at)
	band := s.Band(at)
	x.Literal = plain{State: band.State, N: band.N}
	if band.State != "ready" {
		return
	}
	x.Literal.Mean, x.Literal.SD, x.Literal.Limit = band.Mean, band.SD, band.Limit
	for i := range x.Votes {
		v := &x.Votes[i]
		if v.Value <= 0 {
			continue
		}
		v.Literal = baseline.Calm
		if limit := s.Band(v.At).Limit; limit == 0 {
			v.Literal = baseline.NotJudged
		} else if v.Value > limit {
			v.Literal = baseline.Breach
		}
		x.Literal.Call = v.Literal
		if band.SD > 0 {
			x.Literal.Z = (v.Value - band.Mean) / band.SD
		}
	}
}
