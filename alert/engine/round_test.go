package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// TestTargetIsJudgedAsAWhole slows every canary by 1.6: the target's own alert is a warning, and the canaries' own are info until they
// have lasted.
func TestTargetIsJudgedAsAWhole(t *testing.T) {
	r := wholeRig(t)
	begin := r.now.Add(time.Hour).Truncate(time.Hour)
	r.world = during(begin, begin.Add(25*time.Minute), slower(1.6))
	r.run(4 * time.Hour)
	a := r.one("gw", alert.KindTTFT)
	if a.Severity != alert.Warning || a.Worst.Canaries != 3 || a.Worst.Value != 0 || a.Worst.Ratio < 1.3 || a.Fit == nil {
		t.Errorf("%s, worst %+v", a.Severity, a.Worst)
	}
	if d := a.Fired.Sub(begin); d < time.Minute || d > 5*time.Minute {
		t.Errorf("fired after %s", d)
	}
	if a.Resolved.Before(begin.Add(30*time.Minute)) || a.Resolved.After(begin.Add(50*time.Minute)) {
		t.Errorf("resolved %s after the beginning", a.Resolved.Sub(begin))
	}
	for _, size := range probe.Sizes() {
		if own := r.one("gw/chat/"+string(size), alert.KindTTFT); own.Severity != alert.Info {
			t.Errorf("%s: %s", size, own.Severity)
		}
	}
	if n := len(r.of("gw", alert.KindTPOT)); n != 0 {
		t.Errorf("%d alerts of tpot", n)
	}
}

// TestRoundsAreInfoUntilGrown has six days of history: the canaries page as ever.
func TestRoundsAreInfoUntilGrown(t *testing.T) {
	r := newRig(t, canaries("gw", 5*time.Minute, alert.DefaultRule(), probe.Sizes()...)...).learn(6).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(2.5))
	r.run(4 * time.Hour)
	if a := r.one("gw", alert.KindTTFT); a.Severity != alert.Info {
		t.Errorf("target: %s", a.Severity)
	}
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Severity != alert.Warning {
		t.Errorf("canary: %s", a.Severity)
	}
}

// TestACanarySlowAlonePagesOnceItLasts slows the long canary alone: its target's median does not move.
func TestACanarySlowAlonePagesOnceItLasts(t *testing.T) {
	f := func(every time.Duration, lasts time.Duration, rises bool) {
		t.Helper()
		r := newRig(t, canaries("gw", every, alert.DefaultRule(), probe.Sizes()...)...).learn(9).start()
		begin := r.now.Add(2 * time.Hour)
		r.world = during(begin, begin.Add(lasts), only(probe.Long, slower(2.5)))
		r.run(6 * time.Hour)
		a := r.one("gw/chat/long", alert.KindTTFT)
		rise := r.happened(alert.EventSeverity)
		if len(rise) == 0 == rises {
			t.Fatalf("every %s for %s: %+v", every, lasts, rise)
		}
		if rises && (rise[0].After.Severity != alert.Warning || rise[0].At.Sub(a.FirstBreach) > 45*time.Minute) {
			t.Errorf("every %s for %s: %s after %s", every, lasts, rise[0].After.Severity, rise[0].At.Sub(a.FirstBreach))
		}
		if list := r.of("gw", alert.KindTTFT); len(list) != 0 {
			t.Errorf("every %s: the target fires", every)
		}
	}
	f(5*time.Minute, 2*time.Hour, true)
	f(5*time.Minute, 20*time.Minute, false)
	f(time.Hour, 2*time.Hour, true)
	f(time.Hour, 10*time.Minute, false)
}

// firingRig is a target that is slow, and has fired.
func firingRig(t *testing.T) *rig {
	r := wholeRig(t)
	r.world = slower(1.8)
	r.run(30 * time.Minute)
	if a := r.one("gw", alert.KindTTFT); !a.IsFiring() {
		t.Fatalf("%s", a.State)
	}
	return r
}

