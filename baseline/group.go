package baseline

import (
	"math"
	"time"

	"serin/baseline/level"
)

// Group judges rounds: what several series of one metric say together. It has one offset of today and one sL for all of
// them, and no history of its own. It is not safe for concurrent use.
type Group struct {
	interval time.Duration
	th       Threshold
	state    GroupState
	intraday intraday
}

// GroupState is what a restart must find again.
type GroupState struct {
	Renewed int64       `json:"renewed,omitempty"` // Unix nanoseconds; 0 = never
	Ready   bool        `json:"ready,omitempty"`
	LevelSD float64     `json:"sl,omitempty"`
	Level   level.Model `json:"wander,omitzero"` // its key is older than its name, and stores have it
	Hold    Hold        `json:"hold,omitzero"`
	Last    Hold        `json:"last,omitzero"` // offset of the last judged round
}

// Share is what one series adds to a round: how far its value was from usual (y − mu), and the scatter of its probes.
type Share struct {
	E  float64 `json:"e,omitempty"`
	SW float64 `json:"sw,omitempty"`
}

// NewGroup returns a group whose rounds come at an interval, with the state that State returned before a stop.
func NewGroup(interval time.Duration, th Threshold, st GroupState) *Group {
	return &Group{interval: interval, th: th, state: st}
}

// State returns what NewGroup needs after a restart.
func (g *Group) State() GroupState { return g.state }

// Freeze holds today's offset at that of the last judged round (while an alert fires), or lets it go.
func (g *Group) Freeze(on bool) {
	switch {
	case !on:
		g.state.Hold = Hold{}
	case !g.state.Hold.On:
		g.state.Hold = g.state.Last
		g.state.Hold.On = true
	}
}

// Recompute drops sL, for what changes the past of the group's series.
func (g *Group) Recompute() { g.state.Renewed, g.state.Ready = 0, false }

// Share returns what a judged value of the series adds to a round; false where its band or its noise is not ready.
func (s *Series) Share(v Verdict) (Share, bool) {
	if v.Band == nil || v.Call == NotJudged || v.Value <= 0 || !s.Pools() {
		return Share{}, false
	}
	return Share{E: math.Log(v.Value) - v.Band.Mu, SW: s.noise.ProbeSD}, true
}

// Pools reports whether the series can be part of a group now: it has a band, and knows the scatter of its probes.
func (s *Series) Pools() bool {
	return s.noise.Ready && s.levels[0] != nil && s.levels[0].Ready && s.change == 0 && !s.th.Literal
}

// MayPool reports whether the series may be part of a group with its next value: none was judged since it was read, or since its
// past changed.
func (s *Series) MayPool() bool { return s.levels[0] == nil && s.change == 0 && !s.th.Literal }

// Round is what shares say together (ln units). Ratio and Z of its verdict are those of the shares' median; it has no
// value, mean or limit of its own.
type Round struct {
	Ruling
	Level level.Model // how the level of rounds moves
}

// Judge holds a round's shares against the level of all of the group's series. Before sL is known the call is NotJudged,
// and for a round of no shares.
func (g *Group) Judge(at time.Time, series []*Series, shares []Share) Round {
	t := at.UnixNano()
	g.renew(t, series)
	if !g.state.Ready || len(shares) == 0 {
		return Round{Ruling: Ruling{Call: NotJudged, Why: "missing"}}
	}
	o := g.offset(t, series)
	g.state.Last = Hold{Set: true, Offset: o}
	if g.state.Hold.On {
		g.state.Hold.Set, g.state.Hold.Offset = true, o
	}
	es, inverse := make([]float64, len(shares)), 0.0
	for i, x := range shares {
		es[i] = x.E
		inverse += 1 / (x.SW * x.SW)
	}
	line := max(g.th.Sigma*math.Hypot(g.state.LevelSD, scatterOf(inverse)), 4*g.state.LevelSD, math.Log(max(1, g.th.MinRatio)))
	m := median(es) - o
	out := Round{Ruling{Call: Neither, Z: 2 * m / line, Ratio: math.Exp(m)}, g.state.Level}
	switch {
	case m > line:
		out.Call = Breach
	case m <= line/2 || out.Ratio < g.th.ResolveRatio:
		out.Call = Calm
	}
	return out
}

