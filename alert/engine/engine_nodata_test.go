package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

func TestNoData(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	// the daemon says when a probe begins
	r.world = during(begin, begin.Add(time.Hour), silent)
	if err := r.engine.Begun(context.Background(), "gw/chat/short", r.now); err != nil {
		t.Fatal(err)
	}
	r.run(3 * time.Hour)
	list := r.log.fired(KindNoData)
	if len(list) != 1 || list[0].Severity != Critical {
		t.Fatalf("no-data alerts %+v", list)
	}
	if d := list[0].Fired.Sub(begin); d < 5*time.Minute || d > 6*time.Minute {
		t.Errorf("fired %s after the first missing run, want at the second", d)
	}
	if d := list[0].Resolved.Sub(begin); d < time.Hour || d > time.Hour+time.Minute {
		t.Errorf("resolved after %s, want at the first probe", d)
	}
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
}

func TestSkipsAreNoMissingData(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.Skipped)
		s.Reason = probe.ReasonBudget
		return s
	}
	r.run(6 * time.Hour)
	if len(r.log.alerts) != 0 {
		t.Errorf("alerts for a spent budget: %v", r.log.alerts)
	}
}

// TestNoRoomIsNoData keeps others in the lanes: such a canary is not watched, and the message says why.
func TestNoRoomIsNoData(t *testing.T) {
	f := func(provider, want string) {
		t.Helper()
		watched := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)
		watched[0].Canary.Target.Provider = provider
		r := newRig(t, watched...).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(time.Hour), skips(probe.ReasonInFlight))
		if err := r.engine.Begun(t.Context(), "gw/chat/short", r.now); err != nil {
			t.Fatal(err)
		}
		r.run(3 * time.Hour)
		list := r.log.fired(KindNoData)
		if len(list) != 1 || list[0].Severity != Critical {
			t.Fatalf("no-data alerts %+v", list)
		}
		if d := list[0].Fired.Sub(begin); d < 5*time.Minute || d > 6*time.Minute {
			t.Errorf("fired %s after the first run without room, want at the second", d)
		}
		if d := list[0].Resolved.Sub(begin); d < time.Hour || d > time.Hour+time.Minute {
			t.Errorf("resolved after %s, want at the first probe", d)
		}
		if got := r.log.notices[0].Message.Headline; !strings.Contains(got, "no data, no probe has started for ") || !strings.HasSuffix(got, want) {
			t.Errorf("headline %q, want the end %q", got, want)
		}
	}
	f("p", " (no room: max_in_flight of provider p is taken by runs that hang)")
	f("gw", " (no room: max_in_flight of target gw is taken by runs that hang)")
}

// TestAProbeUnderWayIsData lets each answer take longer than three runs of its own schedule, with room for one.
func TestAProbeUnderWayIsData(t *testing.T) {
	r := newRig(t, target1("gw", time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	n, begun := 0, time.Time{}
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch n++; n % 4 {
		case 1:
			begun = at
			if err := r.engine.Begun(t.Context(), c.Key(), at); err != nil {
				t.Fatal(err)
			}
			return probe.Sample{} // its answer comes with the fourth run
		case 0:
			return healthy(c, begun)
		}
		return skips(probe.ReasonInFlight)(c, at)
	}
	r.run(2 * time.Hour)
	if list := r.log.fired(KindNoData); len(list) != 0 || n < 100 {
		t.Errorf("%d runs, no-data alerts %+v", n, list)
	}
}

func skips(reason string) func(*probe.Canary, time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.Skipped)
		s.Reason = reason
		return s
	}
}

func TestOverlapIsATimeout(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.world = skips(probe.ReasonOverlap)
	r.run(30 * time.Minute)
	list := r.log.fired(KindTimeout)
	if len(list) != 1 {
		t.Fatalf("%d timeout alerts, want 1", len(list))
	}
	if a := list[0]; a.Timeouts != a.Probes || a.Timeouts < 3 {
		t.Errorf("%d timeouts of %d checks", a.Timeouts, a.Probes)
	}
	m := r.log.notices[0].Message
	if want := ": timeouts, 3 of the last 3 checks (earlier checks still hang)"; !strings.HasSuffix(m.Headline, want) {
		t.Errorf("headline %q, want the end %q", m.Headline, want)
	}
	if want := (Line{Role: "counts", Text: "3 timeouts, 0 errors in 3 checks"}); !slices.Contains(m.Lines, want) {
		t.Errorf("lines %+v, want %+v", m.Lines, want)
	}
}
