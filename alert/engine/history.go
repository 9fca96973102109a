package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// How far back a canary's history is read: what bands and residuals need, and what is needed to make residuals.
func readBack(window time.Duration) time.Duration  { return window + 26*time.Hour }
func judgeBack(window time.Duration) time.Duration { return 2*window + 26*time.Hour }

// past is what a canary's history holds for the engine.
type past struct {
	points   map[probe.Metric][]baseline.Point
	misses   map[probe.Metric][]miss
	unjudged map[int64]probe.Sample // by time: no residuals yet
	recent   []probe.Sample         // of the last hours
	earned   int                    // regular probes since the stored state of the budget of re-probes
}

// miss is a regular probe whose latency is not in the band.
type miss struct {
	at  time.Time
	why string
}

// read reads the canary's history, further back where samples have no residuals yet.
func (c *canary) read(ctx context.Context, e *Engine) (past, error) {
	if e.opt.History == nil {
		return past{}, nil
	}
	p, err := c.scan(ctx, e, e.now.Add(-readBack(e.opt.Baseline.Window)))
	if err == nil && len(p.unjudged) > 0 {
		p, err = c.scan(ctx, e, e.now.Add(-judgeBack(e.opt.Baseline.Window)))
	}
	if err != nil {
		return past{}, fmt.Errorf("read history of %s: %w", c.key, err)
	}
	return p, nil
}

func (c *canary) scan(ctx context.Context, e *Engine, since time.Time) (past, error) {
	p := past{points: map[probe.Metric][]baseline.Point{}, misses: map[probe.Metric][]miss{}, unjudged: map[int64]probe.Sample{}}
	recent := e.now.Add(-max(c.lookback(), ringMost*c.Canary.Interval))
	for rec, err := range e.opt.History.History(ctx, c.key, since) {
		if err != nil {
			return past{}, err
		}
		if rec.Sample.Time.After(recent) {
			p.recent = append(p.recent, rec.Sample)
		}
		if rec.Sample.Regular() && rec.Sample.Outcome != probe.Skipped {
			p.add(c, &rec, c.isOwn(&rec.Sample, e.opt.Baseline))
			if rec.Sample.Time.After(c.state.At) {
				p.earned++
			}
		}
	}
	return p, nil
}

// add takes the record's latencies.
func (p *past) add(c *canary, rec *alert.Record, own bool) {
	for _, h := range c.metrics {
		v, why := entering(&rec.Sample, h.metric)
		if !own {
			why = "spec"
		}
		if why != "" {
			p.misses[h.metric] = append(p.misses[h.metric], miss{rec.Sample.Time, why})
			continue
		}
		res, judged := rec.Residuals[h.metric]
		if !judged {
			p.unjudged[rec.Sample.Time.UnixNano()] = rec.Sample
		}
		p.points[h.metric] = append(p.points[h.metric], baseline.Point{At: rec.Sample.Time, Y: math.Log(v.Seconds()), Regular: true,
			Excluded: rec.Excluded[h.metric], Res: res})
	}
}

// build makes the canary's series anew from its past and from the values that it holds already, which the store may not have written
// yet. It returns records of the samples that got residuals by it.
func (c *canary) build(e *Engine, p past, states map[probe.Metric]*seriesState) []alert.Record {
	made := map[int64]map[probe.Metric]baseline.Residual{}
	for _, h := range c.metrics {
		var state *baseline.State
		if st := states[h.metric]; st != nil {
			state = &st.State
		}
		key := baseline.Key{Canary: c.key, Metric: h.metric, Spec: c.Spec, Zone: c.Canary.Scene.Zone, Interval: c.Canary.Interval}
		s := baseline.NewSeries(key, e.opt.Baseline, c.Rule.Threshold)
		points, old := p.points[h.metric], h.Series
		if old != nil && (old.Key().Spec == c.Spec || outlivesSpec(e.opt.Baseline)) {
			points = merge(points, old.Points())
			st := old.State()
			state = &st
		}
		for _, pt := range s.Load(points, state, e.now) {
			at := pt.At.UnixNano()
			if made[at] == nil {
				made[at] = map[probe.Metric]baseline.Residual{}
			}
			made[at][h.metric] = pt.Res
		}
		for _, x := range p.misses[h.metric] {
			s.Miss(x.at, x.why)
		}
		if e.opt.Baseline.OnChange == onChangeRescale && (c.respecced && old == nil || old != nil && old.Key().Spec != c.Spec) {
			s.Changed(c.Spec, e.now)
		}
		h.Series = s
		h.band = s.Band(e.now)
	}
	return p.records(made)
}

// records pairs residuals that were made with their samples, by time.
func (p past) records(made map[int64]map[probe.Metric]baseline.Residual) []alert.Record {
	var out []alert.Record
	for at, res := range made {
		if s, ok := p.unjudged[at]; ok {
			out = append(out, alert.Record{Sample: s, Residuals: res})
		}
	}
	slices.SortFunc(out, func(a, b alert.Record) int { return a.Sample.Time.Compare(b.Sample.Time) })
	return out
}

// merge adds the points of more whose time is not among points.
func merge(points, more []baseline.Point) []baseline.Point {
	have := make(map[int64]int, len(points))
	for i, p := range points {
		have[p.At.UnixNano()] = i
	}
	for _, p := range more {
		if i, ok := have[p.At.UnixNano()]; ok {
			points[i] = p // what the engine holds is newer than what is stored
			continue
		}
		points = append(points, p)
	}
	return points
}

// remember takes the newest samples for messages and for telling duplicates, and what regular ones have earned since the state was stored.
func (c *canary) remember(p past) {
	c.recent, c.seen, c.next = nil, nil, 0
	for i := range p.recent {
		s := &p.recent[i]
		c.isDuplicate(s)
		if s.Regular() && s.Outcome != probe.Skipped {
			c.recent = c.recent.add(s)
		}
	}
	c.state.Tokens = min(c.state.Tokens+reprobeEarn*float64(p.earned), reprobeBudget)
}

// since returns the newest samples from a time on that were judged.
func (p past) since(c *canary, from time.Time) (list []sampleOf) {
	for i := range p.recent {
		if s := &p.recent[i]; s.Trigger != probe.Check && !s.Time.Before(from) {
			list = append(list, sampleOf{c, *s})
		}
	}
	return list
}

// reread reads every series again.
func (e *Engine) reread(ctx context.Context) error {
	for _, t := range e.order {
		for _, c := range t.canaries {
			p, err := c.read(ctx, e)
			if err != nil {
				return err
			}
			e.change.Records = append(e.change.Records, c.build(e, p, nil)...)
			for _, h := range c.metrics {
				h.Recompute()
				h.band = h.Band(e.now)
			}
			c.rest(e)
		}
	}
	return nil
}

// rest gives quiet alerts without votes the state that the bands say.
func (c *canary) rest(e *Engine) {
	for _, s := range c.series {
		if s.alert.State != alert.StatePending {
			s.calm(e, "history changed")
		}
	}
	e.change.canary(c)
}
