package engine

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

func (l *ledger) happened(what Event) []Transition {
	return slices.DeleteFunc(slices.Clone(l.transitions), func(t Transition) bool { return t.Event != what })
}

func single(r Rule) Rule {
	r.Corroborate = false
	return r
}

func singleRig(t *testing.T, rule Rule) *rig {
	r := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short)...)
	r.every = 30 * time.Second
	return r.learn(9).start()
}

func (r *rig) mean() float64 { return r.engine.Status().Canaries[0].Bands[probe.TTFT].Mean }

// TestALevelThatStaysIsTheNewNormal slows an endpoint by 1.5 for good: after a day the alert ends, the band has the new
// level at once, and a restart changes nothing of it.
func TestALevelThatStaysIsTheNewNormal(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.AddDate(1, 0, 0), slower(1.5))
	r.run(27 * time.Hour)
	a := r.one("gw/chat/short", KindTTFT)
	if a.Reason != endNewNormal || math.Abs(a.Accepted-1.5) > .05 {
		t.Fatalf("%s: %s, ×%.3f", a.State, a.Reason, a.Accepted)
	}
	if d := a.Resolved.Sub(a.Fired); d < 24*time.Hour || d > 24*time.Hour+time.Minute {
		t.Errorf("accepted after %s", d)
	}
	if len(r.log.happened(EventAccept)) != 1 || r.log.acts() != "open thread thread thread thread thread resolve" {
		t.Errorf("%d events, messages %s", len(r.log.happened(EventAccept)), r.log.acts())
	}
	if m := r.mean(); math.Abs(m-.6) > .03 {
		t.Errorf("mean %.3f s after the acceptance, want .6", m)
	}
	r.start()
	r.run(time.Hour)
	if m := r.mean(); math.Abs(m-.6) > .03 {
		t.Errorf("mean %.3f s after a restart, want .6", m)
	}
	begin = r.now
	r.world = during(begin, begin.Add(time.Hour), slower(3))
	r.run(2 * time.Hour)
	if n := len(r.log.fired(KindTTFT)); n != 2 {
		t.Errorf("%d alerts: twice the new level is one more", n)
	}
}

// TestAnAcceptedLevelThatGoesBackIsUndone returns to the old level after two days.
func TestAnAcceptedLevelThatGoesBackIsUndone(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	begin := r.now.Add(time.Hour)
	back := begin.Add(48 * time.Hour)
	r.world = during(begin, back, slower(1.5))
	r.run(64 * time.Hour)
	undone := r.log.happened(EventUndo)
	if len(undone) != 1 || undone[0].At.Before(back.Add(11*time.Hour)) || undone[0].At.After(back.Add(13*time.Hour)) {
		t.Fatalf("undone %+v, want when half of a day is at the old level again", undone)
	}
	if m := r.mean(); math.Abs(m-.4) > .02 {
		t.Errorf("mean %.3f s, want .4", m)
	}
	if n := len(r.log.fired(KindTTFT)); n != 1 {
		t.Errorf("%d alerts", n)
	}
}

// TestAQuietWeekendUndoesNothing lets the load, and with it the slower level, fall to the old one for ten hours of two days.
func TestAQuietWeekendUndoesNothing(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	begin := r.now.Add(time.Hour)
	weekend := begin.Add(40 * time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch quiet := at.Sub(weekend); {
		case at.Before(begin), quiet >= 0 && quiet < 48*time.Hour && quiet%(24*time.Hour) < 10*time.Hour:
			return healthy(c, at)
		}
		return answer(c, at, 1.5)
	}
	r.run(100 * time.Hour)
	if n := len(r.log.happened(EventAccept)); n != 1 {
		t.Fatalf("%d acceptances, want 1", n)
	}
	if undone := r.log.happened(EventUndo); len(undone) != 0 {
		t.Errorf("undone while the shift stands: %+v", undone)
	}
}

// TestNoLevelIsAcceptedThatMustNotBe keeps firing above the user's critical limit, and while the canary fails.
func TestNoLevelIsAcceptedThatMustNotBe(t *testing.T) {
	limited := single(DefaultRule())
	limited.TTFTLimit = map[probe.Size]Limit{probe.Short: {Critical: 550 * time.Millisecond}}
	r := singleRig(t, limited)
	r.world = slower(1.5)
	r.run(26 * time.Hour)
	if a := r.one("gw/chat/short", KindTTFT); !a.Open() || a.Severity != Critical {
		t.Errorf("above the critical limit: %s %s %s", a.State, a.Severity, a.Reason)
	}
	failing := singleRig(t, single(DefaultRule()))
	begin := failing.now.Add(23 * time.Hour)
	failing.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if at.After(begin) {
			return bad(c, at, probe.HTTP5xx)
		}
		return answer(c, at, 1.5)
	}
	failing.run(26 * time.Hour)
	if a := failing.one("gw/chat/short", KindTTFT); !a.Open() {
		t.Errorf("while it fails: %s %s", a.State, a.Reason)
	}
}