// TestRoundsEndWithTheirCanaries leaves two canaries, and brings the third back at a restart: the target begins anew.
func TestRoundsEndWithTheirCanaries(t *testing.T) {
	r := firingRig(t)
	three := r.watched
	r.reload(three[:2]...)
	if a := r.one("gw", alert.KindTTFT); a.Reason != alert.EndRemoved {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
	r.run(time.Minute)
	for key := range r.store.blobs {
		if strings.HasPrefix(key, "target/") {
			t.Errorf("%s is still stored", key)
		}
	}
	r.watched = three
	r.start().run(2 * time.Hour)
	if n := len(r.of("gw", alert.KindTTFT)); n != 2 {
		t.Errorf("%d alerts of the target: it is still slow", n)
	}
}

// TestRoundsEndWithoutObservations changes the interval while the target fires: the scatter of probes so far apart is not known for a
// day, so that no round is judged. What fires ends all the same, once the last round is too old to count.
func TestRoundsEndWithoutObservations(t *testing.T) {
	r := firingRig(t)
	r.reload(canaries("gw", 15*time.Minute, alert.DefaultRule(), probe.Sizes()...)...)
	last := r.now
	r.world = healthy
	r.run(3 * time.Hour)
	a := r.one("gw", alert.KindTTFT)
	if a.Reason != alert.EndLearning || a.Resolved.Sub(last) < time.Hour || a.Resolved.Sub(last) > 100*time.Minute {
		t.Errorf("%s: %s, ended %s after its last round", a.State, a.Reason, a.Resolved.Sub(last))
	}
}

// TestRoundsOfMixedSchedules has one canary every minute and two every quarter of an hour: a slow round is confirmed, as
// rounds of a quarter of an hour are.
func TestRoundsOfMixedSchedules(t *testing.T) {
	watched := canaries("gw", 15*time.Minute, alert.DefaultRule(), probe.Sizes()...)
	fast := canaries("gw", time.Minute, alert.DefaultRule(), probe.Short)[0]
	fast.Canary.Target, fast.Canary.Scene = watched[0].Canary.Target, watched[0].Canary.Scene
	watched[0] = fast
	r := newRig(t, watched...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(1.6))
	r.run(4 * time.Hour)
	a := r.one("gw", alert.KindTTFT)
	if d := a.Fired.Sub(begin); d > 5*time.Minute {
		t.Errorf("fired after %s", d)
	}
	if d := a.Resolved.Sub(begin); d > 80*time.Minute {
		t.Errorf("resolved %s after the beginning, want within two looks after the first calm round", d)
	}
}

// TestRoundWithoutAnswersIsNone lets two of three canaries fail: no round counts, so nothing of the whole fires.
func TestRoundWithoutAnswersIsNone(t *testing.T) {
	r := wholeRig(t)
	begin := r.now.Add(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch {
		case at.Before(begin):
			return healthy(c, at)
		case c.Size == probe.Short:
			return answer(c, at, 3)
		}
		return bad(c, at, probe.HTTP5xx)
	}
	r.run(3 * time.Hour)
	if list := r.of("gw", alert.KindTTFT); len(list) != 0 {
		t.Errorf("the target fires: %+v", list)
	}
}

// mixed makes canaries of one target, the sizes in turn, at intervals of their own.
func mixed(intervals ...time.Duration) []alert.Watched {
	target := probe.DefaultTarget()
	target.Name = "gw"
	var list []alert.Watched
	for i, every := range intervals {
		scene := &probe.Scene{Name: fmt.Sprint("scene", i/3), Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT}}
		phase := time.Duration(i) * every / 100
		list = append(list, alert.Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: probe.Sizes()[i%3], Interval: every}, Spec: "s1", Rule: alert.DefaultRule(),
			Due: func(after time.Time) time.Time { return after.Add(-phase).Truncate(every).Add(every + phase) }})
	}
	return list
}

// scattered answers in 400 ms times a factor, with about a normal scatter.
func scattered(sd, factor float64) world {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		var z float64
		for i := range 12 {
			z += wobble(c.Key(), "scatter", i, at.UnixNano()) / 2
		}
		s := bad(c, at, probe.OK)
		s.TTFT = probe.Known(seconds(.4 * math.Exp(sd*z) * factor))
		return s
	}
}

// TestOneCanaryIsNotTheTarget makes one of three five times as slow for hours, also while another does not answer, or is seldom
// asked: the median of two is half of the one that is far out, and of three it is the greater of the two that are well.
func TestOneCanaryIsNotTheTarget(t *testing.T) {
	const m = time.Minute
	f := func(sd float64, mute probe.Size, intervals ...time.Duration) {
		t.Helper()
		r := newRig(t, mixed(intervals...)...).learnFrom(9, scattered(sd, 1)).start().run(time.Hour)
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
		if own := r.one("gw/scene0/short", alert.KindTTFT); !own.IsFiring() {
			t.Errorf("the slow canary's own alert is %s", own.State)
		}
		for _, a := range r.of("gw", alert.KindTTFT) {
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
	r := newRig(t, mixed(m, m, m)...).learnFrom(9, scattered(.15, 1)).start().run(time.Hour)
	begin := r.now
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size == probe.Long {
			return scattered(.15, 1)(c, at)
		}
		return scattered(.15, 2.5)(c, at)
	}
	r.run(time.Hour)
	if a := r.one("gw", alert.KindTTFT); a.Fired.Sub(begin) > 15*time.Minute {
		t.Errorf("fired after %s", a.Fired.Sub(begin))
	}
}
