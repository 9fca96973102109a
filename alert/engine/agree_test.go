package engine

import (
	"fmt"
	"math"
	"testing"
	"time"

	"serin/probe"
)

// mixed makes canaries of one target, the sizes in turn, at intervals of their own.
func mixed(rule Rule, intervals ...time.Duration) []Watched {
	target := probe.DefaultTarget()
	target.Name = "gw"
	var list []Watched
	for i, every := range intervals {
		scene := &probe.Scene{Name: fmt.Sprint("scene", i/3), Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT}}
		phase := time.Duration(i) * every / 100
		list = append(list, Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: probe.Sizes()[i%3], Interval: every}, Spec: "s1", Rule: rule,
			Due: func(after time.Time) time.Time { return after.Add(-phase).Truncate(every).Add(every + phase) }})
	}
	return list
}

// scattered answers in 400 ms times a factor, with about a normal scatter.
func scattered(sd, factor float64) func(*probe.Canary, time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		var z float64
		for i := range 12 {
			z += wobble(c.Key(), "scatter", i, at.UnixNano()) / 2
		}
		s := bad(c, at, probe.OK)
		s.TTFT = probe.Known(secs(.4 * math.Exp(sd*z) * factor))
		return s
	}
}

// learned imports days of what the rig's world answers, and starts.
func (r *rig) learned(days int, world func(*probe.Canary, time.Time) probe.Sample) *rig {
	for _, w := range r.watched {
		m := map[int64]Record{}
		for at := w.Due(r.now.AddDate(0, 0, -days)); at.Before(r.now); at = w.Due(at) {
			m[at.UnixNano()] = Record{Sample: world(w.Canary, at)}
		}
		r.log.records[w.Canary.Key()] = m
	}
	r.world = world
	return r.start()
}

// whole lists the alerts of the target as a whole.
func (r *rig) whole(k Kind) (list []Alert) {
	for _, a := range r.log.fired(k) {
		if a.Series == "gw" {
			list = append(list, a)
		}
	}
	return list
}

// TestOneCanaryIsNotTheTarget makes one of three five times as slow for hours, also while another does not answer, or is seldom
// asked: the median of two is half of the one that is far out, and of three it is the greater of the two that are well.
func TestOneCanaryIsNotTheTarget(t *testing.T) {
	const m = time.Minute
	f := func(sd float64, mute probe.Size, intervals ...time.Duration) {
		t.Helper()
		r := newRig(t, mixed(DefaultRule(), intervals...)...).learned(9, scattered(sd, 1)).run(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			switch c.Size {
			case mute:
				return bad(c, at, probe.HTTP5xx)
			case probe.Short:
				return scattered(sd, 5)(c, at)
			}
			return scattered(sd, 1)(c, at)
		}
		r.run(6 * time.Hour)
		if own := r.one("gw/scene0/short", KindTTFT); !own.Open() {
			t.Errorf("the slow canary's own alert is %s", own.State)
		}
		for _, a := range r.whole(KindTTFT) {
			t.Errorf("scatter %g, %v, without %q: the target fires: %s, ×%.1f", sd, intervals, mute, a.Reason, a.Worst.Ratio)
		}
	}
	f(.3, "", m, m, m)
	f(.15, "", 5*m, 15*m, 60*m)
	f(.15, probe.Medium, 5*m, 5*m, 5*m)
	f(.15, probe.Medium, 15*m, 15*m, 15*m)
	f(.15, probe.Medium, 5*m, 15*m, 60*m)
}

// TestTwoOfThreeAreTheTarget: a third that is well does not speak for the others.
func TestTwoOfThreeAreTheTarget(t *testing.T) {
	const m = 5 * time.Minute
	r := newRig(t, mixed(DefaultRule(), m, m, m)...).learned(9, scattered(.15, 1)).run(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size == probe.Long {
			return scattered(.15, 1)(c, at)
		}
		return scattered(.15, 2.5)(c, at)
	}
	begin := r.now
	r.run(time.Hour)
	if list := r.whole(KindTTFT); len(list) != 1 || list[0].Fired.Sub(begin) > 15*time.Minute {
		t.Errorf("%+v", list)
	}
}

// TestAgreed is the arithmetic of it: r is .1 less than what the shares say.
func TestAgreed(t *testing.T) {
	round := func(who []uint32, es ...float64) Vote {
		var v Vote
		for i, e := range es {
			x := Said{Who: uint32(i), E: float32(e), SW: .1}
			if i < len(who) {
				x.Who = who[i]
			}
			v.Said = append(v.Said, x)
		}
		v.Verdict.Ratio = math.Exp(median(append([]float64(nil), es...)) - .1)
		return v
	}
	f := func(want float64, votes ...Vote) {
		t.Helper()
		if got := agreed(votes); math.Abs(got-want) > 1e-6 {
			t.Errorf("%.3f, want %.3f", got, want)
		}
	}
	f(.3, round(nil, .4))
	f(.4, round(nil, .2), round(nil, .9), round(nil, .5))
	f(.1, round([]uint32{1, 2}, 1.6, .2)) // no more than both say
	f(.5, round([]uint32{1, 2, 3}, 1.6, .6, .2))
	f(.35, round([]uint32{1, 2, 3, 4}, .1, .2, .7, .8)) // half of four
	// In each round another of the two is high: as canaries they are not.
	f(.1, round([]uint32{1, 2, 3}, 1.6, .5, .2), round([]uint32{1, 2, 3}, 1.6, 0, .7), round([]uint32{1, 2, 3}, 1.6, .2, .1))
	f(.3, round([]uint32{7, 9}, 1.6, .4), round([]uint32{9}, .4), round([]uint32{9, 7}, .4, 1.6)) // wherever they stand
}
