package baseline

import (
	"math"
	"slices"
	"testing"
	"time"
)

// 1 2 3 4 10: the percentiles stand at positions .4 and 3.6, so 1.4 and 4 + .6·6 = 7.6; the clipped mean is 18/5.
func TestClippedMoments(t *testing.T) {
	x := []float64{10, 3, 1, 4, 2}
	near(t, "winsorSD", winsorSD(slices.Clone(x)), 2.9684757360975684)
	clip(x)
	for i, want := range []float64{1.4, 2, 3, 4, 7.6} {
		near(t, "clipped", x[i], want)
	}
	m, sd := meanSD(x)
	near(t, "mean", m, 3.6)
	near(t, "sd", sd, 2.445403852127497) // √((4.84 + 2.56 + .36 + .16 + 16)/4)
}

func TestClippedMomentsOfElevenValues(t *testing.T) {
	x := []float64{.3, .1, .2, .9, .4, .35, .25, .15, .5, .45, .05} // whole positions: 1 and 9
	near(t, "winsorSD", winsorSD(x), 0.18409705003068355)
	near(t, "mean", mean(x), .3)
}

func TestMomentsOfFew(t *testing.T) {
	for _, x := range [][]float64{nil, {4}} {
		if got := winsorSD(slices.Clone(x)); got != 0 {
			t.Errorf("winsorSD of %v = %v, want 0", x, got)
		}
	}
	if got := interquintileMean([]float32{4}); got != 4 {
		t.Errorf("interquintile mean of one value = %v, want it", got)
	}
	if got := interquintileMean(nil); got != 0 {
		t.Errorf("interquintile mean of none = %v, want 0", got)
	}
}

func TestMiddleAndTrimmedMeans(t *testing.T) {
	f := func(x []float64, wantMiddle, wantTrimmed float64) {
		t.Helper()
		var sorted []float32
		for _, v := range slices.Sorted(slices.Values(x)) {
			sorted = append(sorted, float32(v))
		}
		near(t, "interquintile mean", interquintileMean(sorted), wantMiddle)
		near(t, "trimmed", trimmed(slices.Clone(x)), wantTrimmed)
	}
	f([]float64{9, 1, 2}, 2, 4)                           // positions .4 to 1.6: the median; a fifth of three is none
	f([]float64{100, 1, 2, 3, 4, -9}, 2.5, 2.5)           // positions 1 to 4, whole
	f([]float64{0, 0, 1, 2, 3, 6, 50, 60}, 3, 62./6)      // positions 1.4 to 5.6: 1 2 3 6; without one at each end: 62 over six
	f([]float64{5, 1, 2, 3, 4, 6, 7, 8, 9, 70}, 5.5, 5.5) // positions 1.8 to 7.2: 3 … 8; without two at each end the same
	f([]float64{1, 1, 4, 7, 7, 10, 11, 12, 13, 90, 91}, 64./7, 64./7)
}

// The quantiles are checked against the density itself: the integral up to each is .975.
func TestStudentQuantiles(t *testing.T) {
	for nu := 2; nu < len(student975); nu++ {
		n := float64(nu)
		scale := math.Exp(lgamma((n+1)/2)-lgamma(n/2)) / math.Sqrt(n*math.Pi)
		density := func(x float64) float64 { return scale * math.Pow(1+x*x/n, -(n+1)/2) }
		const steps = 20000 // Simpson
		h := student975[nu] / steps
		sum := density(0) + density(student975[nu])
		for i := 1; i < steps; i++ {
			sum += density(float64(i)*h) * float64(2+2*(i%2))
		}
		if got := .5 + sum*h/3; math.Abs(got-.975) > 1e-12 {
			t.Errorf("P(t ≤ %v) with %d degrees = %v, want .975", student975[nu], nu, got)
		}
	}
}

func lgamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

func TestKappaByDays(t *testing.T) {
	for days, want := range map[int]float64{3: 2.534834399840564, 4: 1.8153485391221071, 5: 1.5517567487669777, 6: 1.4166049597905757, 7: 1.375, 14: 1.375} {
		near(t, "kappa", kappa(1.375, days), want)
	}
	near(t, "kappa of the quiet preset on 6 days", kappa(1.5, 6), 1.5)
}

