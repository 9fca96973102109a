package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"serin/baseline/level"
)

// process draws one that forgets itself in a time, with a standard deviation.
func process(draw *rand.Rand, n int, every, forgets time.Duration, sd float64) []float64 {
	list := make([]float64, n)
	left := math.Exp(-float64(every) / float64(forgets))
	x := sd * draw.NormFloat64()
	for i := range list {
		list[i] = x
		x = left*x + sd*math.Sqrt(1-left*left)*draw.NormFloat64()
	}
	return list
}

// TestLevelIsWiderOfFewDays: three days hide more than seven.
func TestLevelIsWiderOfFewDays(t *testing.T) {
	draw := rand.New(rand.NewPCG(8, 8))
	e := process(draw, 3*288, five, time.Hour, .1)
	of := func(days int) level.Model { // the same e, one more at the window's begin
		g := level.NewGrid(7*day, 7*24*time.Hour, five)
		for i, v := range e {
			g.Put(4*day+int64(i)*int64(five)+1, v)
		}
		if days == 7 {
			g.Put(0, 0)
		}
		return fitted(g, .1)
	}
	k := kappa(presetKappa, 3) / presetKappa
	if ratio := of(3).SD() / of(7).SD(); k < 1.5 || math.Abs(ratio-k) > .01 {
		t.Errorf("three days are %.4f times as wide as seven, want %.4f", ratio, k)
	}
}

// TestSeriesMeasuresItsLevel: with a sharp threshold only, without excluded values, and the same after a restart.
func TestSeriesMeasuresItsLevel(t *testing.T) {
	at := utc(3, 12, 12, 2)
	draw := rand.New(rand.NewPCG(3, 4))
	list := made(at.AddDate(0, 0, -15), five, 15*288, .4, 0, 0)
	for i := range list {
		list[i].Y = math.Log(.4) + .1*draw.NormFloat64()
		if h := list[i].At.Hour(); h == 9 {
			list[i].Y++
			list[i].Excluded = true
		}
	}
	th := DefaultThreshold()
	if s := loaded(t, "UTC", th, list, at); s.Band(at).State != "ready" || s.LevelModel().Known() {
		t.Errorf("balanced: %v", s.LevelModel())
	}
	th.Sharp = true
	s := loaded(t, "UTC", th, list, at)
	s.Band(at)
	if sd := s.LevelModel().SD(); sd < minLevelSD || sd > .04 {
		t.Errorf("moves by %.3f: excluded values are no moves", sd)
	}
	st := s.State()
	again := NewSeries(s.Key(), DefaultOptions(), th)
	again.Load(s.Points(), &st, at)
	if again.LevelModel() != s.LevelModel() {
		t.Errorf("after a restart %v, before %v", again.LevelModel(), s.LevelModel())
	}
	balanced := loaded(t, "UTC", DefaultThreshold(), list, at)
	balanced.Band(at)
	st = balanced.State()
	again.Load(s.Points(), &st, at)
	again.Band(at)
	if again.LevelModel() != s.LevelModel() {
		t.Errorf("after a restart that made it sharp %v, want %v", again.LevelModel(), s.LevelModel())
	}
}

// TestGroupMeasuresItsLevel: what three series have in common is the level's, what each has for itself is not.
func TestGroupMeasuresItsLevel(t *testing.T) {
	at := utc(3, 12, 12, 0)
	draw := rand.New(rand.NewPCG(6, 7))
	const n = 10 * 288
	level := process(draw, n, five, 30*time.Minute, .1)
	series := make([]*Series, 3)
	for k := range series {
		list := made(at.AddDate(0, 0, -10), five, n, .4, 0, 0)
		for i := range list {
			list[i].Y = math.Log(.4) + level[i] + .1*draw.NormFloat64()
		}
		series[k] = loaded(t, "UTC", DefaultThreshold(), list, at)
		series[k].Band(at)
	}
	g := NewGroup(five, DefaultThreshold(), GroupState{})
	shares := []Share{{E: .3, SW: .1}, {E: .4, SW: .1}, {E: .2, SW: .1}}
	v := g.Judge(at, series, shares)
	if sd := v.Level.SD(); math.Abs(sd-.1) > .03 {
		t.Errorf("moves by %.3f, want .1", sd)
	}
	if want := math.Exp(.3); math.Abs(v.Ratio-want) > .1 {
		t.Errorf("×%v, want about ×%v", v.Ratio, want)
	}
	if w := NewGroup(five, DefaultThreshold(), g.State()).Judge(at, series, shares); w != v {
		t.Errorf("after a restart %+v, before %+v", w, v)
	}
}
