package baseline

import (
	"math"
	"testing"
	"time"
)

// literal has one value in seconds on each of so many days, in the slot of 12:00, and others around it.
func literal(values ...float64) *Series {
	th := DefaultThreshold()
	th.Literal = true
	s := NewSeries(Key{Interval: 24 * time.Hour}, DefaultOptions(), th)
	for i, v := range values {
		d := 9 - i
		s.Add(Point{At: utc(3, d, 12, 7), Y: math.Log(v), Regular: true})
		s.Add(Point{At: utc(3, d, 11, 59), Y: 5, Regular: true}) // the slots beside it
		s.Add(Point{At: utc(3, d, 12, 30), Y: 5, Regular: true})
		s.Add(Point{At: utc(3, d, 12, 8), Y: 5}) // a re-probe
	}
	return s
}

// 1, 2, 3, 4, 5 s: mean 3, sd √2.5, limit 3 + 2·1.5811 = 6.1623.
func TestLiteralVerdicts(t *testing.T) {
	at := utc(3, 10, 12, 20)
	f := func(value float64, call Call, low bool, z float64) {
		t.Helper()
		v := literal(1, 2, 3, 4, 5).Judge(at, seconds(value))
		if v.Call != call || v.Low != low || v.Res.Judged {
			t.Errorf("%v: %s, low %t, residual %t, want %s, %t, none", value, v.Call, v.Low, v.Res.Judged, call, low)
		}
		near(t, "mean", v.Mean, 3)
		near(t, "limit", v.Limit, 3+2*math.Sqrt(2.5))
		near(t, "z", v.Z, z)
		near(t, "ratio", v.Ratio, value/3)
	}
	f(3, Calm, false, 0)
	f(6.16, Calm, false, 3.16/math.Sqrt(2.5))
	f(6.17, Breach, false, 3.17/math.Sqrt(2.5))
	f(.001, Calm, false, -2.999/math.Sqrt(2.5))
}

func TestLiteralLow(t *testing.T) {
	v := literal(1, 1.1, .9, 1, 1).Judge(utc(3, 10, 12, 20), seconds(.85)) // sd √.005 = .0707
	if !v.Low || v.Call != Calm {
		t.Errorf("%+v, want calm and low", v)
	}
	if v := literal(1, 1.1, .9, 1, 1).Judge(utc(3, 10, 12, 20), seconds(.86)); v.Low {
		t.Errorf("%+v, want not low", v)
	}
}

func TestLiteralLearns(t *testing.T) {
	v := literal(1, 2, 3, 4).Judge(utc(3, 10, 12, 20), time.Second)
	if v.Call != NotJudged || v.Why != "learning" || v.Band.Days != 5 || v.Band.N != 12 {
		t.Errorf("four values: %+v, band %+v", v, v.Band)
	}
}

func TestLiteralCountsExcluded(t *testing.T) {
	s := literal(1, 2, 3, 4, 5)
	s.Exclude(utc(3, 1, 0, 0), utc(3, 10, 0, 0), true)
	v := s.Judge(utc(3, 10, 12, 20), time.Second)
	near(t, "mean", v.Mean, 3)
	if v.Band.LeftOut != nil {
		t.Errorf("left out %v, want nothing", v.Band.LeftOut)
	}
}

// Seven equal values have no scatter: anything above is a breach, and z is not a number that could be said.
func TestLiteralWithoutScatter(t *testing.T) {
	s := literal(2, 2, 2, 2, 2, 2, 2)
	v := s.Judge(utc(3, 10, 12, 20), seconds(2.1))
	if v.Call != Breach || v.Z != 0 {
		t.Errorf("%+v, want a breach without z", v)
	}
	if got := s.Band(utc(3, 10, 12, 20)); got.SD > 1e-9 || math.Abs(got.Limit-2) > 1e-6 {
		t.Errorf("band %+v", got)
	}
	if v := s.Judge(utc(3, 10, 12, 20), seconds(2)); v.Call != Calm || v.Low {
		t.Errorf("%+v: a value like all before it is calm and not low", v)
	}
}
