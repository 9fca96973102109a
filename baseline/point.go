package baseline

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// point is a regular Point as a history holds it: 24 bytes, because a fleet holds tens of millions. float32 is exact to a
// millionth for values from a microsecond to weeks.
type point struct {
	at       int64   // Unix nanoseconds
	y        float32 // ln seconds
	e, r     float32 // NaN where there was no band
	excluded bool    // left out of bands
}

func newPoint(p Point) point {
	nan := float32(math.NaN())
	out := point{at: p.At.UnixNano(), y: float32(p.Y), e: nan, r: nan, excluded: p.Excluded}
	if p.Res.Judged {
		out.e, out.r = float32(p.Res.E), float32(p.Res.R)
	}
	return out
}

func (p *point) judged() bool { return p.e == p.e }

// counts reports whether the residual enters sw and sL.
func (p *point) counts() bool { return p.judged() && !p.excluded }

// export returns p as others see it.
func (p *point) export() Point {
	out := Point{At: time.Unix(0, p.at).UTC(), Y: float64(p.y), Regular: true, Excluded: p.excluded}
	if p.judged() {
		e, r := float64(p.e), float64(p.r)
		out.Res = Residual{E: e, O: e - r, R: r, Judged: true}
	}
	return out
}

// usable reports whether p can enter a band at all.
func usable(p Point) bool { return p.Regular && !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) }

// points is a history by time, no two of one instant.
type points []point

// since returns the index of the first point at or after t.
func (ps points) since(t int64) int {
	i, _ := slices.BinarySearchFunc(ps, t, func(p point, t int64) int { return cmp.Compare(p.at, t) })
	return i
}

// in returns the points in s; they share the history's memory.
func (ps points) in(s interval) points {
	from := ps[ps.since(s.from):]
	return from[:from.since(s.to)]
}

// insert puts p in its place; a point of the same instant stays.
func (ps points) insert(p Point) points {
	i := ps.since(p.At.UnixNano())
	if i < len(ps) && ps[i].at == p.At.UnixNano() {
		return ps
	}
	return slices.Insert(ps, i, newPoint(p))
}

// room makes room for one more: old points leave first, then it grows, to no more than is needed when it is full. A fleet's
// histories stay full.
func (ps points) room(oldest int64, full int) points {
	n := len(ps)
	if n < cap(ps) {
		return ps
	}
	if old := ps.since(oldest); old > 0 {
		return ps[:copy(ps, ps[old:])]
	}
	size := n + max(16, n/32)
	if n < full {
		size = min(n+max(16, n/8), full)
	}
	return append(make(points, 0, size), ps...)
}
