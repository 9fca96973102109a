package alert

import (
	"testing"
	"time"

	"serin/probe"
)

// aYear is longer than any history reaches.
const aYear = 366 * 24 * time.Hour

// astray lets the clock be wrong by step for 20 minutes, then right again.
func (r *rig) astray(step time.Duration, restart bool) {
	home := r.now.Add(20 * time.Minute)
	r.now, r.lag = r.now.Add(step), time.Millisecond
	r.schedule()
	r.run(20 * time.Minute)
	r.now = home
	r.schedule()
	if restart {
		r.start()
	}
}

// TestClockOutByYears lets the clock be wrong for a while, by years: nothing fires of it, and trouble is seen afterwards,
// with a restart and without.
func TestClockOutByYears(t *testing.T) {
	for _, step := range []time.Duration{30 * 24 * time.Hour, -56 * aYear, 170 * aYear, 10 * aYear, -10 * aYear}[:many(5, 2)] {
		for _, restart := range []bool{false, true} {
			r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
			r.run(3*time.Hour + 7*time.Second)
			r.astray(step, restart)
			r.run(3 * time.Hour)
			r.quiet(step.String())
			begin := r.now
			r.world = during(begin, begin.Add(30*time.Minute), slower(2))
			r.run(2 * time.Hour)
			if a := r.one("gw", KindTTFT); a.Severity != Warning || a.Resolved.IsZero() || a.Fired.Sub(begin) > 10*time.Minute {
				t.Errorf("after %s and restart %t: %s, fired after %s, ended %s", step, restart, a.Severity, a.Fired.Sub(begin), a.Resolved)
			}
			if state := r.engine.targets["gw"].pools[probe.TTFT].group.State(); state.Renewed > r.now.UnixNano() {
				t.Errorf("after %s: the target's scatter is of %s", step, time.Unix(0, state.Renewed).UTC())
			}
		}
	}
}

// TestOpenWhileTheClockIsAhead lets an incident open while the clock is ahead by years: it is reminded of, and ends.
func TestOpenWhileTheClockIsAhead(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	home := r.now.Add(time.Hour)
	r.now, r.lag = r.now.Add(10*aYear), time.Millisecond
	r.schedule()
	r.world = ends(probe.HTTP5xx)
	r.run(time.Hour)
	r.now = home
	r.schedule()
	r.run(5 * time.Hour)
	r.world = healthy
	r.run(time.Hour)
	if got, want := r.log.acts(), "open thread resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	a := r.one("gw/chat/short", KindError)
	if want := home.Add(5 * time.Second); a.Fired.After(want) || a.FirstBreach.After(a.Fired) || a.Resolved.Sub(home) < 5*time.Hour || a.Resolved.Sub(home) > 6*time.Hour {
		t.Errorf("first breach %s, fired %s, resolved %s; the clock went back to %s", a.FirstBreach, a.Fired, a.Resolved, home)
	}
}

// TestMaintenanceAfterTheClockWasAhead starts while the clock is ahead: once it is right, the windows of the right time hold.
func TestMaintenanceAfterTheClockWasAhead(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
	home := r.now
	r.maintenance = []Maintenance{{Name: "daily", Probe: true, Next: func(after time.Time) (from, to time.Time, ok bool) {
		from = after.Add(-13 * time.Hour).Truncate(24 * time.Hour).Add(12 * time.Hour)
		if !from.Add(time.Hour).After(after) {
			from = from.Add(24 * time.Hour)
		}
		return from, from.Add(time.Hour), true
	}}}
	r.now = r.now.Add(10 * aYear)
	r.start().run(time.Minute)
	r.now = home
	r.schedule()
	r.run(2*time.Hour + 30*time.Minute) // 12:30
	if got := r.engine.running(); len(got) != 1 || got[0].Maintenance != "daily" {
		t.Errorf("at %s there run %v, want the daily window", r.now, got)
	}
}

// TestEngineReadsTheWallClock holds that no instant of the engine carries a monotonic reading: between two of them a machine
// that slept or a clock that was set would not show.
func TestEngineReadsTheWallClock(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
	r.now = time.Now()
	r.start()
	for i := range 4 {
		now := time.Now().Add(time.Duration(i) * 5 * time.Minute)
		if err := r.engine.Begun(t.Context(), "gw/chat/short", now); err != nil {
			t.Fatal(err)
		}
		r.observe(bad(r.watched[0].Canary, now, probe.HTTP5xx))
		if err := r.engine.Tick(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Time{r.engine.now, r.engine.ticked, r.engine.watches["gw/chat/short"].alerts[KindError].Since} {
			if at != at.Round(0) {
				t.Errorf("%s has a monotonic reading", at)
			}
		}
	}
	if r.state(KindError) != StateFiring {
		t.Errorf("state %s, want firing", r.state(KindError))
	}
}

// TestSilenceOutlivesAClockThatWasAhead silences for six hours, and lets the clock be ahead by years meanwhile: it holds until
// its end, with a restart and without.
func TestSilenceOutlivesAClockThatWasAhead(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
		s := Silence{Match: matchers(t, "target=gw"), Ends: r.now.Add(6 * time.Hour), Reason: "r", By: "kim"}
		if _, _, err := r.engine.Silence(t.Context(), s, r.now); err != nil {
			t.Fatal(err)
		}
		r.astray(10*aYear, restart)
		r.world = ends(probe.HTTP5xx)
		r.run(s.Ends.Sub(r.now) - time.Minute)
		r.acts("")
		r.run(5 * time.Minute)
		r.acts("open")
		if n := len(r.engine.silences) + len(r.engine.lapsed); !restart && n != 1 {
			t.Errorf("%d silences, want one that is over", n)
		}
	}
}
