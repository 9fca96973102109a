package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// levelled is three series of ten days, each probe scattering by noise, on a level that is drawn anew every hour for all
// of them together.
func levelled(t *testing.T, at time.Time, noise, level float64, change ...func(*Point)) []*Series {
	t.Helper()
	draw := rand.New(rand.NewPCG(3, 4))
	start := at.AddDate(0, 0, -10)
	hours := make([]float64, 241)
	for i := range hours {
		hours[i] = level * draw.NormFloat64()
	}
	var series []*Series
	for range 3 {
		list := made(start, five, 2880, .4, 0, 0)
		for i := range list {
			list[i].Y = math.Log(.4) + hours[int(list[i].At.Sub(start)/time.Hour)] + noise*draw.NormFloat64()
			for _, f := range change {
				f(&list[i])
			}
		}
		one := loaded(t, "UTC", DefaultThreshold(), list, at)
		one.Band(at) // measures its scatter
		series = append(series, one)
	}
	return series
}

// TestRisesAreOfTheLevelAlone draws levels of hours: an hour's own scatter and that of the hour and a half before it make
// the rise of an hour; probes that scatter round one level make none worth the name.
func TestRisesAreOfTheLevelAlone(t *testing.T) {
	at := utc(3, 12, 0, 0)
	g := NewGroup(five, DefaultThreshold(), GroupState{})
	for _, rise := range g.rises(at.UnixNano(), levelled(t, at, .1, 0)) {
		if rise < leastSL || rise > .03 {
			t.Errorf("a rise of %.3f where there is no level but one", rise)
		}
	}
	// before 07:00 lie 05:25 to 06:55, 19 runs: 7 of one hour and 12 of the next, of which the middle three fifths stand
	want := .1 * math.Sqrt(1+carries*carries*(7.*7+12*12)/(19*19))
	got := g.rises(at.UnixNano(), levelled(t, at, .1, .1))
	if math.Abs(got[2]-want) > .15*want {
		t.Errorf("the rise of an hour is %.3f, want about %.3f", got[2], want)
	}
	if got[0] > want || got[0] < .4*want { // only one quarter of an hour in four is a new level
		t.Errorf("the rise of a quarter is %.3f beside %.3f", got[0], got[2])
	}
}

// TestRisesLeaveOutWhatBandsDo moves the level of four hours of each day, which a long alert has left out, by a factor of e: no rise knows of it.
func TestRisesLeaveOutWhatBandsDo(t *testing.T) {
	at := utc(3, 12, 0, 0)
	series := levelled(t, at, .1, 0, func(p *Point) {
		if h := p.At.Hour(); h >= 8 && h < 12 {
			p.Y++
			p.Excluded = true
		}
	})
	for _, rise := range NewGroup(five, DefaultThreshold(), GroupState{}).rises(at.UnixNano(), series) {
		if rise > .03 {
			t.Errorf("a rise of %.3f", rise)
		}
	}
}

func TestRisesOver(t *testing.T) {
	r := Rises{.1, .2, .4}
	for span, want := range map[time.Duration]float64{0: .1, 15 * time.Minute: .1, 20 * time.Minute: .1 + .1/3, 30 * time.Minute: .2,
		45 * time.Minute: .3, time.Hour: .4, 70 * time.Minute: .4} {
		if got := r.Over(span); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", span, got, want)
		}
	}
}

// TestRoundKnowsTheTimeBefore: five minutes to an hour and a half back, as far as it carries on; slow schedules have none.
func TestRoundKnowsTheTimeBefore(t *testing.T) {
	at := utc(3, 12, 0, 0)
	series := levelled(t, at, .1, .1)
	shares := []Share{{E: .3, SW: .1}, {E: .4, SW: .1}, {E: .2, SW: .1}}
	g := NewGroup(five, DefaultThreshold(), GroupState{})
	v := g.Judge(at, series, shares)
	var list []float64
	for _, s := range series {
		for _, p := range s.Points() {
			if !p.At.Before(at.Add(-95*time.Minute)) && !p.At.After(at.Add(-5*time.Minute)) {
				list = append(list, p.Res.E)
			}
		}
	}
	if want := .9 * middle(list); !v.Dated || math.Abs(v.Before-want) > 1e-6 || v.E != .3 {
		t.Errorf("before %v (%v), want %v; E %v", v.Before, v.Dated, want, v.E)
	}
	if want := math.Sqrt(1.35 / 300); math.Abs(v.SW-want) > 1e-12 {
		t.Errorf("scatter %v, want %v", v.SW, want)
	}
	if w := NewGroup(five, DefaultThreshold(), g.State()).Judge(at, series, shares); w != v {
		t.Errorf("after a restart %+v, before %+v", w, v)
	}
	if slow := NewGroup(time.Hour, DefaultThreshold(), GroupState{}).Judge(at, series, shares); slow.Dated || slow.Rises != (Rises{}) {
		t.Errorf("an hourly schedule: %+v", slow)
	}
}
