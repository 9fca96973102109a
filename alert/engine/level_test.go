package engine_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

func (r *rig) mean() float64 { return r.status("gw/chat/short").Bands[probe.TTFT].Mean }

// TestLongAlertLeavesTheBand excludes the samples since the first breach, but for its calm end and what comes after a day.
func TestLongAlertLeavesTheBand(t *testing.T) {
	rule := single()
	rule.ExcludeFor = 4 * time.Hour
	f := func(lasts time.Duration) {
		t.Helper()
		r := newRig(t, canaries("gw", 5*time.Minute, rule, probe.Short)...).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(lasts), slower(2))
		r.run(lasts + 2*time.Hour)
		until := begin.Add(min(lasts, rule.ExcludeFor))
		for _, rec := range r.store.records["gw/chat/short"] {
			at := rec.Sample.Time
			want := !at.Before(begin) && at.Before(until)
			if got := rec.Excluded[probe.TTFT]; got != want && rec.Sample.Regular() {
				t.Errorf("%s: excluded %t at %s after the beginning", lasts, got, at.Sub(begin))
			}
		}
	}
	f(3 * time.Hour)
	f(5 * time.Hour)
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(2))
	r.run(3 * time.Hour)
	if len(r.store.exclusions) != 0 {
		t.Errorf("an alert of 40 min excludes %+v", r.store.exclusions)
	}
}

// TestTheDaysLearnALevelThatStays makes an endpoint slower by 1.4 for good, alone and together: one alert, which ends within five days.
func TestTheDaysLearnALevelThatStays(t *testing.T) {
	f := func(series string, watched ...alert.Watched) {
		t.Helper()
		r := newRig(t, watched...)
		r.every = time.Minute
		r.learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.AddDate(1, 0, 0), slower(1.4))
		r.run(8 * 24 * time.Hour)
		a := r.one(series, alert.KindTTFT)
		if d := a.Resolved.Sub(a.Fired); a.Reason != alert.EndRelearned || d < 25*time.Hour || d > 5*24*time.Hour {
			t.Errorf("%s: %q after %s", series, a.Reason, d)
		}
		if m := r.mean(); math.Abs(m-.56) > .03 {
			t.Errorf("%s: mean %.3f s after eight days, want .56", series, m)
		}
		if got := r.happened(alert.EventSlower); len(got) != 0 {
			t.Errorf("%s: slower still without cause: %+v", series, got)
		}
	}
	f("gw/chat/short", canaries("gw", 15*time.Minute, single(), probe.Short)...)
	f("gw", canaries("gw", 15*time.Minute, alert.DefaultRule(), probe.Sizes()...)...)
}

// TestASecondFaultIsSlowerStill lays a fault of two hours over one that has lasted for days.
func TestASecondFaultIsSlowerStill(t *testing.T) {
	f := func(series string, watched ...alert.Watched) {
		t.Helper()
		r := newRig(t, watched...)
		r.every = time.Minute
		r.learn(9).start()
		begin := r.now.Add(time.Hour)
		second := begin.Add(30 * time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			switch {
			case at.Before(begin):
				return healthy(c, at)
			case at.Before(second), !at.Before(second.Add(2 * time.Hour)):
				return answer(c, at, 2)
			}
			return answer(c, at, 3)
		}
		r.run(36 * time.Hour)
		got := slices.DeleteFunc(r.happened(alert.EventSlower), func(x alert.Transition) bool { return x.Series != series })
		if len(got) != 1 || got[0].At.Sub(second) > 90*time.Minute || math.Abs(got[0].After.Slower-1.5) > .15 {
			t.Errorf("%s: %+v", series, got)
		}
		if a := r.one(series, alert.KindTTFT); !a.IsFiring() || a.Slower != 0 {
			t.Errorf("%s: %s, slower by %g after it", series, a.State, a.Slower)
		}
	}
	f("gw/chat/short", canaries("gw", 15*time.Minute, single(), probe.Short)...)
	f("gw", canaries("gw", 15*time.Minute, alert.DefaultRule(), probe.Sizes()...)...)
}