func (g *Group) offset(t int64, series []*Series) float64 {
	if g.state.Hold.On && g.state.Hold.Set {
		return g.state.Hold.Offset
	}
	return g.intraday.offset(t, g.interval, g.th.OffsetCap, series...)
}

// renew computes sL anew where it never was, or 00:00 or 12:00 of the first series' zone has passed since.
func (g *Group) renew(t int64, series []*Series) {
	if len(series) == 0 {
		return
	}
	asOf := t
	if g.state.Renewed != 0 && g.state.Renewed <= t+ahead {
		asOf = series[0].clock.start(t, half)
		if g.state.Renewed >= asOf {
			return
		}
	}
	g.state.Renewed = asOf
	g.state.LevelSD, g.state.Ready = g.levelSD(asOf, series)
	g.state.Level = g.levelModel(asOf, series)
}

// eachBlock tells what all series say in each block of a length, of the window that ends at an instant, by time: how far from usual
// the judged values were, without excluded ones, and Σ sw⁻² of them. e is overwritten by the next.
func eachBlock(asOf, length int64, series []*Series, tell func(block int64, e []float64, inverse float64)) {
	left := make([]points, len(series)) // each from the first that counts on
	for i, s := range series {
		if s.noise.Ready {
			left[i] = s.pts.in(interval{asOf - int64(s.days)*day, asOf}).counting()
		}
	}
	var e []float64
	for {
		first := int64(math.MaxInt64)
		for i := range left {
			if len(left[i]) > 0 {
				first = min(first, left[i][0].at)
			}
		}
		if first == math.MaxInt64 {
			return
		}
		block := floorDiv(first, length)
		end := (block + 1) * length
		e = e[:0]
		var inverse float64
		for i, s := range series {
			for len(left[i]) > 0 && left[i][0].at < end {
				x, _ := s.e(&left[i][0])
				e = append(e, x)
				inverse += 1 / (s.noise.ProbeSD * s.noise.ProbeSD)
				left[i] = left[i][1:].counting()
			}
		}
		tell(block, e, inverse)
	}
}

// counting returns the points from the first on whose residual enters sw and sL.
func (ps points) counting() points {
	for i := range ps {
		if ps[i].counts() {
			return ps[i:]
		}
	}
	return nil
}

// scatterOf is what probes alone make the median of a round scatter by, from Σ sw⁻² of them.
func scatterOf(inverse float64) float64 { return math.Sqrt(1.35 / inverse) }

// levelSD is sL as of an instant: the scatter of the blocks' means less what the probes' own scatter makes of it.
func (g *Group) levelSD(asOf int64, series []*Series) (sl float64, ok bool) {
	length := max(30*minute, 4*int64(g.interval))
	var means, own []float64
	var then intraday
	eachBlock(asOf, length, series, func(k int64, e []float64, inverse float64) {
		if len(e) >= minBlock {
			means = append(means, trimmed(e)-then.offset(k*length+length/2, g.interval, g.th.OffsetCap, series...))
			own = append(own, 1.15/inverse)
		}
	})
	if len(means) < minBlocks {
		return 0, false
	}
	v := winsorSD(means)
	v *= v
	return math.Sqrt(max(v-mean(own), .15*v, minLevelSD*minLevelSD)), true
}

// levelModel measures how the level of rounds moves: of the median where two series and more have spoken.
func (g *Group) levelModel(asOf int64, series []*Series) level.Model {
	if !g.state.Ready {
		return level.Model{}
	}
	var inverse float64
	for _, s := range series {
		inverse += 1 / (s.noise.ProbeSD * s.noise.ProbeSD)
	}
	grid := level.NewGrid(asOf, time.Duration(int64(series[0].days)*day), g.interval)
	length := max(int64(g.interval), 1)
	eachBlock(asOf, length, series, func(k int64, e []float64, _ float64) {
		if len(e) >= 2 {
			grid.Put(k*length, median(e))
		}
	})
	return fitted(grid, scatterOf(inverse))
}
