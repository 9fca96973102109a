package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/baseline/store"
	"serin/probe"
)

// verdictOver says why one series fired, or did not, in a span of time. Peak is in seconds.
type verdictOver struct {
	Series    string       `json:"series"`
	Metric    probe.Metric `json:"metric"`
	Samples   int          `json:"samples"` // that could be judged
	Missing   int          `json:"missing"` // failed, first or spoiled by the client
	Learning  int          `json:"learning"`
	Breaches  int          `json:"breaches"`
	Most      int          `json:"most_of_n"` // breaches among n observations that follow each other
	Of        int          `json:"n"`
	Needed    int          `json:"needed"`
	Peak      float64      `json:"peak,omitempty"`
	PeakRatio float64      `json:"peak_ratio,omitempty"`
	PeakAt    time.Time    `json:"peak_at,omitzero"`
	Score     float64      `json:"score,omitempty"` // the highest, where a step up decides
	Fires     float64      `json:"fires,omitempty"` // the score from which it fires
	ScoreAt   time.Time    `json:"score_at,omitzero"`
	Together  bool         `json:"together,omitempty"` // all canaries of a target: samples are rounds
	Alerts    []string     `json:"alerts"`             // ids
	Why       string       `json:"why"`

	again bool // it fires when the samples are judged by the config of now
}

// over answers for each canary that matches, why it did or did not fire between two times.
func (b casebook) over(ctx context.Context, pattern string, from, until time.Time) ([]verdictOver, error) {
	tape, err := storeTape(ctx, b.st, store.Query{Since: from.Add(-poolBack), Until: until, Pattern: pattern})
	if err != nil {
		return nil, err
	}
	found, _ := subjects(tape.Canaries(replay.Cut{}), b.cfg, 0, nil)
	var list []verdictOver
	for _, sub := range found {
		for _, m := range sub.series() {
			v, err := b.overOne(ctx, sub, m, from, until)
			if err != nil {
				return nil, err
			}
			if sub.Rule.Preset == "sharp" {
				err = b.highest(ctx, &v, []subject{alone(sub)}, tape, from, until)
				v.Why = v.words()
			}
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	}
	if !strings.Contains(pattern, "/") { // all canaries of its targets are there
		together, err := b.overTargets(ctx, found, tape, from, until)
		if err != nil {
			return nil, err
		}
		list = append(list, together...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no canary with samples matches %q", pattern)
	}
	return list, nil
}

func (b casebook) overOne(ctx context.Context, sub subject, m probe.Metric, from, until time.Time) (verdictOver, error) {
	key := sub.Canary.Key()
	v := verdictOver{Series: key, Metric: m, Alerts: []string{}}
	v.Needed, v.Of = sub.Rule.Votes(sub.Canary.Interval)
	bands, err := b.st.Bands(ctx, store.BandQuery{Canary: key, Metric: m, Since: from.Add(-24 * time.Hour), Until: until})
	if err != nil {
		return v, err
	}
	records, err := collect(b.st.History(ctx, key, from), until.Add(-1))
	if err != nil {
		return v, err
	}
	v.count(sub, m, records, bands)
	err = b.fired(ctx, &v, from, until)
	v.Why = v.words()
	return v, err
}

// fired notes the alerts that were open between two times.
func (b casebook) fired(ctx context.Context, v *verdictOver, from, until time.Time) error {
	alerts, err := b.st.Alerts(ctx, store.AlertQuery{Series: v.Series})
	for _, a := range alerts {
		if a.Kind == alert.Kind(v.Metric) && a.Fired.Before(until) && (a.Resolved.IsZero() || !a.Resolved.Before(from)) {
			v.Alerts = append(v.Alerts, a.ID)
		}
	}
	return err
}

// count holds each value against the band stored for its time.
func (v *verdictOver) count(sub subject, m probe.Metric, records []alert.Record, bands []baseline.Band) {
	var recent []bool
	offset := 0.0
	for i := range records {
		r := &records[i]
		if res, ok := r.Residuals[m]; ok && res.Judged {
			offset = res.O
		}
		x := ballot{Call: baseline.NotJudged}
		x.again(r, bandAt(bands, r.Sample.Time), m, offset, sub.Rule.Threshold)
		switch {
		case x.Why == "learning", x.Why == noBand:
			v.Learning++
			continue
		case x.Why != "":
			v.Missing++
			continue
		}
		v.Samples++
		if x.Ratio > v.PeakRatio {
			v.Peak, v.PeakRatio, v.PeakAt = x.Value, x.Ratio, r.Sample.Time.UTC()
		}
		recent = append(recent, x.Call == baseline.Breach)
		if x.Call == baseline.Breach {
			v.Breaches++
		}
		recent = recent[max(0, len(recent)-v.Of):]
		n := 0
		for _, breach := range recent {
			if breach {
				n++
			}
		}
		v.Most = max(v.Most, n)
	}
}

// bandAt returns the newest band whose slot had begun, as it was then; nil when there is none.
func bandAt(list []baseline.Band, at time.Time) *baseline.Band {
	i, _ := slices.BinarySearchFunc(list, at, func(b baseline.Band, at time.Time) int {
		if b.Slot.After(at) {
			return 1
		}
		return -1
	})
	if i == 0 {
		return nil
	}
	return &list[i-1]
}
