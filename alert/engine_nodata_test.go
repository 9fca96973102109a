package alert

import (
	"context"
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

func TestOverlapIsATimeout(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.Skipped)
		s.Reason = probe.ReasonOverlap
		return s
	}
	r.run(30 * time.Minute)
	if n := len(r.log.fired(KindTimeout)); n != 1 {
		t.Errorf("%d timeout alerts, want 1", n)
	}
}
