package baseline

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Grain is how exactly a series keeps instants. Of two regular samples in one of them the first stays.
const Grain = 8 * time.Millisecond

const grain = int64(Grain)

// grains is the place of an instant on the series' grid.
func grains(t int64) int64 { return floorDiv(t, grain) }

// grainsUp is the first place at or after an instant: what was there before it ends there.
func grainsUp(t int64) int64 { return -grains(-t) }

// point is a regular Point as a history holds it.
type point struct {
	when int64 // Unix nanoseconds
	y    float64
	e, r float64 // e is NaN where there was no band
	out  bool    // left out of bands
}

func (p *point) at() int64      { return p.when }
func (p *point) excluded() bool { return p.out }
func (p *point) judged() bool   { return p.e == p.e }

func (p *point) unpack() Point {
	out := Point{At: time.Unix(0, p.at()).UTC(), Y: p.y, Regular: true, Excluded: p.excluded()}
	if p.judged() {
		out.Res = Residual{E: p.e, O: p.e - p.r, R: p.r, Judged: true}
	}
	return out
}

// cell is a point in 12 bytes, because a fleet holds tens of millions of them. The instant is kept to 8 ms, y and r to
// two millionths, e to four: the mean of thirty values, and what is told of a band, is right to a millionth, and the same
// before and after a restart.
type cell struct {
	t uint32 // 31 bits: grains since its history's base; one that is set where it is excluded
	y uint32 // 23 bits of y, 9 of r
	e uint32 // 21 bits of e, 11 of r
}

// The fixed points. y reaches ±16, which is from 0.1 µs to 100 days; e ±8, a ratio of 3000; r ±2, beyond which the clipped
// and trimmed numbers made of it do not look.
const (
	yStep    = 1. / (1 << 18)
	yMost    = 1<<22 - 1 // steps
	eStep    = 1. / (1 << 17)
	eMost    = 1<<20 - 1
	rStep    = 1. / (1 << 18)
	rMost    = 1<<19 - 1
	unjudged = -1 << 20 // of e
)

// fixed is x in steps, at most so many either way.
func fixed(x, step, most float64) uint32 {
	return uint32(int32(math.Round(min(max(x/step, -most), most))))
}

func (c *cell) grains() int64  { return int64(c.t >> 1) }
func (c *cell) excluded() bool { return c.t&1 == 1 }

func (c *cell) exclude(out bool) {
	c.t &^= 1
	if out {
		c.t |= 1
	}
}

// hold takes y and the residual; without one, y's finer digits stand where r would.
func (c *cell) hold(y float64, res Residual) {
	if !res.Judged {
		whole := math.Floor(y / yStep)
		c.put(fixed(whole, 1, yMost), 1<<20, uint32((y/yStep-whole)*(1<<20)))
		return
	}
	c.put(fixed(y, yStep, yMost), fixed(res.E, eStep, eMost), fixed(res.E-res.O, rStep, rMost))
}

func (c *cell) put(y, e, r uint32) {
	c.y = y<<9 | r>>11&0x1ff
	c.e = e<<11 | r&0x7ff
}

// usual returns e; false where there was no band.
func (c *cell) usual() (e float64, ok bool) {
	v := int32(c.e) >> 11
	return float64(v) * eStep, v != unjudged
}

// value is y.
func (c *cell) value() float64 {
	y := float64(int32(c.y)>>9) * yStep
	if !c.judged() {
		y += float64(c.r()) * (yStep / (1 << 20))
	}
	return y
}

func (c *cell) judged() bool { return int32(c.e)>>11 != unjudged }

func (c *cell) r() uint32 { return c.y&0x1ff<<11 | c.e&0x7ff }

// residual is r of a judged point.
func (c *cell) residual() float64 { return float64(int32(c.r()<<12)>>12) * rStep }

// points is a history by time, no two in one grain. Its parts share its cells.
type points struct {
	base  int64 // grains
	cells []cell
}

// reach is how many grains a history spans at most: 198 days.
const reach = 1<<31 - 1

func (ps points) pack(p Point) cell {
	c := cell{t: uint32(grains(p.At.UnixNano())-ps.base) << 1}
	c.exclude(p.Excluded)
	c.hold(p.Y, p.Res)
	return c
}

func (ps points) len() int { return len(ps.cells) }

// at returns the instant of the i-th point.
func (ps points) at(i int) int64 { return (ps.base + ps.cells[i].grains()) * grain }

// point returns the i-th.
func (ps points) point(i int) point {
	c := &ps.cells[i]
	p := point{when: ps.at(i), out: c.excluded(), y: c.value(), e: math.NaN()}
	if e, ok := c.usual(); ok {
		p.e, p.r = e, c.residual()
	}
	return p
}

// all yields the points by time; what it yields is overwritten by the next.
func (ps points) all() iter.Seq[*point] {
	return func(yield func(*point) bool) {
		var p point
		for i := range ps.cells {
			p = ps.point(i)
			if !yield(&p) {
				return
			}
		}
	}
}

// usable reports whether p can enter a band at all.
func usable(p Point) bool { return p.Regular && !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) }

// since returns the index of the first point at or after t.
func (ps points) since(t int64) int { return ps.from(grains(t)) }

func (ps points) from(g int64) int {
	g -= ps.base
	low, high := 0, len(ps.cells)
	for low < high {
		if m := (low + high) / 2; ps.cells[m].grains() < g {
			low = m + 1
		} else {
			high = m
		}
	}
	return low
}

// in returns the points in s: those of the grain that s begins in too.
func (ps points) in(s span) points {
	i := ps.since(s.from)
	n := ps.tail(i).from(grainsUp(s.to))
	return points{ps.base, ps.cells[i : i+n]}
}

func (ps points) tail(i int) points { return points{ps.base, ps.cells[i:]} }

// insert puts p in its place; a point of the same instant stays.
func (ps points) insert(p Point) points {
	g := grains(p.At.UnixNano())
	if g < ps.base || g-ps.base > reach {
		ps = ps.around(g)
	}
	i := ps.from(g)
	if i < len(ps.cells) && ps.base+ps.cells[i].grains() == g {
		return ps
	}
	ps.cells = slices.Insert(ps.cells, i, ps.pack(p))
	return ps
}

// around moves the base so that g is within reach; what is too far behind it leaves.
func (ps points) around(g int64) points {
	ps.cells = ps.cells[ps.from(g-reach):]
	base := g
	if len(ps.cells) > 0 {
		base = min(g, ps.base+ps.cells[0].grains())
	}
	for i := range ps.cells {
		c := &ps.cells[i]
		c.t = uint32(ps.base+c.grains()-base)<<1 | c.t&1
	}
	ps.base = base
	return ps
}

// room makes room for one more: old points leave first, then it grows, to no more than is needed when it is full. A fleet's
// histories stay full.
func (ps points) room(oldest int64, full int) points {
	if len(ps.cells) < cap(ps.cells) {
		return ps
	}
	if old := ps.since(oldest); old > 0 {
		ps.cells = ps.cells[:copy(ps.cells, ps.cells[old:])]
		return ps
	}
	n := len(ps.cells)
	size := n + max(16, n/8)
	if n < full {
		size = min(size, full)
	} else {
		size = n + max(16, n/32)
	}
	grown := make([]cell, n, size)
	copy(grown, ps.cells)
	ps.cells = grown
	return ps
}
