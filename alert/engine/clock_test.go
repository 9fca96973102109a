package engine_test

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// TestClockSteps steps the clock under one canary and under three that are judged together: nothing fires by itself, and trouble is
// still seen.
func TestClockSteps(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, -40 * time.Second} {
		for _, rig := range []func(testing.TB) *rig{shortRig, wholeRig} {
			r := rig(t)
			r.take(r.engine.Begun("gw/chat/short", r.now))
			r.run(3*time.Hour + 7*time.Second)
			r.now, r.lag = r.now.Add(step), time.Millisecond
			r.schedule()
			r.run(3 * time.Hour)
			r.quiet(step.String())
			begin := r.now
			r.world = during(begin, begin.Add(30*time.Minute), slower(2))
			r.run(2 * time.Hour)
			if a := r.one("gw/chat/short", alert.KindTTFT); a.Fired.Sub(begin) > 10*time.Minute || a.Resolved.IsZero() {
				t.Errorf("after a step of %s: fired after %s, ended %s", step, a.Fired.Sub(begin), a.Resolved)
			}
		}
	}
}

// TestAStepBackIsNoMissingData sets the clock back under a fast canary whose schedule does not fire twice.
func TestAStepBackIsNoMissingData(t *testing.T) {
	r := newRig(t, canaries("gw", 10*time.Second, single(), probe.Short)...).start()
	for range 30 {
		r.take(r.engine.Begun("gw/chat/short", r.now))
		r.run(10 * time.Second)
	}
	again := r.now
	r.now = r.now.Add(-time.Minute)
	for r.now.Before(again) { // no run comes again
		r.tick()
		r.now = r.now.Add(5 * time.Second)
	}
	r.tick()
	r.quiet("a step back of a minute")
}

func TestClockStepsWhileFiring(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -50 * time.Minute} {
		r := shortRig(t)
		r.world = during(r.now.Add(time.Hour), r.now.Add(5*time.Hour), slower(2))
		r.run(90 * time.Minute)
		r.now, r.lag = r.now.Add(step), time.Millisecond
		r.world = during(r.now, r.now.Add(30*time.Minute), slower(2))
		r.schedule()
		r.run(3 * time.Hour)
		if a := r.one("gw/chat/short", alert.KindTTFT); a.Resolved.IsZero() {
			t.Errorf("a step of %s while firing: %s", step, a.State)
		}
	}
}

func TestSuspendIsNoMissingData(t *testing.T) {
	r := shortRig(t)
	r.take(r.engine.Begun("gw/chat/short", r.now))
	r.run(time.Hour)
	r.now = r.now.Add(8 * time.Hour)
	r.schedule()
	r.run(time.Hour)
	r.quiet("a night of sleep")
}

// TestCalendarAlone lives through a 29th of February, changes of the clocks, and a scene that moves to another zone: none of them is
// trouble, and trouble is still seen in the hours after.
func TestCalendarAlone(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	in := func(z *time.Location) []alert.Watched {
		list := canaries("gw", 5*time.Minute, alert.DefaultRule(), probe.Sizes()...)
		for _, w := range list {
			w.Canary.Scene.Zone = z
		}
		return list
	}
	f := func(what string, from time.Time, then func(r *rig)) {
		t.Helper()
		r := newRig(t, in(zone("Europe/Berlin"))...)
		r.now, r.every = from, 30*time.Second
		r.learn(9).start().run(3 * time.Hour)
		then(r)
		r.run(6 * time.Hour)
		r.quiet(what)
		begin := r.now
		r.world = during(begin, begin.Add(30*time.Minute), slower(2))
		r.run(2 * time.Hour)
		if a := r.one("gw", alert.KindTTFT); a.Fired.Sub(begin) > 10*time.Minute || a.Resolved.IsZero() {
			t.Errorf("%s: fired after %s, ended %s", what, a.Fired.Sub(begin), a.Resolved)
		}
	}
	f("a leap day", time.Date(2028, 2, 28, 12, 0, 0, 0, time.UTC), func(r *rig) { r.run(36 * time.Hour) })
	f("clocks put forward", time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), func(r *rig) { r.run(20 * time.Hour) })
	f("clocks put back", time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), func(r *rig) { r.run(20 * time.Hour) })
	f("a gap of three days", day0, func(r *rig) {
		r.now = r.now.Add(3 * 24 * time.Hour)
		r.start()
	})
	f("another zone", day0, func(r *rig) { r.reload(in(zone("Asia/Shanghai"))...) })
}

func TestOutOfOrderAndDoubled(t *testing.T) {
	r := shortRig(t)
	c := r.watched[0].Canary
	at := r.now
	spike, failure := answer(c, at, 4), bad(c, at.Add(time.Minute), probe.HTTP5xx)
	for range 6 { // one slow probe, heard of six times, is one vote; across restarts too
		r.observe(spike)
		r.observe(failure)
		r.now = r.now.Add(2 * time.Second)
		r.start()
		r.observe(spike)
	}
	for _, m := range []int{30, 10, 25, 15, 5, 20, -60, 35, -3000, -20000} {
		r.observe(healthy(c, at.Add(time.Duration(m)*time.Minute)))
	}
	r.quiet("shuffled and doubled samples")
	if n := len(r.store.records["gw/chat/short"]); n < 12 {
		t.Errorf("%d records", n)
	}
}

func TestStrangeSamples(t *testing.T) {
	r := shortRig(t)
	c := r.watched[0].Canary
	zero, stranger := healthy(c, r.now), healthy(c, r.now)
	zero.TTFT, zero.TPOT = probe.Known(0), probe.Known(-time.Second)
	stranger.Target = "gone"
	for _, s := range []probe.Sample{zero, {}, bad(c, time.Time{}, probe.OK), bad(c, r.now.AddDate(50, 0, 0), probe.OK), bad(c, r.now.Add(1), "made_up"), stranger} {
		r.observe(s)
	}
	r.tick()
	r.run(time.Hour)
	r.quiet("strange samples")
}
