package alert

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

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
	recent   []probe.Sample         // of the last hour and a bit: rates, line, duplicates
}

// miss is a regular probe whose latency is not in the band.
type miss struct {
	at  time.Time
	why string
}

// read loads the canary's series from its history. What residuals it makes for samples that had none are returned.
func (e *Engine) read(ctx context.Context, c *watch) ([]Record, past, error) {
	if e.opt.History == nil {
		e.series(c, past{})
		return nil, past{}, nil
	}
	p, err := e.scan(ctx, c, e.now.Add(-readBack(e.opt.Baseline.Window)))
	if err == nil && len(p.unjudged) > 0 {
		p, err = e.scan(ctx, c, e.now.Add(-judgeBack(e.opt.Baseline.Window)))
	}
	if err != nil {
		return nil, past{}, fmt.Errorf("read history of %s: %w", c.key, err)
	}
	return e.series(c, p), p, nil
}

func (e *Engine) scan(ctx context.Context, c *watch, since time.Time) (past, error) {
	p := past{points: map[probe.Metric][]baseline.Point{}, misses: map[probe.Metric][]miss{}, unjudged: map[int64]probe.Sample{}}
	for rec, err := range e.opt.History.History(ctx, c.key, since) {
		if err != nil {
			return past{}, err
		}
		p.recent = append(p.recent, rec.Sample)
		if n := len(p.recent); n > 2*recentMax {
			p.recent = append(p.recent[:0], p.recent[n-recentMax:]...)
		}
		if rec.Sample.Regular() && rec.Sample.Outcome != probe.Skipped {
			p.add(c, rec, c.mine(&rec.Sample, e.opt.Baseline))
		}
	}
	return p, nil
}

// recentMax bounds the newest samples kept while reading: an hour of one every 4 s.
const recentMax = 1024

// add takes the record's latencies.
func (p *past) add(c *watch, rec Record, mine bool) {
	for _, m := range c.metrics() {
		v, why := entering(&rec.Sample, m)
		if !mine {
			why = "spec"
		}
		if why != "" {
			p.misses[m] = append(p.misses[m], miss{rec.Sample.Time, why})
			continue
		}
		res, judged := rec.Residuals[m]
		if !judged {
			p.unjudged[rec.Sample.Time.UnixNano()] = rec.Sample
		}
		p.points[m] = append(p.points[m], baseline.Point{At: rec.Sample.Time, Y: math.Log(v.Seconds()), Regular: true,
			Excluded: rec.Excluded[m], Res: res})
	}
}

// series makes the canary's series anew from its past and from the points it holds already, which the store may not
// have written yet. It returns records of the samples that got residuals by it.
func (e *Engine) series(c *watch, p past) []Record {
	made := map[int64]map[probe.Metric]baseline.Residual{}
	for _, m := range c.metrics() {
		key := baseline.Key{Canary: c.key, Metric: m, Spec: c.Spec, Zone: c.Canary.Scene.Zone, Interval: c.Canary.Interval}
		s := baseline.NewSeries(key, e.opt.Baseline, c.Rule.Threshold)
		state := e.stateOf(c, m)
		points := p.points[m]
		old := c.series[m]
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
			made[at][m] = pt.Res
		}
		for _, x := range p.misses[m] {
			s.Miss(x.at, x.why)
		}
		if e.opt.Baseline.OnChange == onChangeRescale && (c.respecced && old == nil || old != nil && old.Key().Spec != c.Spec) {
			s.Changed(c.Spec, e.now)
		}
		c.series[m] = s
		c.setBand(m, s.Band(e.now))
		c.mark(m).hour = s.Newest().Unix() / 3600
	}
	return p.records(made)
}

// records pairs residuals that were made with their samples, by time.
func (p past) records(made map[int64]map[probe.Metric]baseline.Residual) []Record {
	var out []Record
	for at, res := range made {
		if s, ok := p.unjudged[at]; ok {
			out = append(out, Record{Sample: s, Residuals: res})
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Sample.Time.Compare(b.Sample.Time) })
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

// remember takes the newest samples for the line of values, for telling duplicates, and as votes of the rates.
func (e *Engine) remember(c *watch, samples []probe.Sample) []vote {
	var votes []vote
	c.recent, c.seen, c.next = nil, nil, 0
	for i := range samples {
		s := &samples[i]
		c.doubled(s)
		if s.Trigger == probe.Check {
			continue
		}
		if s.Regular() && s.Outcome != probe.Skipped {
			c.recent = c.recent.add(s)
		}
		f := familyOf(s)
		if f != probe.FamilyNone && f != probe.FamilyLimit && e.now.Sub(s.Time).Abs() <= rateWindow {
			votes = append(votes, vote{at: s.Time, canary: c.key, family: f, cause: s.Outcome})
		}
	}
	return votes
}