// TestAcceptByCommand ends an alert after an hour, and the undo brings the old level back.
func TestAcceptByCommand(t *testing.T) {
	r := shortRig(t)
	old := r.mean()
	r.world = slower(1.5)
	if _, _, err := r.engine.Accept("gw/*", "me", "", r.now); err == nil {
		t.Error("nothing fires, and nothing is said")
	}
	r.run(time.Hour)
	j, done, err := r.engine.Accept("gw/chat", "me", "new model", r.now)
	if err != nil || strings.Join(done, ",") != "gw/chat/short ttft" {
		t.Fatalf("%v, %v", done, err)
	}
	r.take(j)
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Reason != alert.EndAccepted || math.Abs(a.Accepted-1.5) > .05 || a.By != "me" {
		t.Errorf("%s: %s, ×%.2f by %s", a.State, a.Reason, a.Accepted, a.By)
	}
	if x := r.happened(alert.EventAccept); len(x) != 1 || !strings.Contains(x[0].Reason, "by me") || !strings.Contains(x[0].Reason, "new model") {
		t.Errorf("history %+v", x)
	}
	if _, _, err := r.engine.Accept("[", "me", "", r.now); err == nil {
		t.Error("a bad pattern is taken")
	}
	r.run(time.Minute)
	r.start().run(time.Hour)
	if m := r.mean(); math.Abs(m/old-1.5) > .05 || len(r.of("gw/chat/short", alert.KindTTFT)) != 1 {
		t.Errorf("×%.3f of the old mean after a restart, %d alerts", m/old, len(r.store.alerts))
	}
	if j, _, err = r.engine.Undo("gw", "me", "", r.now); err != nil {
		t.Fatal(err)
	}
	r.take(j)
	r.world = healthy
	r.run(time.Hour)
	if m := r.mean(); math.Abs(m/old-1) > .16 {
		t.Errorf("×%.3f of the old mean after the undo", m/old)
	}
}

// TestWholeTargetIsAccepted makes all canaries slower: each gets its own new level, and the single alerts end too.
func TestWholeTargetIsAccepted(t *testing.T) {
	r := wholeRig(t)
	r.world = slower(1.7)
	r.run(2 * time.Hour)
	j, _, err := r.engine.Accept("gw", "me", "bigger model", r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.take(j)
	r.run(2 * time.Hour)
	if a := r.one("gw", alert.KindTTFT); a.Reason != alert.EndAccepted || math.Abs(a.Accepted-1.7) > .1 {
		t.Errorf("%s %s ×%.3f", a.State, a.Reason, a.Accepted)
	}
	for _, size := range probe.Sizes() {
		key := "gw/chat/" + string(size)
		if m := r.status(key).Bands[probe.TTFT].Mean; math.Abs(m-.68) > .04 {
			t.Errorf("%s: mean %.3f s, want .68", key, m)
		}
		if a := r.one(key, alert.KindTTFT); a.Reason != alert.EndAccepted {
			t.Errorf("%s: %s %s", key, a.State, a.Reason)
		}
	}
}

// TestResetSurvivesARestart forgets a history for good.
func TestResetSurvivesARestart(t *testing.T) {
	r := shortRig(t)
	r.world = slower(2)
	r.run(time.Hour)
	j, _, err := r.engine.ResetBaseline("gw/chat/short", "me", "new cluster", r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.take(j)
	learns := func() {
		t.Helper()
		if b := r.status("gw/chat/short").Bands[probe.TTFT]; b.State != "learning" || b.N > 12 {
			t.Errorf("%s with %d samples", b.State, b.N)
		}
	}
	learns()
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Reason != alert.EndReset {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
	r.start().run(30 * time.Minute)
	learns()
}

// TestRescaleFollowsAChangedSpec changes the prompt to a slower one: nothing fires, and the band goes on at the new level.
func TestRescaleFollowsAChangedSpec(t *testing.T) {
	for _, how := range []string{"reload", "restart"} {
		r := newRig(t, canaries("gw", 5*time.Minute, single(), probe.Short)...)
		r.opt.Baseline.OnChange = "rescale"
		r.learn(9).start().run(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			s := answer(c, at, 2)
			s.Spec = "s2"
			return s
		}
		next := slices.Clone(r.watched)
		next[0].Spec = "s2"
		if how == "reload" {
			r.reload(next...)
		} else {
			r.watched = next
			r.start()
		}
		r.run(40 * time.Minute)
		if b := r.status("gw/chat/short").Bands[probe.TTFT]; b.State != "learning" {
			t.Errorf("%s: %s after 8 values", how, b.State)
		}
		r.run(2 * time.Hour)
		if b := r.status("gw/chat/short").Bands[probe.TTFT]; b.State != "ready" || math.Abs(b.Mean-.8) > .04 {
			t.Errorf("%s: %s, mean %.3f s, want .8", how, b.State, b.Mean)
		}
		r.quiet(how)
	}
}
