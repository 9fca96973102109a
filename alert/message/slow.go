package message

import (
	"cmp"
	"fmt"
	"slices"

	"serin/alert"
)

// affectedFrom is the ratio of usual from which a canary counts as affected where its target is slow as a whole.
const affectedFrom = 1.1

// reading is how slow one canary is in one metric. Times are in seconds; usual is 0 where a fixed limit was crossed.
type reading struct {
	key, label          string
	value, usual, limit float64
	ratio               float64 // of usual, else of the limit
	fixed               bool
	upTo                bool // the value is the worst so far: the newest was not slow
}

// latencyKinds lists the latency kinds in the order of a headline.
func latencyKinds() []alert.Kind {
	return []alert.Kind{alert.KindTTFT, alert.KindTTFA, alert.KindTPOT, alert.KindE2E}
}

// readings returns the canaries of a target that are slow in a metric, the slowest against usual first.
func (v view) readings(t trouble, k alert.Kind) []reading {
	var list []reading
	for _, a := range t.of(k) {
		if !a.WholeTarget() {
			list = append(list, t.reading(a))
		}
	}
	for _, a := range t.of(k) {
		for _, r := range v.wholeReadings(t, a) {
			if !slices.ContainsFunc(list, func(x reading) bool { return x.key == r.key }) {
				list = append(list, r)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b reading) int { return cmp.Compare(b.ratio, a.ratio) })
	return list
}

// reading is what the alert of one canary shows: its newest check, or the worst so far where that was not slow, since a
// headline of trouble names no normal value.
func (t trouble) reading(a alert.Alert) reading {
	e := a.Last
	r := reading{key: a.Series, label: t.labelOf(a.Series), fixed: a.Fixed}
	if n := len(a.Votes); a.Worst.Ratio > 0 && (e.Value <= 0 || n > 0 && !a.Votes[n-1].SpeaksFor(a.Kind)) {
		e, r.upTo = a.Worst, true
	}
	r.value, r.limit, r.ratio = e.Value, cmp.Or(e.Limit, a.Last.Limit), e.Ratio
	if r.usual = cmp.Or(e.Mean, a.Last.Mean); r.fixed {
		r.usual = 0
	}
	if r.usual > 0 && r.value > 0 {
		r.ratio = r.value / r.usual
	}
	return r
}

// wholeReadings are the canaries of a target that is slow as a whole.
func (v view) wholeReadings(t trouble, a alert.Alert) []reading {
	if !a.WholeTarget() || v.Recent == nil {
		return nil
	}
	var list []reading
	for _, c := range t.target.Canaries {
		b, since := c.Bands[a.Kind.Metric()], v.Recent(c.Key(), a.Kind, a.Began()).Since
		if since <= 0 || b.Mean <= 0 || since < affectedFrom*b.Mean && !c.States[a.Kind].IsFiring() {
			continue
		}
		list = append(list, reading{key: c.Key(), label: t.label(c), value: since, usual: b.Mean, limit: b.Limit, ratio: since / b.Mean})
	}
	return list
}

// labelOf names a canary by its key; "" where it left the config.
func (t trouble) labelOf(key string) string {
	for _, c := range t.target.Canaries {
		if c.Key() == key {
			return t.label(c)
		}
	}
	return ""
}

// slowness says all metrics in which a target is slow: first token 701 ms, usually 300 ms (2.3x); 32 ms a token (1.6x).
func (v view) slowness(t trouble) string {
	text := ""
	for _, k := range latencyKinds() {
		if len(t.of(k)) > 0 {
			text = joined("; ", text, v.slowKind(t, k, text == ""))
		}
	}
	return text
}

func (v view) slowKind(t trouble, k alert.Kind, first bool) string {
	list := v.readings(t, k)
	if len(list) == 0 {
		return metricName(k) + " " + wholeRatio(t.of(k)[0])
	}
	r := list[0]
	text := r.number(k)
	switch {
	case r.fixed && r.limit > 0:
		return text + ", above the fixed limit of " + seconds(r.limit)
	case first && r.usual > 0:
		text += ", usually " + seconds(r.usual)
	}
	if r.ratio > 0 {
		text += " (" + times(r.ratio) + ")"
	}
	return text
}

// wholeRatio says how slow a target is whose canaries' values are not known.
func wholeRatio(a alert.Alert) string {
	e := a.Last
	if e.Ratio < affectedFrom {
		e = a.Worst
	}
	text := times(e.Ratio) + " of usual"
	if e.Canaries > 1 {
		text += fmt.Sprintf(" (median of %d sizes)", e.Canaries)
	}
	return text
}

func (r reading) number(k alert.Kind) string {
	if r.value <= 0 {
		return "no " + metricName(k) + " before the timeout"
	}
	return metricText(k, r.value, map[bool]string{true: "up to "}[r.upTo])
}

// metricText is a metric with its value: first token 701 ms, 32 ms a token.
func metricText(k alert.Kind, value float64, upTo string) string {
	if k == alert.KindTPOT {
		return upTo + seconds(value) + " a token"
	}
	return metricName(k) + " " + upTo + seconds(value)
}

func metricName(k alert.Kind) string {
	switch k {
	case alert.KindTTFT:
		return "first token"
	case alert.KindTTFA:
		return "first token of the answer"
	case alert.KindTPOT:
		return "time per token"
	}
	return "whole answer"
}

// present returns what a canary measured last, 0 where that is not known.
func (v view) present(key string, k alert.Kind, a alert.Alert) float64 {
	if v.Recent != nil {
		values := v.Recent(key, k, a.Began()).Values
		for _, x := range slices.Backward(values) {
			if measured(x) {
				return x
			}
		}
	}
	if a.Series == key {
		return a.Last.Value
	}
	return 0
}

// easing says how slow a recovering target is now, and was.
func (v view) easing(t trouble) string {
	k := t.alerts[0].Kind
	list := v.readings(t, k)
	if len(list) == 0 {
		return metricName(k) + " was up to " + times(t.alerts[0].Worst.Ratio) + " of usual"
	}
	r := list[0]
	text := metricText(k, cmp.Or(v.present(r.key, k, t.alerts[0]), r.value), "") + " now"
	if r.usual > 0 {
		text += ", usually " + seconds(r.usual)
	}
	if w := worstOf(t.of(k)); w.Value > 0 {
		text += ", was up to " + seconds(w.Value)
	}
	return text
}

// worstOf returns the worst evidence of alerts.
func worstOf(alerts []alert.Alert) alert.Evidence {
	var w alert.Evidence
	for _, a := range alerts {
		if a.Worst.Ratio >= w.Ratio && (a.Worst.Value > 0 || w.Value == 0) {
			w = a.Worst
		}
	}
	return w
}