// TestAcceptByCommand ends an alert after an hour, and the undo brings the old level back exactly.
func TestAcceptByCommand(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	old := r.mean()
	r.world = slower(1.5)
	if _, err := r.engine.Accept(t.Context(), "gw/*", "me", "", r.now); err == nil {
		t.Error("nothing fires, and nothing is said")
	}
	r.run(time.Hour)
	done, err := r.engine.Accept(t.Context(), "gw/chat", "me", "new model", r.now)
	if err != nil || strings.Join(done, ",") != "gw/chat/short ttft" {
		t.Fatalf("%v, %v", done, err)
	}
	if x := r.log.happened(EventAccept); len(x) != 1 || !strings.Contains(x[0].Reason, "by me") || !strings.Contains(x[0].Reason, "new model") {
		t.Errorf("journal %+v", x)
	}
	if _, err := r.engine.Accept(t.Context(), "[", "me", "", r.now); err == nil {
		t.Error("a bad pattern is taken")
	}
	r.run(time.Minute)
	r.engine.Imported(t.Context(), r.now)
	if m := r.mean(); math.Abs(m/old-1.5) > .05 {
		t.Errorf("×%.3f of the old mean", m/old)
	}
	if _, err := r.engine.Undo(t.Context(), "gw", "me", "", r.now); err != nil {
		t.Fatal(err)
	}
	r.engine.Imported(t.Context(), r.now)
	if m := r.mean(); math.Abs(m/old-1) > .16 {
		t.Errorf("×%.3f of the old mean after the undo", m/old)
	}
}

// TestALevelThatComesDownIsFollowed gets faster by a quarter: once most of the last 72 h are so the band follows, and once
// more when the days before have left its window; without an alert.
func TestALevelThatComesDownIsFollowed(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	r.world = slower(.75)
	r.run(74 * time.Hour)
	down := r.log.happened(EventDown)
	if len(down) < 1 || len(down) > 2 || down[0].At.Before(r.now.Add(-40*time.Hour)) || len(r.log.fired(KindTTFT)) != 0 || len(r.log.notices) != 0 {
		t.Fatalf("%+v events, %d alerts, %d messages", down, len(r.log.fired(KindTTFT)), len(r.log.notices))
	}
	if m := r.mean(); math.Abs(m-.3) > .02 {
		t.Errorf("mean %.3f s, want .3", m)
	}
}

// TestFastAndSlowByTurnsIsNotDown holds that a series of cache hits and misses, whose median is far below its mean for ever, does not
// make the band follow it again and again.
func TestFastAndSlowByTurnsIsNotDown(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	miss := func(at time.Time) bool { return at.Unix()/300%20 < 7 }
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if miss(at) {
			return slower(4)(c, at)
		}
		return healthy(c, at)
	}
	r.run(20 * 24 * time.Hour)
	if down := r.log.happened(EventDown); len(down) > 1 {
		t.Errorf("%d events, the last %+v", len(down), down[len(down)-1])
	}
}

// TestWholeTargetIsAccepted makes all canaries slower for good: each gets its own new level.
func TestWholeTargetIsAccepted(t *testing.T) {
	r := newRig(t, target1("gw", 15*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...)
	r.every = time.Minute
	r.learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.AddDate(1, 0, 0), slower(1.7))
	r.run(30 * time.Hour)
	a := r.one("gw", KindTTFT)
	if a.Reason != endNewNormal || math.Abs(a.Accepted-1.7) > .1 {
		t.Errorf("%s %s ×%.3f", a.State, a.Reason, a.Accepted)
	}
	for _, c := range r.engine.Status().Canaries {
		if m := c.Bands[probe.TTFT].Mean; math.Abs(m-.68) > .04 {
			t.Errorf("%s: mean %.3f s, want .68", c.Canary, m)
		}
		if c.Kinds[KindTTFT] != StateOK {
			t.Errorf("%s is %s", c.Canary, c.Kinds[KindTTFT])
		}
	}
}

// TestResetSurvivesARestart forgets a history for good.
func TestResetSurvivesARestart(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	r.world = slower(2)
	r.run(time.Hour)
	if _, err := r.engine.ResetBaseline(t.Context(), "gw/chat/short", "me", "new cluster", r.now); err != nil {
		t.Fatal(err)
	}
	learns := func() {
		t.Helper()
		if b := r.engine.Status().Canaries[0].Bands[probe.TTFT]; b.State != "learning" || b.N > 12 {
			t.Errorf("%s with %d samples", b.State, b.N)
		}
	}
	learns()
	if a := r.one("gw/chat/short", KindTTFT); a.Reason != whyReset {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
	r.start()
	r.run(30 * time.Minute)
	learns()
}

// TestRescaleFollowsAChangedSpec changes the prompt to a slower one: nothing fires, and the band goes on at the new level.
func TestRescaleFollowsAChangedSpec(t *testing.T) {
	for _, how := range []string{"reload", "restart"} {
		r := newRig(t, target1("gw", 5*time.Minute, single(DefaultRule()), probe.Short)...)
		r.opt.Baseline.OnChange = "rescale"
		r.learn(9).start()
		r.run(time.Hour)
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
		if b := r.engine.Status().Canaries[0].Bands[probe.TTFT]; b.State != "learning" {
			t.Errorf("%s: %s after 8 values", how, b.State)
		}
		r.run(2 * time.Hour)
		if b := r.engine.Status().Canaries[0].Bands[probe.TTFT]; b.State != "ready" || math.Abs(b.Mean-.8) > .04 {
			t.Errorf("%s: %s, mean %.3f s, want .8", how, b.State, b.Mean)
		}
		if n := len(r.log.fired(KindTTFT)); n != 0 {
			t.Errorf("%s: %d alerts", how, n)
		}
	}
}
