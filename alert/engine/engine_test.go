package engine

import (
	"testing"
	"time"

	"serin/probe"
)

func TestHealthyIsQuiet(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start().run(24 * time.Hour)
	if got := r.log.acts(); got != "" {
		t.Errorf("notices on a healthy day: %q", got)
	}
	if got := r.state(KindTTFT); got != StateOK {
		t.Errorf("ttft is %s, want ok", got)
	}
}

func TestSlowdownOpensAndResolves(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(30*time.Minute), slower(2))
	r.run(3 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Fatalf("acts %q, want %q", got, want)
	}
	list := r.log.fired(KindTTFT)
	if len(list) != 1 {
		t.Fatalf("%d ttft alerts, want 1", len(list))
	}
	a := list[0]
	// the regular probe at +0, re-probes 30, 60 and 90 s after its end
	if d := a.Fired.Sub(begin); d < 90*time.Second || d > 110*time.Second {
		t.Errorf("fired %s after the slowdown began, want about 90 s", d)
	}
	if d := a.Resolved.Sub(begin); d < 40*time.Minute || d > 41*time.Minute {
		t.Errorf("resolved %s after the slowdown began, want 40 min: three calm probes", d)
	}
	if a.Worst.Ratio < 1.7 || a.Worst.Ratio > 2.4 || a.Severity != Warning || a.Probes < 9 {
		t.Errorf("worst ratio %.2f, severity %s, %d probes", a.Worst.Ratio, a.Severity, a.Probes)
	}
	if !r.log.notices[0].Message.Mention || r.log.notices[1].Message.Mention {
		t.Error("the opening mentions, the resolve does not")
	}
	if got := len(r.log.mailed); got != 2 {
		t.Errorf("%d notices in the mailbox, want 2", got)
	}
}

func TestSteepDriftTurnsCritical(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(4))
	r.run(3 * time.Hour)
	if got, want := r.log.acts(), "open update thread resolve"; got != want {
		t.Fatalf("acts %q, want %q", got, want)
	}
	thread := r.log.notices[2]
	if !thread.Message.Mention || thread.Message.Severity != Critical {
		t.Errorf("escalation: mention %t, severity %s", thread.Message.Mention, thread.Message.Severity)
	}
	if r.log.notices[1].Message.Mention {
		t.Error("an edit mentions")
	}
	if d := thread.Created.Sub(begin); d < 15*time.Minute || d > 16*time.Minute {
		t.Errorf("escalated %s after the drift began, want 15 min", d)
	}
}

func TestLongAlertLeavesTheBand(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(3*time.Hour), slower(2))
	r.run(6 * time.Hour)
	a := r.log.fired(KindTTFT)[0]
	var out, calm int
	for _, rec := range r.log.records["gw/chat/short"] {
		at := rec.Sample.Time
		if !rec.Excluded[probe.TTFT] {
			if !at.Before(begin) && at.Before(begin.Add(3*time.Hour)) && rec.Sample.Regular() {
				t.Errorf("sample of %s is in the band", at)
			}
			if !at.Before(begin.Add(3*time.Hour)) && !at.After(a.Resolved) {
				calm++
			}
			continue
		}
		out++
	}
	if out < 36 || calm != 3 {
		t.Errorf("%d samples out of the band, %d calm ones in it; want 36 and 3", out, calm)
	}
	for _, p := range r.engine.watches["gw/chat/short"].series[probe.TTFT].Points() {
		stored := r.log.records["gw/chat/short"][p.At.UnixNano()]
		if p.Excluded != stored.Excluded[probe.TTFT] {
			t.Errorf("%s: excluded %t in memory, %t in the store", p.At, p.Excluded, stored.Excluded[probe.TTFT])
		}
	}
}

func TestOutage(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	begin := r.now.Add(time.Hour + time.Minute)
	r.world = during(begin, begin.Add(30*time.Minute), ends(probe.HTTP5xx))
	r.run(3 * time.Hour)
	if n := len(r.log.fired(KindError)); n != 3 {
		t.Errorf("%d error alerts, want one a canary and none of the rate", n)
	}
	if n := len(r.log.incidents); n != 1 {
		t.Errorf("%d incidents, want 1", n)
	}
	var opens, resolves int
	for _, n := range r.log.notices {
		switch n.Act {
		case ActOpen:
			opens++
			if d := n.Created.Sub(begin); d > 6*time.Minute {
				t.Errorf("opened %s after the outage began", d)
			}
			if n.Message.Severity != Critical {
				t.Errorf("most of the target is down, severity %s", n.Message.Severity)
			}
		case ActResolve:
			resolves++
		}
	}
	if opens != 1 || resolves != 1 {
		t.Errorf("%d openings and %d resolves: %s", opens, resolves, r.log.acts())
	}
}

func TestOneCanaryOfThreeIsAWarning(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(20*time.Minute), func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size == probe.Long {
			return bad(c, at, probe.TimeoutTotal)
		}
		return healthy(c, at)
	})
	r.run(2 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Fatalf("acts %q, want %q", got, want)
	}
	n := r.log.notices[0]
	if wait := n.Created.Sub(r.log.fired(KindTimeout)[0].Fired); n.Message.Severity != Warning || wait < 30*time.Second || wait > 36*time.Second {
		t.Errorf("severity %s, announced %s after the alert; want a warning after group_wait", n.Message.Severity, wait)
	}
}

