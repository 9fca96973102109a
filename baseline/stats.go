package baseline

import (
	"math"
	"slices"
)

// winsorSDFactor makes the standard deviation of values clipped at their 10th and 90th percentiles consistent for a normal law.
const winsorSDFactor = 1.2139

// quantile returns the q quantile of values, interpolated linearly between the sorted ones' positions q·(n−1). It reorders
// them.
func quantile(x []float64, q float64) float64 {
	pos := q * float64(len(x)-1)
	i := int(pos)
	choose(x, i)
	if i+1 >= len(x) {
		return x[i]
	}
	return x[i] + (pos-float64(i))*(slices.Min(x[i+1:])-x[i])
}

// clip clips x at its 10th and 90th percentiles, in place, and reorders it.
func clip(x []float64) {
	if len(x) == 0 {
		return
	}
	lo, hi := quantile(x, .1), quantile(x, .9)
	for i, v := range x {
		x[i] = min(max(v, lo), hi)
	}
}

// mean of no values is 0.
func mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// meanSD returns the mean and the standard deviation with n−1; of fewer than two values the latter is 0.
func meanSD(x []float64) (m, sd float64) {
	m = mean(x)
	if len(x) < 2 {
		return m, 0
	}
	var sum float64
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return m, math.Sqrt(sum / float64(len(x)-1))
}

// winsorSD is the robust standard deviation of x, which it reorders and clips.
func winsorSD(x []float64) float64 {
	clip(x)
	_, sd := meanSD(x)
	return winsorSDFactor * sd
}

// fewEnough values are sorted faster than they are chosen from.
const fewEnough = 12

// choose reorders x, without NaN, so that x[k] is what sorting would put there, with nothing greater before it and nothing
// less behind it.
func choose(x []float64, k int) {
	for len(x) > fewEnough {
		a, b, c := x[0], x[len(x)/2], x[len(x)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		less, same := 0, 0 // x[:less] < pivot, x[less:less+same] == pivot
		for i, v := range x {
			if v < pivot {
				x[i], x[less+same], x[less] = x[less+same], x[less], v
				less++
			} else if v == pivot {
				x[i], x[less+same] = x[less+same], v
				same++
			}
		}
		switch {
		case k < less:
			x = x[:less]
		case k < less+same:
			return
		default:
			x, k = x[less+same:], k-less-same
		}
	}
	slices.Sort(x)
}

// trimmed returns the mean without the lowest and the highest fifth (rounded down) of x. It reorders x.
func trimmed(x []float64) float64 {
	cut := len(x) / 5
	if kept := len(x) - 2*cut; cut > 0 {
		choose(x, cut)
		choose(x[cut:], kept-1)
	}
	return mean(x[cut : len(x)-cut])
}

// student975 is the 0.975 quantile of Student's t with 2 to 5 degrees of freedom; fewer never make a band, more are
// seven days.
var student975 = [...]float64{2: 4.302652729749464, 3: 3.182446305283708, 4: 2.776445105197779, 5: 2.570581835636315}

// presetKappa is the default preset's factor.
const presetKappa = 1.375

// kappa widens the preset's factor where fewer than seven days are known: few days tell a standard deviation badly,
// and their mean too.
func kappa(preset float64, days int) float64 {
	nu := days - 1
	if nu < 2 || nu >= len(student975) {
		return preset
	}
	return max(preset, student975[nu]/1.96*math.Sqrt(1+1/float64(days)))
}

// median of no values is 0. It reorders x.
func median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	choose(x, n/2)
	if n%2 == 1 {
		return x[n/2]
	}
	return (slices.Max(x[:n/2]) + x[n/2]) / 2
}
