package baseline

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// point is a regular Point in 24 bytes, because a fleet holds tens of millions of them. The instant and y are exact.
// E and O are kept to 24 bits: at most 3e-8 of their size, a ten-thousandth of what the spread of a handful of values
// can mean, and the same before and after a restart.
type point struct {
	stamp int64 // Unix nanoseconds, twice; plus 1 where the point is excluded
	y     float64
	e, o  float32 // e is NaN where there was no band
}

func pack(p Point) point {
	c := point{stamp: p.At.UnixNano() << 1, y: p.Y}
	c.exclude(p.Excluded)
	c.setResidual(p.Res)
	return c
}

func (p *point) at() int64      { return p.stamp >> 1 }
func (p *point) excluded() bool { return p.stamp&1 == 1 }
func (p *point) judged() bool   { return p.e == p.e }
func (p *point) r() float64     { return float64(p.e) - float64(p.o) }

func (p *point) exclude(out bool) {
	p.stamp &^= 1
	if out {
		p.stamp |= 1
	}
}

func (p *point) setResidual(r Residual) {
	p.e, p.o = float32(math.NaN()), 0
	if r.Judged {
		p.e, p.o = float32(r.E), float32(r.O)
	}
}

func (p *point) unpack() Point {
	out := Point{At: time.Unix(0, p.at()).UTC(), Y: p.y, Regular: true, Excluded: p.excluded()}
	if p.judged() {
		out.Res = Residual{E: float64(p.e), O: float64(p.o), R: p.r(), Judged: true}
	}
	return out
}

// usable reports whether p can enter a band at all.
func usable(p Point) bool { return p.Regular && !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) }

// points is a history by time, no two at one instant.
type points []point

// since returns the index of the first point at or after t.
func (ps points) since(t int64) int {
	i, _ := slices.BinarySearchFunc(ps, t, func(p point, t int64) int { return cmp.Compare(p.at(), t) })
	return i
}

// in returns the points in s.
func (ps points) in(s span) points { return ps[ps.since(s.from):ps.since(s.to)] }

// insert puts p in its place; a point of the same instant stays.
func (ps points) insert(p point) points {
	if n := len(ps); n == 0 || ps[n-1].at() < p.at() {
		return append(ps, p)
	}
	i := ps.since(p.at())
	if ps[i].at() == p.at() {
		return ps
	}
	return slices.Insert(ps, i, p)
}

// room makes room for one more: old points leave first, then it grows by an eighth. A fleet's histories stay full.
func (ps points) room(oldest int64) points {
	if len(ps) < cap(ps) {
		return ps
	}
	if old := ps.since(oldest); old > 0 {
		return ps[:copy(ps, ps[old:])]
	}
	grown := make(points, len(ps), len(ps)+max(16, len(ps)/8))
	copy(grown, ps)
	return grown
}
