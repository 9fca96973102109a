package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/store"
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
			v.Shares = ballotOf(kept, true).Shares
		} else {
			v.again(r, bandAt(x.bands, r.Sample.Time), m, offset, sub.Rule.Threshold)
		}
		x.Votes = append(x.Votes, v)
	}
	x.cut()
}

// cut leaves the newest votes, and all that decided.
func (x *Explanation) cut() {
	most := maxVotes
	if x.Step != nil {
		most = max(most, x.Step.Votes, x.Step.Of)
	}
	x.Votes = x.Votes[max(0, len(x.Votes)-most):]
}

// noBand is why a value could not be held against anything: no daemon had a band for its time, as before the first days and
// with imported samples.
const noBand = "no_band"

// again holds a value against the stored band.
func (v *ballot) again(r *alert.Record, band *baseline.Band, m probe.Metric, offset float64, th baseline.Threshold) {
	d, why := baseline.Value(&r.Sample, m)
	if why != "" {
		v.Why = why
		return
	}
	x := th.Again(d, band, r.Residuals[m], offset)
	if band == nil {
		x.Why = noBand
	}
	v.Value, v.Mean, v.Limit, v.Ratio, v.Z, v.Call, v.Why = x.Value, x.Mean, x.Limit, x.Ratio, x.Z, x.Call, x.Why
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

// pastState returns what was accepted or forgotten of a series until a time; what is frozen now is left out of it.
func pastState(ctx context.Context, st *store.Store, key string, m probe.Metric, at time.Time) (*baseline.State, error) {
	body, err := st.Blob(ctx, alert.SeriesKey(key, m))
	if err != nil || body == nil {
		return nil, err
	}
	var stored baseline.State
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, fmt.Errorf("read the state of %s %s: %w", key, m, err)
	}
	out := &baseline.State{Since: stored.Since}
	if out.Since > at.UnixNano() {
		out.Since = 0
	}
	for _, h := range stored.Shifts {
		if h.To <= at.UnixNano() {
			out.Shifts = append(out.Shifts, h)
		}
	}
	return out, nil
}
