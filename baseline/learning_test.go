package baseline

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A new canary: the message tells which day it is and how many samples there are; nothing is judged before the third
// day with enough, and the first bands know no residual statistics.
func TestLearning(t *testing.T) {
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	list := made(utc(3, 2, 9, 0), five, 2880, .4, .3, .2)
	type seen struct {
		why     string
		state   string
		n, days int
		sw      bool
	}
	at := map[time.Time]seen{
		utc(3, 2, 9, 0):   {why: "learning", state: "learning", n: 0, days: 1},
		utc(3, 2, 12, 0):  {why: "learning", state: "learning", n: 36, days: 1},
		utc(3, 3, 0, 0):   {why: "learning", state: "learning", n: 180, days: 2},
		utc(3, 4, 12, 0):  {why: "learning", state: "learning", n: 612, days: 3},
		utc(3, 5, 8, 25):  {why: "learning", state: "learning", n: 857, days: 4},
		utc(3, 5, 8, 30):  {state: "ready", n: 42, days: 3}, // on the first date from 09:00 only
		utc(3, 5, 23, 55): {state: "ready", n: 54, days: 3}, // at noon there were 42 residuals
		utc(3, 6, 0, 0):   {state: "ready", n: 54, days: 3, sw: true},
	}
	for _, p := range list {
		v := s.Judge(p.At, seconds(math.Exp(p.Y)))
		p.Res = v.Res
		if want, ok := at[p.At]; ok {
			got := seen{why: v.Why, state: v.Band.State, n: v.Band.N, days: v.Band.Days, sw: v.Band.SW > 0}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p.At, diff)
			}
		}
		if p.Res.Judged != (v.Call != NotJudged) {
			t.Fatalf("%s: %s with residual %+v", p.At, v.Call, v.Res)
		}
		s.Add(p)
	}
}

func TestBandBeforeResidualsTellTheScatter(t *testing.T) {
	at := utc(3, 5, 12, 0)
	s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
	for _, p := range before(made(utc(3, 2, 0, 2), five, 2880, .4, .3, .2), at) {
		if p.At.Before(utc(3, 5, 8, 0)) {
			s.Add(p)
			continue
		}
		p.Res = s.Judge(p.At, seconds(math.Exp(p.Y)*1.1)).Res
		s.Add(p)
	}
	v := s.Judge(at, time.Second)
	b := v.Band
	if b.SW != 0 || b.SL != 0 || b.Offset != 0 || v.Res.O < .05 {
		t.Errorf("sw %v, sL %v, offset %v, and o for the history %v; want 0, 0, 0 and what today shows", b.SW, b.SL, b.Offset, v.Res.O)
	}
	lv := s.levelAt(at.UnixNano())
	near(t, "sigma", b.Sigma, lv.WinsorSD)
	near(t, "line", b.Line, 2*b.Kappa*lv.WinsorSD)
	near(t, "mean", b.Mean, math.Exp(lv.Mu))
	near(t, "ratio", v.Ratio, 1/b.Mean)
}
