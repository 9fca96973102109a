package baseline

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"serin/probe"
)

// past draws a history of up to ten days before at, with gaps, excluded stretches and any scatter.
func past(rt *rapid.T, at time.Time, every time.Duration) []Point {
	days := rapid.IntRange(3, 10).Draw(rt, "days")
	level := rapid.Float64Range(-7, 4).Draw(rt, "level")
	daily, noise := rapid.Float64Range(0, 1).Draw(rt, "daily"), rapid.Float64Range(0, 1).Draw(rt, "noise")
	state := rapid.Uint64().Draw(rt, "seed")
	keep := rapid.Float64Range(.3, 1).Draw(rt, "keep")
	var list []Point
	for t := at.AddDate(0, 0, -days); t.Before(at); t = t.Add(every) {
		u := draw(&state) + draw(&state) + draw(&state) - 1.5
		p := Point{At: t, Y: level + daily*math.Sin(float64(t.Hour())/4) + noise*u, Regular: true, Excluded: t.Hour() == 3 && t.Day()%3 == 0}
		if draw(&state) < keep {
			list = append(list, p)
		}
	}
	return list
}

// draw is splitmix64, in [0, 1).
func draw(state *uint64) float64 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) / (1 << 53)
}

var intervals = []time.Duration{5 * time.Minute, 7 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour}

func thresholds(rt *rapid.T) Threshold {
	th := DefaultThreshold()
	th.Sigma = rapid.Float64Range(.5, 4).Draw(rt, "sigma")
	th.Kappa = rapid.Float64Range(1, 2).Draw(rt, "kappa")
	th.MinRatio = rapid.Float64Range(1, 2).Draw(rt, "min_ratio")
	return th
}

func subject(rt *rapid.T, th Threshold) (*Series, time.Time, []Point) {
	every := rapid.SampledFrom(intervals).Draw(rt, "interval")
	at := utc(4, 2, 0, 0).Add(time.Duration(rapid.IntRange(0, 24*60-1).Draw(rt, "minute")) * time.Minute)
	s := NewSeries(Key{Canary: "c", Metric: probe.TTFT, Interval: every}, DefaultOptions(), th)
	return s, at, past(rt, at, every)
}

func TestLimitIsAboveMeanAboveLow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		th := thresholds(rt)
		th.MinAbs = time.Duration(rapid.IntRange(0, 1000).Draw(rt, "min_abs")) * time.Millisecond
		s, at, list := subject(rt, th)
		s.Load(list, nil, at)
		b := s.Band(at)
		if b.State == "learning" {
			return
		}
		if !(b.Low < b.Mean && b.Mean < b.Limit && b.Limit >= b.Mean*th.MinRatio*(1-1e-12)) || math.IsInf(b.Limit, 0) {
			rt.Fatalf("low %v, mean %v, limit %v with %+v", b.Low, b.Mean, b.Limit, b)
		}
		v := s.Judge(at, seconds(b.Limit*1.000001)+1)
		if v.Call != Breach {
			rt.Fatalf("a value above the limit is %s: %+v, band %+v", v.Call, v, b)
		}
		if v := s.Judge(at, seconds(b.Limit*.999999)); v.Call == Breach {
			rt.Fatalf("a value below the limit breaches: %+v, band %+v", v, b)
		}
	})
}

func TestScalingValuesScalesTheBand(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, at, list := subject(rt, thresholds(rt))
		factor := rapid.Float64Range(.1, 10).Draw(rt, "factor")
		s.Load(list, nil, at)
		scaled := NewSeries(s.Key(), DefaultOptions(), s.th)
		for i := range list {
			list[i].Y += math.Log(factor)
		}
		scaled.Load(list, nil, at)
		a, b := s.Band(at), scaled.Band(at)
		for name, pair := range map[string][2]float64{"mean": {a.Mean, b.Mean}, "limit": {a.Limit, b.Limit}, "low": {a.Low, b.Low}} {
			if math.Abs(pair[0]*factor-pair[1]) > 5e-5*pair[1] {
				rt.Fatalf("%s: %v times %v is not %v", name, pair[0], factor, pair[1])
			}
		}
	})
}

func TestOrderOfAddDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, at, list := subject(rt, DefaultThreshold())
		s.Load(list, nil, at)
		list = s.Points() // with residuals
		shuffled := rapid.Permutation(list).Draw(rt, "order")
		one, two := NewSeries(s.Key(), DefaultOptions(), s.th), NewSeries(s.Key(), DefaultOptions(), s.th)
		for i := range list {
			one.Add(list[i])
			two.Add(shuffled[i])
		}
		if diff := cmp.Diff(one.Judge(at, time.Second), two.Judge(at, time.Second)); diff != "" {
			rt.Fatalf("by time and shuffled (-sorted +shuffled):\n%s", diff)
		}
	})
}

func TestRestartAtAnyTimeChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, at, list := subject(rt, DefaultThreshold())
		cut := rapid.IntRange(0, len(list)).Draw(rt, "restart")
		s.Load(list[:cut], nil, at)
		if len(list) > 0 && cut > 0 {
			s.Judge(list[cut-1].At, time.Second)
		}
		again := NewSeries(s.Key(), DefaultOptions(), s.th)
		st := s.State()
		again.Load(s.Points(), &st, at)
		for _, p := range append(list[cut:], Point{At: at, Y: 1}) {
			v := seconds(math.Exp(p.Y))
			a, b := s.Judge(p.At, v), again.Judge(p.At, v)
			if diff := cmp.Diff(a, b); diff != "" {
				rt.Fatalf("%s (-running +restarted):\n%s", p.At, diff)
			}
			p.Res = a.Res
			s.Add(p)
			again.Add(p)
		}
	})
}
