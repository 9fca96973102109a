package baseline

import (
	"maps"
	"math"
	"slices"
	"time"
)

// What a group's newest values are compared with, beside the usual: the level of the time before them.
const (
	beforeFrom  = 95 * minute // of them, before the first
	beforeUntil = 5 * minute
	beforeLeast = 8  // values
	carries     = .9 // how much of that level is still there a while later
)

// Rises says how far a level moves by itself: the scatter (ln) of the mean of a quarter of an hour, of half an hour and
// of an hour beside the level of the time before it. Zeros: not known.
type Rises [3]float64

// riseSpans are the lengths that Rises are of.
var riseSpans = [...]int64{15 * minute, 30 * minute, 60 * minute}

// Over returns the scatter of the mean over a span of time, interpolated; 0 when it is not known.
func (r Rises) Over(span time.Duration) float64 {
	if int64(span) <= riseSpans[0] {
		return r[0]
	}
	for i := 1; i < len(r); i++ {
		if lo, hi := riseSpans[i-1], riseSpans[i]; int64(span) <= hi {
			part := float64(int64(span)-lo) / float64(hi-lo)
			return r[i-1]*(1-part) + r[i]*part
		}
	}
	return r[len(r)-1]
}

// before returns the level of the time before t, as far as it carries on; false where too few values tell it.
func (g *Group) before(t int64, series []*Series) (float64, bool) {
	if g.interval > 15*time.Minute {
		return 0, false
	}
	var room [256]float64
	list := room[:0]
	for _, s := range series {
		list = s.appendE(list, span{t - beforeFrom, t - beforeUntil + 1})
	}
	if len(list) < beforeLeast {
		return 0, false
	}
	return carries * middle(list), true
}

// rises measures Rises over the window that ends at an instant. A block that holds excluded values, or follows one,
// says nothing.
func (g *Group) rises(asOf int64, series []*Series) (all Rises) {
	if g.interval > 15*time.Minute {
		return all
	}
	known := map[int64]float64{} // level before an instant, and what the scatter of probes adds to it
	for i, length := range riseSpans {
		length = max(length, 2*int64(g.interval))
		least := max(2, len(series)*int(length/int64(g.interval))/2)
		blocks := pool(asOf, length, series, true)
		var moves, own []float64
		for _, k := range slices.Sorted(maps.Keys(blocks)) {
			b, start := blocks[k], k*length
			if len(b.e) < least || b.spoiled || spoiledBefore(blocks, k, length) {
				continue
			}
			level, asked := known[start]
			if !asked {
				var ok bool
				if level, ok = g.before(start, series); !ok {
					level = math.NaN()
				}
				known[start] = level
			}
			if math.IsNaN(level) {
				continue
			}
			moves = append(moves, trimmed(b.e)-level)
			own = append(own, 1.1/b.inverse+carries*carries*1.2/(b.inverse*float64(beforeFrom-beforeUntil)/float64(length)))
		}
		if len(moves) < minBlocks {
			return Rises{}
		}
		v := wsd(moves)
		v *= v
		all[i] = math.Sqrt(max(v-mean(own), .15*v, leastSL*leastSL))
	}
	return all
}

// spoiledBefore reports whether the level before a block holds excluded values.
func spoiledBefore(blocks map[int64]*pooledBlock, k, length int64) bool {
	for back := int64(1); (back-1)*length < beforeFrom; back++ {
		if b := blocks[k-back]; b != nil && b.spoiled {
			return true
		}
	}
	return false
}
