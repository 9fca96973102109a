package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestCellsHoldWhatTheyPromise packs points of any instant, value and residual: what comes back is right to the promised
// digits, what is out of reach is the nearest that is not, and packing it again changes nothing.
func TestCellsHoldWhatTheyPromise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	near := func(got, want, most, off float64) bool { return math.Abs(got-min(max(want, -most), most)) <= off }
	for range 200_000 {
		wide := func(sizes ...float64) float64 { return (rnd.Float64()*2 - 1) * sizes[rnd.IntN(len(sizes))] }
		in := Point{At: time.Unix(0, rnd.Int64N(1<<62)-1<<61), Y: wide(1, 8, 16, 17, 1000), Regular: true, Excluded: rnd.IntN(2) == 0}
		off := 1e-11
		if rnd.IntN(2) == 0 {
			e, o := wide(.1, 2, 8, 9, 1e4), wide(.2)
			in.Res, off = Residual{E: e, O: o, R: e - o, Judged: true}, 2e-6
		}
		if math.Abs(in.Y) > 15.999 {
			off = 1e-5
		}
		p := points{}.insert(in).point(0)
		switch late := in.At.UnixNano() - p.when; {
		case late < 0 || late >= grain, p.out != in.Excluded, p.judged() != in.Res.Judged, !near(p.y, in.Y, 16, off):
			t.Fatalf("%+v comes back as %+v", in, p)
		case p.judged() && !(near(p.e, in.Res.E, 8, 1e-5) && near(p.r, in.Res.R, 2, 5e-6)):
			t.Fatalf("%+v comes back with e %v, r %v", in.Res, p.e, p.r)
		}
		if q := (points{}).insert(p.unpack()).point(0); q.when != p.when || q.y != p.y || p.judged() && (q.e != p.e || q.r != p.r) {
			t.Fatalf("%+v comes back as %+v the second time", p, q)
		}
	}
}

// TestPointsKeepTheFirstOfAGrain adds points in any order, many of them within a few milliseconds, far from 1970 too: they
// lie by time, and of two in one grain the first stays.
func TestPointsKeepTheFirstOfAGrain(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var ps points
		first := map[int64]float64{}
		from := rnd.Int64N(1<<62) - 1<<61
		for i := range 400 {
			at, y := from+rnd.Int64N(190*day), float64(i%31)/4
			if rnd.IntN(3) == 0 {
				at = from + rnd.Int64N(100*int64(time.Millisecond))
			}
			if _, ok := first[grains(at)]; !ok {
				first[grains(at)] = y
			}
			ps = ps.insert(Point{At: time.Unix(0, at), Y: y, Regular: true})
		}
		if ps.len() != len(first) {
			t.Fatalf("seed %d: %d points, want %d", seed, ps.len(), len(first))
		}
		last := int64(math.MinInt64)
		for p := range ps.all() {
			if y, ok := first[grains(p.when)]; !ok || p.y != y || p.when <= last {
				t.Fatalf("seed %d: %+v after %d, want %v", seed, p, last, y)
			}
			last = p.when
		}
	}
}
