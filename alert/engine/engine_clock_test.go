package engine

import (
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// quiet wants a rig that has raised nothing.
func (r *rig) quiet(what string) {
	r.t.Helper()
	if len(r.log.alerts) != 0 || len(r.log.notices) != 0 {
		r.t.Errorf("%s: alerts %v, notices %q", what, r.log.alerts, r.log.acts())
	}
}

func TestClockSteps(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
		if err := r.engine.Begun(t.Context(), "gw/chat/short", r.now); err != nil {
			t.Fatal(err)
		}
		r.run(3*time.Hour + 7*time.Second)
		r.now, r.lag = r.now.Add(step), time.Millisecond
		r.schedule()
		r.run(3 * time.Hour)
		r.quiet(step.String())
		// and it still sees trouble
		begin := r.now
		r.world = during(begin, begin.Add(30*time.Minute), slower(2))
		r.run(2 * time.Hour)
		if got, want := r.log.acts(), "open resolve"; got != want {
			t.Errorf("after a step of %s: acts %q, want %q", step, got, want)
		}
	}
}

// TestClockStepsOfWholeTargets steps the clock under three canaries that are judged together, and moves their zone's clock:
// nothing fires by itself, and trouble is still seen.
func TestClockStepsOfWholeTargets(t *testing.T) {
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		watched := target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)
		r := newRig(t, watched...)
		if step == 0 {
			zone, err := time.LoadLocation("Europe/Berlin")
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range watched {
				w.Canary.Scene.Zone = zone
			}
			r.now = time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC) // two hours before it is put forward
		}
		r.learn(9).start()
		r.run(3*time.Hour + 7*time.Second)
		r.now, r.lag = r.now.Add(step), time.Millisecond
		r.schedule()
		r.run(3 * time.Hour)
		r.quiet(step.String())
		begin := r.now
		r.world = during(begin, begin.Add(20*time.Minute), slower(1.8))
		r.run(3 * time.Hour)
		if a := r.one("gw", KindTTFT); a.Severity != Warning || a.Resolved.IsZero() || a.Fired.Sub(begin) > 10*time.Minute {
			t.Errorf("after a step of %s: %s, fired after %s, ended %s", step, a.Severity, a.Fired.Sub(begin), a.Resolved)
		}
	}
}

func TestClockStepsWhileFiring(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
		end := r.now.Add(2*time.Hour + step)
		r.world = during(r.now.Add(time.Hour), end.Add(time.Hour), slower(2))
		r.run(90 * time.Minute)
		r.now, r.lag = r.now.Add(step), time.Millisecond
		r.world = during(r.now, r.now.Add(30*time.Minute), slower(2))
		r.schedule()
		r.run(3 * time.Hour)
		if got, want := r.log.acts(), "open resolve"; got != want {
			t.Errorf("a step of %s while firing: acts %q, want %q", step, got, want)
		}
	}
}

// TestClockSetBackWhileATargetFires reads all histories again: until each canary has spoken there is no round, and the last one is
// hours away. That is no reason to end what fires.
func TestClockSetBackWhileATargetFires(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	r.world = slower(1.8)
	r.run(time.Hour)
	r.now, r.lag = r.now.Add(-2*time.Hour), time.Millisecond
	r.schedule()
	r.run(time.Hour)
	if a := r.one("gw", KindTTFT); !a.Open() {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
	r.world = healthy
	r.run(time.Hour)
	if a := r.one("gw", KindTTFT); !strings.Contains(a.Reason, "calm") || r.log.acts()[len(r.log.acts())-7:] != "resolve" {
		t.Errorf("%s, messages %s", a.Reason, r.log.acts())
	}
}

func TestGroupWaitSurvivesAClockSetBack(t *testing.T) {
	watched := target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)
	r := newRig(t, watched...)
	r.every = time.Second
	r.learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size == probe.Short && !at.Before(begin) {
			return bad(c, at, probe.TimeoutTotal)
		}
		return healthy(c, at)
	}
	r.run(time.Hour + 6*time.Minute)
	if got := r.log.acts(); got != "open" {
		t.Fatalf("acts %q, want open", got)
	}
	for _, i := range r.log.incidents {
		inc := decode[Incident](i)
		r.engine.targets["gw"].incident.State, r.engine.targets["gw"].incident.Announce = IncidentWaiting, inc.Announce.Add(time.Hour)
	}
	r.run(2 * time.Second)
	if got := r.log.acts(); got != "open open" {
		t.Errorf("acts %q: an announcement an hour ahead is one that the clock was set back from", got)
	}
}