func TestIncurableFiresAtOnce(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(10*time.Minute), ends(probe.Auth))
	r.run(2 * time.Hour)
	a := r.log.fired(KindError)[0]
	if !a.Fired.Equal(begin) || a.Resolved.Sub(begin) > 11*time.Minute || a.Severity != Critical || r.sent != 0 {
		t.Errorf("fired %s, resolved %s, severity %s, %d re-probes", a.Fired, a.Resolved, a.Severity, r.sent)
	}
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
}

func TestLearningParameterVotesNothing(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.BadRequest)
		s.Reason = probe.ReasonLearningParameter
		return s
	}
	r.run(2 * time.Hour)
	if len(r.log.alerts) != 0 || r.sent != 0 {
		t.Errorf("%d alerts, %d re-probes", len(r.log.alerts), r.sent)
	}
}

func TestRateLimitWarnsAndPagesNobody(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), ends(probe.RateLimited))
	r.run(3 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Fatalf("acts %q, want %q", got, want)
	}
	if n := r.log.notices[0]; n.Message.Mention || n.Message.Severity != Warning {
		t.Errorf("mention %t, severity %s", n.Message.Mention, n.Message.Severity)
	}
	if len(r.log.fired(KindLimit)) != 1 || len(r.log.alerts) != 1 || r.sent != 0 {
		t.Errorf("alerts %v, %d re-probes", r.log.alerts, r.sent)
	}
}

func TestDownHoldsBackSlow(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(30*time.Minute), ends(probe.TimeoutFirstToken))
	r.run(3 * time.Hour)
	slow := r.log.fired(KindTTFT)
	if len(slow) != 1 || slow[0].Announced || slow[0].Incident != "" {
		t.Fatalf("a timeout above the limit is a breach of ttft, held back by the timeouts: %+v", slow)
	}
	for _, n := range r.log.notices {
		if n.Act == ActThread {
			t.Errorf("a held-back alert was told: %+v", n.Message)
		}
	}
	if r.log.incidents == nil || len(r.log.incidents) != 1 {
		t.Errorf("%d incidents, want 1", len(r.log.incidents))
	}
}

func TestGroupWaitEndsSilently(t *testing.T) {
	rule := DefaultRule()
	r := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short, probe.Medium, probe.Long)...)
	r.opt.Incident.GroupWait = 20 * time.Minute
	r.learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Minute), func(c *probe.Canary, at time.Time) probe.Sample {
		if c.Size == probe.Short {
			return bad(c, at, probe.HTTP5xx)
		}
		return healthy(c, at)
	})
	r.run(2 * time.Hour)
	if got := r.log.acts(); got != "" {
		t.Errorf("a recovered without a degraded: %q", got)
	}
	if len(r.log.fired(KindError)) != 1 || len(r.log.incidents) != 1 {
		t.Errorf("%d alerts, %d incidents recorded; want 1 and 1", len(r.log.alerts), len(r.log.incidents))
	}
	for _, i := range r.log.incidents {
		if inc := decode[Incident](i); inc.State != IncidentClosed || inc.Revision != 0 {
			t.Errorf("incident %+v", inc)
		}
	}
}

func TestReminders(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(9*time.Hour), ends(probe.HTTP5xx))
	r.run(5 * time.Hour)
	r.start() // a restart doubles no reminder
	r.run(8 * time.Hour)
	if got, want := r.log.acts(), "open thread thread resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	if r.log.notices[1].Message.State != "reminder" || r.log.notices[1].Message.Mention {
		t.Errorf("reminder %+v", r.log.notices[1].Message)
	}
}

func TestBrokenStoreStillTells(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.log.fail = errDisk
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(10*time.Minute), ends(probe.HTTP5xx))
	r.run(2 * time.Hour)
	if got := len(r.log.mailed); got != 2 {
		t.Errorf("%d notices mailed while the store is broken, want 2", got)
	}
}

func TestDailyMessages(t *testing.T) {
	var watched []Watched
	for _, scene := range []string{"chat", "support", "batch"} {
		for _, w := range target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long) {
			s := *w.Canary.Scene
			s.Name = scene
			w.Canary.Scene = &s
			watched = append(watched, w)
		}
	}
	r := newRig(t, watched...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(2))
	r.run(3 * time.Hour)
	opens := 0
	for _, n := range r.log.notices {
		if n.Act == ActOpen || n.Act == ActResolve {
			opens++
		}
	}
	if opens != 2 || len(r.log.incidents) != 1 {
		t.Errorf("%d messages and %d incidents for one gateway with nine canaries, want 2 and 1", opens, len(r.log.incidents))
	}
}

// TestBadRequestsAreNoHealth has an endpoint refuse every probe as bad from the first one on: it answers, and is not well.
func TestBadRequestsAreNoHealth(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium)...)
	r.world = ends(probe.BadRequest)
	begin := r.now
	r.start().run(24 * time.Hour)
	if got := r.state(KindError); got != StateFiring {
		t.Errorf("errors are %s", got)
	}
	if got := r.engine.watches["gw/chat/short"].number(KindError); got != NumFiring {
		t.Errorf("state number %d", got)
	}
	if len(r.log.notices) == 0 || r.log.notices[0].Act != ActOpen || r.log.notices[0].Created.Sub(begin) > 10*time.Minute {
		t.Fatalf("told %+v", r.log.notices)
	}
	for _, n := range r.log.notices {
		if n.Act == ActResolve {
			t.Errorf("told to be over: %q", n.Message.Headline)
		}
	}
}
