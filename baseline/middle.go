package baseline

import (
	"math"
	"slices"
)

// Today's offset is asked for with every value. Bins, equal parts of the values' span, find those of a rank with few branches
// that nobody can foretell.
const (
	bins      = 128
	worthBins = 64 // values; fewer are chosen from faster
)

// middle returns the mean of the values, none of them NaN, from the 20th to the 80th percentile, both included. It reorders x.
func middle(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	last := float64(len(x) - 1)
	const close = 1e-9 // .2 and .8 are no binary fractions: a position that is whole must count as whole
	low, high := int(math.Ceil(.2*last-close)), int(math.Floor(.8*last+close))
	if len(x) < worthBins {
		choose(x, low)
		choose(x[low:], high-low)
		return mean(x[low : high+1])
	}
	return sumBetween(x, low, high) / float64(high-low+1)
}

// sumBetween returns the sum of the values that sorting would put from low to high, both included. It reorders x.
func sumBetween(x []float64, low, high int) (sum float64) {
	var b binned
	b.fill(x)
	first, before := b.of(low)
	final, past := b.of(high)
	edge := 0 // x[:edge] are the values of the bins that low and high fall into
	for i, v := range x {
		if k := b.bin(v); k == first || k == final {
			x[i], x[edge] = x[edge], v
			edge++
		}
	}
	slices.Sort(x[:edge])
	between := 0
	if first < final {
		between = past - before - b.count[first]
		for k := first + 1; k < final; k++ {
			sum += b.sum[k]
		}
	}
	for _, v := range x[low-before : high-before-between+1] {
		sum += v
	}
	return sum
}

// binned says how many values lie in each of equal parts of their span, and what they come to.
type binned struct {
	least, scale float64
	count        [bins]int
	sum          [bins]float64
}

func (b *binned) fill(x []float64) {
	b.least = x[0]
	most := x[0]
	for _, v := range x {
		if v < b.least {
			b.least = v
		}
		if v > most {
			most = v
		}
	}
	if most-b.least > 1e-9 { // else all lie in the first
		b.scale = bins / (most - b.least)
	}
	for _, v := range x {
		k := b.bin(v)
		b.count[k]++
		b.sum[k] += v
	}
}

// bin is the part that a value lies in; a greater value never lies in a lower one.
func (b *binned) bin(v float64) int { return min(int((v-b.least)*b.scale), bins-1) }

// of returns the bin of the value of a rank, and how many values lie in lower ones.
func (b *binned) of(rank int) (bin, before int) {
	for before+b.count[bin] <= rank {
		before += b.count[bin]
		bin++
	}
	return bin, before
}
