package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// job is something that makes every value of some hours of the clock so many times as slow, on the days that on says.
type job struct {
	from, to time.Duration // since midnight
	times    float64
	on       func(daysAgo int) bool
	out      bool // its values are left out of bands, as those of an alert are
}

// nights is a series that is measured each interval for eight days until at, with a job in it.
func nights(at time.Time, interval time.Duration, scatter float64, j job) *Series {
	r := rand.New(rand.NewPCG(5, 6))
	s := NewSeries(Key{Interval: interval}, DefaultOptions(), DefaultThreshold())
	midnight := at.Truncate(24 * time.Hour)
	var list []Point
	for t := at.Add(-8 * 24 * time.Hour); t.Before(at); t = t.Add(interval) {
		y := scatter * r.NormFloat64()
		clock, ago := t.Sub(t.Truncate(24*time.Hour)), int(midnight.Sub(t.Truncate(24*time.Hour))/(24*time.Hour))
		busy := clock >= j.from && clock < j.to && j.on(ago)
		if busy {
			y += math.Log(j.times)
		}
		list = append(list, Point{At: t, Y: y, Regular: true, Excluded: busy && j.out})
	}
	s.Load(list, nil, at)
	return s
}

func always(int) bool { return true }

// TestDailyJobIsUsual asks what is usual around a job of half an hour that comes each day at 12:15, in the middle of slots.
func TestDailyJobIsUsual(t *testing.T) {
	const quarter = 15 * time.Minute
	at := utc(3, 12, 12, 0)
	lunch := job{from: 12*time.Hour + quarter, to: 12*time.Hour + 3*quarter, times: 1.8, on: always}
	f := func(what string, j job, interval time.Duration, scatter float64, at time.Time, busy bool) {
		t.Helper()
		s := nights(at, interval, scatter, j)
		b := s.Band(at)
		slow := s.Judge(at, seconds(1.8)).Call == Breach
		if (b.Daily > 0) != busy || slow == busy {
			t.Errorf("%s: at %s daily ×%.2f, a value at ×1.8 breaches: %t", what, at.Format("15:04"), math.Exp(b.Daily), slow)
		}
	}
	for _, interval := range []time.Duration{time.Minute, five, 10 * time.Minute} {
		f("before", lunch, interval, .05, at, false)
		f("within", lunch, interval, .05, at.Add(20*time.Minute), true)
		f("within, in the next slot", lunch, interval, .05, at.Add(30*time.Minute), true)
		f("after", lunch, interval, .05, at.Add(55*time.Minute), false)
	}
	f("scattered", lunch, five, .12, at.Add(20*time.Minute), true)
	lunch.out = true
	f("it alerts each day", lunch, five, .05, at.Add(20*time.Minute), true)
	lunch.on = func(ago int) bool { return ago <= 4 }
	f("since four days", lunch, five, .05, at.Add(20*time.Minute), true)
	lunch.on = func(ago int) bool { return ago <= 3 }
	f("since three days", lunch, five, .05, at.Add(20*time.Minute), false)
	lunch.on = func(ago int) bool { return ago == 1 || ago == 7 }
	f("on two days", lunch, five, .05, at.Add(20*time.Minute), false)
	hourly := job{from: 2 * time.Hour, to: 3 * time.Hour, times: 1.8, on: always}
	f("each hour", hourly, time.Hour, .05, utc(3, 12, 2, 0), true)
	f("each hour, the one before", hourly, time.Hour, .05, utc(3, 12, 1, 0), false)
}

// TestDailyHourIsUsual asks what is usual in a job of an hour: two thirds of what a slot's mean is made of are of it, so that no part of
// the slot is far above that mean, but all of them are above it.
func TestDailyHourIsUsual(t *testing.T) {
	s := nights(utc(3, 12, 3, 30), five, .12, job{from: 3 * time.Hour, to: 4 * time.Hour, times: 1.5, on: always})
	for m := range 6 {
		at := utc(3, 12, 3, 30+5*m)
		if b := s.Band(at); b.Daily <= 0 || math.Abs(b.Mu-math.Log(1.5)) > .08 {
			t.Errorf("at %s usual is ×%.3f, daily ×%.3f, want ×1.5 in all", at.Format("15:04"), math.Exp(b.Mu), math.Exp(b.Daily))
		}
	}
}

// TestLongFaultIsNotDaily holds that a fault which goes on for days, and was not accepted, does not become usual by that.
func TestLongFaultIsNotDaily(t *testing.T) {
	at := utc(3, 12, 12, 20)
	s := nights(at, five, .05, job{to: 24 * time.Hour, times: 1.8, on: func(ago int) bool { return ago <= 5 }, out: true})
	if b := s.Band(at); b.State == "ready" && (b.Daily > 0 || b.Mean > 1.2) {
		t.Errorf("usual is %.2f, daily ×%.2f", b.Mean, math.Exp(b.Daily))
	}
	long := job{from: 10 * time.Hour, to: 15 * time.Hour, times: 1.8, on: always, out: true}
	if b := nights(at, five, .05, long).Band(at); b.Daily <= 0 || b.Mean < 1.6 {
		t.Errorf("of a job of five hours usual is %.2f, daily ×%.2f", b.Mean, math.Exp(b.Daily))
	}
}

// TestNothingDaily counts parts of a day that chance takes for something daily: next to none.
func TestNothingDaily(t *testing.T) {
	for _, scatter := range []float64{.05, .3} {
		found := 0
		s := nights(utc(3, 12, 0, 0), five, scatter, job{times: 1, on: always})
		for at := utc(3, 12, 0, 0); at.Before(utc(3, 13, 0, 0)); at = at.Add(five) {
			if s.Band(at).Daily > 0 {
				found++
			}
		}
		if found > 1 {
			t.Errorf("scatter %.2f: %d of 288 parts", scatter, found)
		}
	}
}

// TestBandOfASlotTellsItsParts asks a band that was kept at one instant of its slot for another: it is what the series says then.
func TestBandOfASlotTellsItsParts(t *testing.T) {
	th := DefaultThreshold()
	for _, th.MinAbs = range []time.Duration{0, 2 * time.Second} {
		s := nights(utc(3, 12, 12, 0), five, .05, job{from: 12 * time.Hour, to: 12*time.Hour + 15*time.Minute, times: 1.8, on: always})
		s.th, s.hold = th, Hold{On: true, Set: true, Offset: .05} // today's offset moves by itself
		for _, kept := range []int{0, 25} {
			b := s.Band(utc(3, 12, 12, kept))
			for minute := 0; minute < 30; minute += 5 {
				at := utc(3, 12, 12, minute)
				got, want := b.In(at), s.Band(at)
				if (want.Daily > 0) != (minute <= 10) || len(b.Raises) == 0 {
					t.Errorf("12:%02d is raised by %v, parts %v", minute, want.Daily, b.Raises)
				}
				for _, x := range [][2]float64{{got.Mu, want.Mu}, {got.Daily, want.Daily}, {got.Mean, want.Mean}, {got.Limit, want.Limit}, {got.Low, want.Low}, {got.SD, want.SD}} {
					near(t, at.Format("15:04"), x[0], x[1])
				}
			}
		}
	}
}
