package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline/store"
	"serin/probe"
)

// target explains what the canaries of a target decided together of a metric, at an instant; a is the alert it is about,
// nil = whichever was open.
func (b casebook) target(ctx context.Context, name string, m probe.Metric, at time.Time, a *alert.Alert) (*Explanation, error) {
	x := blank(name, m, at, a)
	x.Together = true
	if err := b.states(ctx, x); err != nil {
		return nil, err
	}
	if x.Alert != nil {
		x.decided(x.Alert)
	}
	subs, tape, err := b.canaries(ctx, name, m, at)
	if err != nil {
		return nil, err
	}
	if err := b.rounds(ctx, x, subs, tape); err != nil {
		return nil, err
	}
	if len(x.Votes) == 0 && x.Alert == nil && !pooled(subs) {
		return nil, fmt.Errorf("%s is not judged as a whole: %d of its canaries judge %s, %d are needed", name, len(subs), m, togetherLeast)
	}
	for i := range x.Votes {
		x.Votes[i].name(subs)
	}
	return x, nil
}

// blank is an explanation that says nothing yet.
func blank(series string, m probe.Metric, at time.Time, a *alert.Alert) *Explanation {
	return &Explanation{Series: series, Metric: m, At: at.UTC(), Alert: a, Changes: []change{}, Windows: []window{}, Used: []pooledSample{},
		Left: []pooledSample{}, Votes: []ballot{}}
}

// decided takes the votes that an alert fired by, and what it kept of why.
func (x *Explanation) decided(a *alert.Alert) {
	for _, v := range a.Decided {
		x.Votes = append(x.Votes, ballotOf(v, true))
	}
	x.Step = stepOf(a.Fit, a.Decided, true)
	x.cut()
}

// rounds brings the samples around to the config of now, all canaries of the target together. Where no alert has stored
// its votes they are shown as they come out of that.
func (b casebook) rounds(ctx context.Context, x *Explanation, subs []subject, tape *replay.Tape) error {
	t := &today{Opened: []time.Time{}}
	x.Today = t
	if !pooled(subs) {
		t.Words = fmt.Sprintf("cannot be tried again: %d of the target's canaries have samples of then and are in the config, %d are needed", len(subs), togetherLeast)
		return nil
	}
	from, until := x.At.Add(-lookBack), x.At.Add(lookAhead)
	around := from
	if a := x.Alert; a != nil {
		from, until, around = a.FirstBreach.Add(-lookBack), a.Fired.Add(lookAhead), a.FirstBreach.Add(-time.Hour)
	}
	var then alert.Alert
	r, err := b.trace(ctx, subs, tape, from, until, func(a alert.Alert) {
		if n := len(a.Votes); a.Series == x.Series && a.Kind == alert.Kind(x.Metric) && n > 0 && !a.Votes[n-1].At.After(x.At) {
			then = a
		}
	})
	if err != nil {
		return err
	}
	t.Threshold = subs[0].Rule.Threshold.Hash()
	for _, e := range r.Events {
		if e.Event == replay.EventOpen && e.Metric == x.Metric && e.Series == x.Series && e.Time.After(around) {
			t.Opened = append(t.Opened, e.Time)
		}
	}
	t.compare(x, around, until)
	if x.Alert == nil && len(then.Votes) > 0 {
		for _, v := range then.Votes {
			x.Votes = append(x.Votes, ballotOf(v, false))
		}
		x.Step = stepOf(then.Fit, then.Votes, false)
		x.cut()
	}
	return nil
}

// trace replays canaries of one target between two times and shows every observation's alert to seen.
func (b casebook) trace(ctx context.Context, subs []subject, tape *replay.Tape, from, until time.Time, seen func(alert.Alert)) (replay.Result, error) {
	watched := make([]alert.Watched, len(subs))
	for i := range subs {
		watched[i] = subs[i].Watched
	}
	r, err := replay.Run(ctx, tape, replay.Options{Watched: watched, Baseline: baselineOptions(b.cfg), History: before{b.st, from},
		From: from, Until: until, Trace: seen})
	if err != nil {
		return r, fmt.Errorf("judge by today's config: %w", err)
	}
	return r, nil
}

// targetSeries explains all metrics of a target that its canaries judge together, or the one that is named behind it.
func (b casebook) targetSeries(ctx context.Context, name string, at time.Time) ([]*Explanation, error) {
	target, metric, one := strings.Cut(name, "/")
	metrics := []probe.Metric{probe.Metric(metric)}
	if !one {
		tape, err := storeTape(ctx, b.st, store.Query{Since: at.Add(-targetBack), Until: at.Add(24 * time.Hour), Pattern: target})
		if err != nil {
			return nil, err
		}
		metrics = nil
		found, _ := subjects(tape.Canaries(replay.Cut{}), b.cfg, 0, nil)
		for i := range found {
			for _, m := range found[i].series() {
				if found[i].Canary.Target.Name == target && !slices.Contains(metrics, m) {
					metrics = append(metrics, m)
				}
			}
		}
	}
	var list []*Explanation
	for _, m := range metrics {
		x, err := b.target(ctx, target, m, at, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the store has no samples of %s around %s", target, at.UTC().Format(time.RFC3339))
	}
	return list, nil
}