func TestSuspendIsNoMissingData(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	if err := r.engine.Begun(t.Context(), "gw/chat/short", r.now); err != nil {
		t.Fatal(err)
	}
	r.run(time.Hour)
	r.now = r.now.Add(8 * time.Hour)
	r.schedule()
	r.run(time.Hour)
	r.quiet("a night of sleep")
}

func TestSummerTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []time.Time{time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)} {
		watched := target1("gw", 15*time.Minute, DefaultRule(), probe.Short)
		watched[0].Canary.Scene.Zone = berlin
		r := newRig(t, watched...)
		r.now = day
		r.every = 30 * time.Second
		r.learn(9).start().run(48 * time.Hour)
		r.quiet("a change of the clocks at " + day.String())
	}
}

// TestCalendarAlone lives through a 29th of February, three days without serin, and a scene that moves to another zone: none of
// them is trouble, and trouble is still seen in the hours after.
func TestCalendarAlone(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]struct {
		from time.Time
		then func(r *rig)
	}{
		"a leap day": {time.Date(2028, 2, 28, 12, 0, 0, 0, time.UTC), func(r *rig) { r.run(36 * time.Hour) }},
		"a gap of three days": {day0, func(r *rig) {
			r.now = r.now.Add(3 * 24 * time.Hour)
			r.start()
		}},
		"another zone": {day0, func(r *rig) {
			moved := make([]Watched, len(r.watched))
			for i, w := range r.watched {
				c, scene := *w.Canary, *w.Canary.Scene
				scene.Zone = shanghai
				c.Scene = &scene
				w.Canary = &c
				moved[i] = w
			}
			r.reload(moved...)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...)
			r.now = f.from
			r.learn(9).start().run(3 * time.Hour)
			f.then(r)
			r.run(6 * time.Hour)
			r.quiet(what)
			begin := r.now
			r.world = during(begin, begin.Add(30*time.Minute), slower(2))
			r.run(2 * time.Hour)
			if a := r.one("gw", KindTTFT); a.Fired.Sub(begin) > 10*time.Minute || a.Resolved.IsZero() {
				t.Errorf("after it: fired after %s, ended %s", a.Fired.Sub(begin), a.Resolved)
			}
		})
	}
}

func TestOutOfOrderAndDoubled(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	c := r.watched[0].Canary
	at := r.now
	spike := answer(c, at, 4)
	for range 6 { // one slow probe, heard of six times, is one vote
		r.observe(spike)
	}
	failure := bad(c, at.Add(time.Minute), probe.HTTP5xx)
	for range 6 {
		r.observe(failure)
	}
	for _, m := range []int{30, 10, 25, 15, 5, 20, -60, 35, -3000, -20000} {
		r.observe(healthy(c, at.Add(time.Duration(m)*time.Minute)))
	}
	r.quiet("shuffled and doubled samples")
	if n := len(r.log.records["gw/chat/short"]); n < 12 {
		t.Errorf("%d records", n)
	}
}

func TestDoubledAcrossARestart(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	spike := answer(r.watched[0].Canary, r.now.Add(time.Second), 4)
	for range 6 {
		r.observe(spike)
		r.now = r.now.Add(2 * time.Second)
		r.start()
	}
	r.quiet("one slow probe, heard of again after each restart")
}

func TestStrangeSamples(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	c := r.watched[0].Canary
	zero := healthy(c, r.now)
	zero.TTFT, zero.TPOT = probe.Known(0), probe.Known(-time.Second)
	odd := []probe.Sample{zero, {}, bad(c, time.Time{}, probe.OK), bad(c, r.now.AddDate(50, 0, 0), probe.OK), bad(c, r.now.Add(1), "made_up")}
	stranger := healthy(c, r.now)
	stranger.Target = "gone"
	for _, s := range append(odd, stranger) {
		r.observe(s)
	}
	r.tick()
	r.run(time.Hour)
	if got := r.log.acts(); got != "" {
		t.Errorf("acts %q", got)
	}
}
