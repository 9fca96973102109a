package app

import (
	"context"
	"fmt"
	"slices"
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
	Alerts    []string     `json:"alerts"` // ids
	Why       string       `json:"why"`
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
			list = append(list, v)
		}
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
	alerts, err := b.st.Alerts(ctx, store.AlertQuery{Series: key})
	for _, a := range alerts {
		if a.Kind == alert.Kind(m) && a.Fired.Before(until) && (a.Resolved.IsZero() || !a.Resolved.Before(from)) {
			v.Alerts = append(v.Alerts, a.ID)
		}
	}
	v.Why = v.words()
	return v, err
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
		case x.Why == "learning":
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

// bandAt returns the newest band whose slot had begun; nil when there is none.
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

func (v *verdictOver) words() string {
	switch {
	case len(v.Alerts) > 0:
		return fmt.Sprintf("it fired (%d alerts)", len(v.Alerts))
	case v.Samples == 0 && v.Learning > 0:
		return fmt.Sprintf("it was learning: %d values without a band", v.Learning)
	case v.Samples == 0 && v.Missing > 0:
		return fmt.Sprintf("nothing to judge: all %d probes failed, were the first after a start, or were spoiled by the client", v.Missing)
	case v.Samples == 0:
		return "no samples"
	case v.Breaches == 0:
		return "no value was above the limit"
	case v.Most < v.Needed:
		return fmt.Sprintf("%d of %d are needed", v.Needed, v.Of)
	}
	return "enough values were above the limit, but too far apart, or not the newest"
}
