package baseline

import (
	"math"
	"slices"
	"testing"
	"time"
)

// offsets is a series whose E in the last hours are those given, five minutes apart, the last one 30 minutes before at.
func offsets(interval time.Duration, at time.Time, lag time.Duration, es ...float64) *Series {
	s := NewSeries(Key{Interval: interval}, DefaultOptions(), DefaultThreshold())
	for i, e := range es {
		back := lag + time.Duration(len(es)-1-i)*interval
		s.Add(Point{At: at.Add(-back), Regular: true, Res: Residual{E: e, R: e, Judged: true}})
	}
	return s
}

func TestTodaysOffset(t *testing.T) {
	at := utc(3, 12, 12, 0)
	f := func(what string, s *Series, want float64) {
		t.Helper()
		if got := s.todaysOffset(at.UnixNano()); math.Abs(got-want) > 5e-6 {
			t.Errorf("%s: o = %v, want %v", what, got, want)
		}
	}
	const lag = 30 * time.Minute
	eight := []float64{.9, .05, .06, .07, .08, -.9, .01, .10} // sorted -.9 .01 .05 .06 .07 .08 .10 .9: positions 2 to 5
	f("eight values", offsets(five, at, lag, eight...), .8*.065)
	f("seven values", offsets(five, at, lag, eight[1:]...), 0)
	f("the newest is 29 minutes old", offsets(five, at, 29*time.Minute, eight...), 0)
	f("above the cap", offsets(five, at, lag, slices.Repeat([]float64{.5}, 10)...), math.Log(1.15))
	f("below the cap", offsets(five, at, lag, slices.Repeat([]float64{-.5}, 10)...), -math.Log(1.15))
	f("only three hours count", offsets(five, at, lag, slices.Concat(slices.Repeat([]float64{.1}, 50), slices.Repeat([]float64{.02}, 31))...), .8*.02)
	f("the oldest is three hours old", offsets(five, at, 145*time.Minute, eight...), .8*.065)
	f("the oldest is older", offsets(five, at, 145*time.Minute+time.Second, eight...), 0)
	f("15 minutes is not slower than that", offsets(15*time.Minute, at, lag, eight...), .8*.065)
	f("hourly", offsets(time.Hour, at, time.Hour, eight...), .8*.065)
	f("hourly, the newest too new", offsets(time.Hour, at, 59*time.Minute, eight...), 0)
	f("hourly, twelve hours back", offsets(time.Hour, at, 5*time.Hour, eight...), .8*.065)
	f("hourly, twelve hours and a minute back", offsets(time.Hour, at, 5*time.Hour+time.Minute, eight...), 0)

	s := offsets(five, at, lag, eight...)
	s.Exclude(at.Add(-3*time.Hour), at, true)
	f("excluded ones count", s, .8*.065)
	s = offsets(five, at, lag, eight...)
	s.Add(Point{At: at.Add(-40*time.Minute + time.Second), Y: 1, Regular: true})
	f("a value without a band does not", s, .8*.065)
	s.Add(Point{At: at.Add(-40*time.Minute + 2*time.Second), Res: Residual{E: 1, R: 1, Judged: true}})
	f("a re-probe does not", s, .8*.065)
}

func TestOffsetIsHeldWhileFiring(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	feed := func(times float64, until time.Time) (v Verdict) {
		for ; at.Before(until); at = at.Add(five) {
			v = s.Judge(at, seconds(times*s.Band(at).Mean))
			s.Add(Point{At: at, Y: math.Log(v.Value), Regular: true, Res: v.Res})
		}
		return v
	}
	held := feed(1, utc(3, 12, 13, 0)).Band.Offset
	s.Freeze(true)
	s.Freeze(true)
	if got := feed(1.5, utc(3, 12, 18, 0)); got.Band.Offset != held || got.Res.O != held {
		t.Errorf("offset while firing = %v, in the residual %v, want %v", got.Band.Offset, got.Res.O, held)
	}
	st := roundTrip(t, s.State())
	again := NewSeries(s.Key(), DefaultOptions(), DefaultThreshold())
	again.Load(s.Points(), &st, at)
	if got := again.Judge(at, time.Second).Band.Offset; got != held {
		t.Errorf("offset after a restart while firing = %v, want %v", got, held)
	}
	s.Freeze(false)
	near(t, "offset afterwards", feed(1.5, utc(3, 12, 18, 5)).Band.Offset, math.Log(1.15))
}

func TestFreezeBeforeAnythingWasJudged(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	want := s.Band(at).Offset
	s.Freeze(true)
	s.Judge(at, time.Second)
	if got := s.Judge(at.Add(5*time.Hour), time.Second).Band.Offset; got != want || want == 0 {
		t.Errorf("held offset = %v, want that of the first value judged, %v", got, want)
	}
}