// residuals is a history whose R are those given, at even steps from midnight on.
func residuals(every time.Duration, rs []float64) []Point {
	list := make([]Point, len(rs))
	for i, r := range rs {
		list[i] = Point{At: utc(3, 2, 0, 0).Add(time.Duration(i) * every), Regular: true, Res: Residual{E: r, R: r, Judged: true}}
	}
	return list
}

func noiseOf(every time.Duration, list []Point) Noise {
	s := NewSeries(Key{Interval: every}, DefaultOptions(), DefaultThreshold())
	for _, p := range list {
		s.Add(p)
	}
	return s.measureNoise(list[len(list)-1].At.UnixNano() + 1)
}

// 126 residuals in turn +a and −a, six in each half hour: 125 steps of ±2a, 63 down and 62 up. Every block is 0.
func TestNoiseOfAlternatingResiduals(t *testing.T) {
	const a = .25
	rs := make([]float64, 126)
	for i := range rs {
		rs[i] = a - 2*a*float64(i%2)
	}
	n := noiseOf(5*time.Minute, residuals(5*time.Minute, rs))
	m := 2 * a * (62. - 63) / 125
	sd := math.Sqrt((63*(2*a+m)*(2*a+m) + 62*(2*a-m)*(2*a-m)) / 124)
	near(t, "sw", n.ProbeSD, 1.2139*sd/math.Sqrt2)
	near(t, "sL", n.LevelSD, .015)
	if !n.Ready {
		t.Error("not ready")
	}
}

// Each half hour has a level of its own and no scatter: sw is at its floor but for the steps between half hours, which
// the clipping at 10 % takes away (one step in six changes level: a tenth of all up, less than a tenth down).
func TestNoiseOfLevels(t *testing.T) {
	var rs, levels []float64
	for block := range 40 {
		level := .1 * float64(block%4)
		levels = append(levels, level)
		for range 12 {
			rs = append(rs, level)
		}
	}
	n := noiseOf(150*time.Second, residuals(150*time.Second, rs))
	near(t, "sw", n.ProbeSD, .02)
	v := math.Pow(winsorSD(levels), 2)
	if want := math.Sqrt(v - 1.15*.02*.02/12); math.Abs(n.LevelSD-want) > 1e-6 {
		t.Errorf("sL = %v, want %v", n.LevelSD, want)
	}
}

func TestLevelIsNeverUnderAShareOfWhatBlocksShow(t *testing.T) {
	rs := make([]float64, 126) // three and three: 1.15·sw²/n is larger than V
	for i := range rs {
		rs[i] = .4*float64(i%2) + .1*float64(i/6%2)
	}
	n := noiseOf(5*time.Minute, residuals(5*time.Minute, rs))
	levels := make([]float64, 21)
	for i := range levels {
		levels[i] = .1 * float64(i%2)
	}
	near(t, "sL", n.LevelSD, math.Sqrt(.15)*winsorSD(levels))
}

func TestNoiseNeedsPairsAndBlocks(t *testing.T) {
	f := func(what string, list []Point, want bool) {
		t.Helper()
		if got := noiseOf(5*time.Minute, list).Ready; got != want {
			t.Errorf("%s: ready %t, want %t", what, got, want)
		}
	}
	f("114 pairs, 19 whole blocks and one value", residuals(5*time.Minute, make([]float64, 115)), false)
	f("20 blocks, the last of three", residuals(5*time.Minute, make([]float64, 117)), true)
	f("29 runs of three and two values: 59 pairs", sparse(89), false)
	f("30 runs of three: 60 pairs", sparse(90), true)

	judged := residuals(5*time.Minute, make([]float64, 120))
	f("120 values", judged, true)
	judged[119].Excluded = true
	judged[118].Excluded = true
	judged[117].Excluded = true
	f("three of the last block excluded, the others enough", judged, true)
	judged[116].Excluded = true
	f("four of them", judged, false)
}

// sparse has n residuals, in runs of three, half an hour apart: two pairs a run.
func sparse(n int) []Point {
	list := residuals(5*time.Minute, make([]float64, n))
	for i := range list {
		list[i].At = utc(3, 2, 0, 0).Add(time.Duration(i/3)*30*time.Minute + time.Duration(i%3)*5*time.Minute)
	}
	return list
}
