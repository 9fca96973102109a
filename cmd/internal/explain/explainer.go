package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/store"
	"serin/probe"
)

// How far around a decision its history and marks are looked for.
const (
	lookBack  = 6 * time.Hour
	lookAhead = time.Hour
	bandBack  = 24 * time.Hour // a band is stored at most this long before a value is held against it
)

// Explainer answers from a store.
type Explainer struct {
	Store    *store.Store
	Canaries []string // keys that the config knows, to name who said what in a round; may be nil
}

// ByID explains the alerts of an incident, or the alert, that has an id.
func (e Explainer) ByID(ctx context.Context, id string) ([]*Decision, error) {
	alerts, err := e.alertsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(alerts) == 0 {
		return nil, fmt.Errorf("no incident or alert %q in the store: serin incidents lists them; a series needs --at TIME, a pattern --from TIME", id)
	}
	slices.SortStableFunc(alerts, func(a, b alert.Alert) int { return strings.Count(a.Series, "/") - strings.Count(b.Series, "/") }) // whole targets first
	list := make([]*Decision, 0, len(alerts))
	for i := range alerts {
		d, err := e.Alert(ctx, &alerts[i])
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// alertsOf returns the alerts of an incident, or the one that has the id.
func (e Explainer) alertsOf(ctx context.Context, id string) (list []alert.Alert, err error) {
	found, err := e.Store.Incidents(ctx, store.IncidentQuery{ID: id})
	if err != nil || len(found) == 0 {
		list, err = e.Store.Alerts(ctx, store.AlertQuery{ID: id})
		return list, err
	}
	return e.Store.Alerts(ctx, store.AlertQuery{Incident: id})
}

// Alert explains an alert that fired.
func (e Explainer) Alert(ctx context.Context, a *alert.Alert) (*Decision, error) {
	d := &Decision{Series: a.Series, Kind: a.Kind, From: a.Fired.Add(-lookBack), Until: a.Fired, Alert: a, Step: a.Fit}
	for _, v := range a.Decided {
		d.Checks = append(d.Checks, e.checkOf(v))
	}
	if err := e.around(ctx, d); err != nil {
		return nil, err
	}
	if d.single() && a.Kind.Metric() != "" && !a.Fixed {
		bands, err := e.bands(ctx, d)
		if err != nil {
			return nil, err
		}
		d.Band = bandAt(bands, a.Fired)
	}
	d.summarize()
	return d, nil
}

// checkOf is a vote as it was cast.
func (e Explainer) checkOf(v alert.Vote) Check {
	r := v.Verdict
	c := Check{At: v.At, Trigger: v.Trigger, Value: r.Value, Mean: r.Mean, Limit: r.Limit, Ratio: r.Ratio, Z: r.Z, Call: r.Call, Why: r.Why}
	if v.Outcome != probe.OK {
		c.Why = string(v.Outcome)
	}
	for _, s := range v.Said {
		i := slices.IndexFunc(e.Canaries, func(key string) bool { return alert.CanaryID(key) == s.Who })
		if i < 0 {
			c.Parts = append(c.Parts, Part{Ratio: ratioOf(s.E)})
			continue
		}
		c.Parts = append(c.Parts, Part{Canary: e.Canaries[i], Ratio: ratioOf(s.E)})
	}
	return c
}

// around reads the changes of state and the marks around a decision.
func (e Explainer) around(ctx context.Context, d *Decision) error {
	rows, err := e.Store.Transitions(ctx, store.TransitionQuery{Series: d.Series, Since: d.From, Until: d.Until.Add(lookAhead)})
	if err != nil {
		return err
	}
	d.Changes = slices.DeleteFunc(rows, func(t alert.Transition) bool { return t.Kind != d.Kind })
	target, _, _ := strings.Cut(d.Series, "/")
	d.Marks, err = e.Store.Marks(ctx, store.MarkQuery{Target: target, Since: d.From, Until: d.Until.Add(lookAhead)})
	return err
}

func (e Explainer) bands(ctx context.Context, d *Decision) ([]baseline.Band, error) {
	return e.Store.Bands(ctx, store.BandQuery{Canary: d.Series, Metric: d.Kind.Metric(), Since: d.From.Add(-bandBack), Until: d.Until.Add(1)})
}

// bandAt returns the newest band whose slot had begun; nil where there is none.
func bandAt(list []baseline.Band, at time.Time) *baseline.Band {
	var found *baseline.Band
	for i := range list {
		if !list[i].Slot.After(at) {
			found = &list[i]
		}
	}
	return found
}

// Between explains, for each series of a pattern, the alerts that were open between two times, or why none fired. A pattern is a
// glob over canaries or targets, with a metric behind a whole key where only that is meant.
func (e Explainer) Between(ctx context.Context, pattern string, from, until time.Time) ([]*Decision, error) {
	pattern, metric := cutMetric(pattern)
	byCanary := map[string][]probe.Sample{}
	for s, err := range e.Store.Samples(ctx, store.Query{Since: from, Until: until, Pattern: pattern}) {
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		if s.Trigger != probe.Check {
			byCanary[s.Key()] = append(byCanary[s.Key()], s)
		}
	}
	if len(byCanary) == 0 {
		return nil, fmt.Errorf("the store has no samples of %s between %s and %s", pattern, from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	}
	var list []*Decision
	for _, series := range withTargets(byCanary, pattern) {
		some, err := e.series(ctx, series, byCanary[series], metric, from, until)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// cutMetric takes a metric off the end of a series.
func cutMetric(series string) (pattern string, m probe.Metric) {
	if i := strings.LastIndexByte(series, '/'); i >= 0 {
		if m := alert.Kind(series[i+1:]).Metric(); m != "" {
			return series[:i], m
		}
	}
	return series, ""
}

// roundLeast is how many canaries of a target are judged together, in rounds.
const roundLeast = 3

// withTargets returns the series to explain: the canaries and, where a pattern names whole targets, those before them whose
// canaries are judged together.
func withTargets(byCanary map[string][]probe.Sample, pattern string) (list []string) {
	keys := slices.Sorted(maps.Keys(byCanary))
	of := map[string]int{}
	for _, key := range keys {
		target, _, _ := strings.Cut(key, "/")
		of[target]++
	}
	for _, key := range keys {
		target, _, _ := strings.Cut(key, "/")
		if !strings.Contains(pattern, "/") && of[target] >= roundLeast && !slices.Contains(list, target) {
			list = append(list, target)
		}
		list = append(list, key)
	}
	return list
}

// series explains one series: each alert that was open, and each judged metric of which none was.
func (e Explainer) series(ctx context.Context, series string, samples []probe.Sample, only probe.Metric, from, until time.Time) ([]*Decision, error) {
	alerts, err := e.Store.Alerts(ctx, store.AlertQuery{Series: series})
	if err != nil {
		return nil, err
	}
	var list []*Decision
	fired := map[alert.Kind]bool{}
	for i := range alerts {
		a := &alerts[i]
		if a.Fired.IsZero() || a.Fired.After(until) || !a.Resolved.IsZero() && a.Resolved.Before(from) || only != "" && a.Kind.Metric() != only {
			continue
		}
		fired[a.Kind] = true
		d, err := e.Alert(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	for _, m := range []probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E} {
		if fired[alert.Kind(m)] || only != "" && m != only {
			continue
		}
		d, err := e.quiet(ctx, series, samples, m, from, until)
		if err != nil {
			return nil, err
		}
		if d != nil {
			list = append(list, d)
		}
	}
	return list, nil
}

// quiet explains why a metric did not fire; nil where it is not judged.
func (e Explainer) quiet(ctx context.Context, series string, samples []probe.Sample, m probe.Metric, from, until time.Time) (*Decision, error) {
	d := &Decision{Series: series, Kind: alert.Kind(m), From: from, Until: until}
	if err := e.around(ctx, d); err != nil {
		return nil, err
	}
	if !d.single() { // of a whole target only changes of state are stored
		if len(d.Changes) == 0 && m != probe.TTFT {
			return nil, nil
		}
		d.summarize()
		return d, nil
	}
	bands, err := e.bands(ctx, d)
	if err != nil {
		return nil, err
	}
	measured := slices.ContainsFunc(samples, func(s probe.Sample) bool { return s.Measure(m).Known })
	if judged := len(bands) > 0 || m == probe.TTFT || m == probe.TPOT && measured; !judged {
		return nil, nil
	}
	d.Band = bandAt(bands, until)
	for i := range samples {
		d.Checks = append(d.Checks, hold(&samples[i], m, bandAt(bands, samples[i].Time)))
	}
	d.summarize()
	return d, nil
}
