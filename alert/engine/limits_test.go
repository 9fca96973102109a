package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

func TestFixedLimitsWhileLearning(t *testing.T) {
	rule := DefaultRule()
	rule.TTFTLimit = map[probe.Size]Limit{probe.Short: {Warning: time.Second, Critical: 3 * time.Second}}
	f := func(name string, rule Rule, size probe.Size, reasoning bool, usual, trouble float64, want string) {
		t.Helper()
		w := target1("gw", 5*time.Minute, rule, size)[0]
		w.Canary.Target.Reasoning = reasoning
		r := newRig(t, w).start()
		begin := r.now.Add(2 * time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			if !at.Before(begin) && at.Before(begin.Add(20*time.Minute)) {
				return answer(c, at, trouble)
			}
			return answer(c, at, usual)
		}
		r.run(4 * time.Hour)
		if got := r.log.acts(); got != want {
			t.Errorf("%s: acts %q, want %q", name, got, want)
		}
		for _, a := range r.log.fired(KindTTFT) {
			if !a.Fixed || !strings.HasPrefix(a.Learned, "day 1 of 7, ") || a.Worst.Mean != 0 || a.Worst.Z != 0 {
				t.Errorf("%s: fixed %t, learned %q, mean %v", name, a.Fixed, a.Learned, a.Worst.Mean)
			}
			if a.Excluding {
				t.Errorf("%s: a fixed limit keeps the band from being learned", name)
			}
		}
	}
	f("default limit of 5 s", DefaultRule(), probe.Short, false, 1, 20, "open resolve")
	f("usual over half of the limit", DefaultRule(), probe.Short, false, 8, 20, "")
	f("no default for long", DefaultRule(), probe.Long, false, 1, 20, "")
	f("no default with reasoning", DefaultRule(), probe.Short, true, 1, 20, "")
	f("the user's limit", rule, probe.Short, false, 1, 4, "open resolve")
	f("the user's critical limit", rule, probe.Short, true, 1, 20, "open resolve")
}

func TestUserLimitHoldsBesideTheBand(t *testing.T) {
	rule := DefaultRule()
	rule.TTFTLimit = map[probe.Size]Limit{probe.Short: {Warning: 350 * time.Millisecond}}
	r := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short)...).learn(9).start().run(3 * time.Hour)
	list := r.log.fired(KindTTFT)
	if len(list) != 1 || !list[0].Fixed || list[0].Last.Limit != .35 {
		t.Errorf("alerts %+v; usual is 0.4 s, the user's limit 0.35 s", list)
	}
}

func TestWaitingLimitIsSaidOnce(t *testing.T) {
	var out bytes.Buffer
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
	r.opt.Log = slog.New(slog.NewTextHandler(&out, nil))
	r.world = slower(8)
	r.start().run(6 * time.Hour)
	if n := strings.Count(out.String(), "fixed limit waits for the band"); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
}

func TestLiteral(t *testing.T) {
	rule := DefaultRule()
	rule.Preset, rule.Threshold.Literal = "literal", true
	r := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Minute), slower(2))
	r.run(time.Hour + time.Minute)
	list := r.log.fired(KindTTFT)
	last := list[len(list)-1]
	if d := last.Fired.Sub(begin); d < 0 || d > 3*time.Second {
		t.Errorf("fired %s after the first slow probe, want with it", d)
	}
	r.run(5 * time.Minute)
	list = r.log.fired(KindTTFT)
	last = list[len(list)-1]
	if d := last.Resolved.Sub(begin); d < 5*time.Minute || d > 5*time.Minute+3*time.Second || r.sent != 0 {
		t.Errorf("resolved after %s with %d re-probes, want at the next probe with none", d, r.sent)
	}
}

func TestAgainstFixed(t *testing.T) {
	f := func(v time.Duration, want baseline.Call, ratio float64) {
		t.Helper()
		if got := againstFixed(v, 2*time.Second); got.Call != want || got.Ratio != ratio || got.Mean != 0 {
			t.Errorf("%s: %+v", v, got)
		}
	}
	f(time.Second, baseline.Calm, .5)
	f(2*time.Second, baseline.Calm, 1)
	f(3*time.Second, baseline.Breach, 1.5)
}
