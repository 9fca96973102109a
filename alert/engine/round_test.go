package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/baseline"
	"serin/probe"
)

func pooledRig(t *testing.T, days int) *rig {
	return newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(days).start()
}

func (r *rig) one(series string, k Kind) Alert {
	r.t.Helper()
	var got []Alert
	for _, a := range r.log.fired(k) {
		if a.Series == series {
			got = append(got, a)
		}
	}
	if len(got) != 1 {
		r.t.Fatalf("%d alerts of %s %s, want one", len(got), series, k)
	}
	return got[0]
}

// TestTargetIsJudgedAsAWhole slows every canary by 1.6: the target's own series pages, in one message, and the canaries'
// own alerts stay info until they have lasted.
func TestTargetIsJudgedAsAWhole(t *testing.T) {
	r := pooledRig(t, 9)
	begin := r.now.Add(time.Hour).Truncate(time.Hour)
	r.world = during(begin, begin.Add(25*time.Minute), slower(1.6))
	r.run(4 * time.Hour)
	a := r.one("gw", KindTTFT)
	if a.Severity != Warning || a.Worst.Canaries != 3 || a.Worst.Value != 0 || a.Worst.Ratio < 1.3 {
		t.Errorf("%s, worst %+v", a.Severity, a.Worst)
	}
	if d := a.Fired.Sub(begin); d < time.Minute || d > 5*time.Minute {
		t.Errorf("fired after %s", d)
	}
	if a.Resolved.Before(begin.Add(30*time.Minute)) || a.Resolved.After(begin.Add(50*time.Minute)) {
		t.Errorf("resolved %s after the beginning", a.Resolved.Sub(begin))
	}
	for _, size := range []string{"short", "medium", "long"} {
		if own := r.one("gw/chat/"+size, KindTTFT); own.Severity != Info || own.Announced {
			t.Errorf("%s: %s, announced %v", size, own.Severity, own.Announced)
		}
	}
	if got := r.log.acts(); got != "open resolve" {
		t.Errorf("messages: %s", got)
	}
	if n := len(r.log.fired(KindTPOT)); n != 0 {
		t.Errorf("%d alerts of tpot", n)
	}
	explained(t, a, roundScores().Fire)
	if line := r.log.notices[0].Message.Lines[1].Text; !strings.HasPrefix(line, "why: ") || !strings.Contains(line, " rounds fit a lasting step up to about ×1.") {
		t.Errorf("the message says %q", line)
	}
	fired := func(x Transition) bool { return x.Series == "gw" && x.To == StateFiring && x.From == StatePending }
	if i := slices.IndexFunc(r.log.transitions, fired); i < 0 || !strings.Contains(r.log.transitions[i].Reason, fmt.Sprintf("score %.1f, more than 9 fires", a.Fit.Score)) {
		t.Errorf("no reason in %+v", r.log.transitions)
	}
}

// TestPooledStaysInfoUntilGrown has six days of history: the canaries page as ever.
func TestPooledStaysInfoUntilGrown(t *testing.T) {
	r := pooledRig(t, 6)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(2.5))
	r.run(4 * time.Hour)
	if a := r.one("gw", KindTTFT); a.Severity != Info || a.Announced {
		t.Errorf("target: %s, announced %v", a.Severity, a.Announced)
	}
	if a := r.one("gw/chat/short", KindTTFT); a.Severity != Warning || !a.Announced {
		t.Errorf("canary: %s, announced %v", a.Severity, a.Announced)
	}
}

// TestPromotion slows the long canary alone: its target's median does not move. It pages once it has lasted, and at once
// at twice the usual.
func TestPromotion(t *testing.T) {
	f := func(factor float64, from, to time.Duration) {
		t.Helper()
		r := pooledRig(t, 9)
		begin := r.now.Add(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			if c.Size != probe.Long || at.Before(begin) {
				return healthy(c, at)
			}
			return answer(c, at, factor)
		}
		r.run(3 * time.Hour)
		a := r.one("gw/chat/long", KindTTFT)
		if a.Severity != Warning || len(r.log.notices) == 0 {
			t.Fatalf("×%g: %s, %d messages", factor, a.Severity, len(r.log.notices))
		}
		if d := r.log.notices[0].Created.Sub(a.Fired); d < from || d > to {
			t.Errorf("×%g: told %s after it fired, want %s to %s", factor, d, from, to)
		}
		for _, a := range r.log.fired(KindTTFT) {
			if a.Series == "gw" {
				t.Errorf("×%g: the target fires", factor)
			}
		}
	}
	f(1.6, 30*time.Minute, 32*time.Minute)
	f(2.5, 0, 2*time.Minute)
}

// firingRig is a pooled rig whose target is slow, and has fired.
func firingRig(t *testing.T) *rig {
	r := pooledRig(t, 9)
	r.world = slower(1.8)
	r.run(30 * time.Minute)
	if a := r.one("gw", KindTTFT); !a.Open() {
		t.Fatalf("%s", a.State)
	}
	return r
}

// TestPoolEndsWithItsCanaries leaves two canaries: what the target as a whole has open ends.
func TestPoolEndsWithItsCanaries(t *testing.T) {
	r := firingRig(t)
	r.reload(r.watched[:2]...)
	if a := r.one("gw", KindTTFT); a.Reason != whyRemoved {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
}

// TestPoolEndsWithoutRounds changes the interval while the target fires: the scatter of probes so far apart is not known for a
// day, so that no round is judged. What is open ends all the same, once the last round is too old to count.
func TestPoolEndsWithoutRounds(t *testing.T) {
	r := firingRig(t)
	r.reload(target1("gw", 15*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...)
	last := r.now
	r.world = healthy
	r.run(3 * time.Hour)
	a := r.one("gw", KindTTFT)
	if a.Reason != whyLearning || a.Resolved.Sub(last) < time.Hour || a.Resolved.Sub(last) > 100*time.Minute {
		t.Errorf("%s: %s, ended %s after its last round", a.State, a.Reason, a.Resolved.Sub(last))
	}
	if got := r.log.acts(); !strings.HasSuffix(got, "resolve") {
		t.Errorf("messages: %s", got)
	}
}

// TestPoolEndsWithoutItsThird lets one of three canaries fail while the target fires, and changes the rule: the other two are
// too few for rounds until the third speaks again.
func TestPoolEndsWithoutItsThird(t *testing.T) {
	r := pooledRig(t, 9)
	begin := r.now
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch {
		case c.Size == probe.Long && at.Sub(begin) > 30*time.Minute:
			return bad(c, at, probe.HTTP5xx)
		case at.Sub(begin) < 2*time.Hour:
			return answer(c, at, 1.8)
		}
		return healthy(c, at)
	}
	r.run(time.Hour)
	for i := range r.watched {
		r.watched[i].Rule.MinRatio = 1.3
	}
	r.reload(r.watched...)
	r.run(3 * time.Hour)
	if a := r.one("gw", KindTTFT); a.Reason != whyLearning {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
}

// TestPoolOfTooFewIsForgotten leaves two canaries while the target fires, then three again at a restart: the target begins
// anew, and does not hold the offset of the alert that ended with its canary.
func TestPoolOfTooFewIsForgotten(t *testing.T) {
	r := pooledRig(t, 9)
	three := r.watched
	r.world = slower(1.8)
	r.run(30 * time.Minute)
	r.reload(three[:2]...)
	r.run(time.Minute)
	for key := range r.log.blobs {
		if strings.HasPrefix(key, blobTarget) || strings.HasPrefix(key, blobRounds) {
			t.Errorf("%s is still stored", key)
		}
	}
	r.watched = three
	r.start()
	if p := r.engine.targets["gw"].pools[probe.TTFT]; p.group.State().Hold.On || p.alert.Open() {
		t.Errorf("%s, offset held: %v", p.alert.State, p.group.State().Hold.On)
	}
}

// TestRoundsOfMixedSchedules has one canary every minute and two every quarter of an hour: a slow round is looked at again, as
// rounds of a quarter of an hour are. The fastest schedule alone asked for none, and people were told after half an hour.
func TestRoundsOfMixedSchedules(t *testing.T) {
	watched := target1("gw", 15*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)
	fast := target1("gw", time.Minute, DefaultRule(), probe.Short)[0]
	fast.Canary.Target, fast.Canary.Scene = watched[0].Canary.Target, watched[0].Canary.Scene
	watched[0] = fast
	r := newRig(t, watched...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(1.6))
	r.run(4 * time.Hour)
	a := r.one("gw", KindTTFT)
	if d := a.Fired.Sub(begin); d > 5*time.Minute {
		t.Errorf("fired after %s", d)
	}
	if d := a.Resolved.Sub(begin); d > 75*time.Minute {
		t.Errorf("resolved %s after the beginning, want within two looks after the first calm round", d)
	}
	if got := r.log.acts(); !strings.HasPrefix(got, "open ") || !strings.HasSuffix(got, " resolve") || r.log.notices[0].Created.Sub(begin) > 6*time.Minute {
		t.Errorf("messages %s, the first after %s", got, r.log.notices[0].Created.Sub(begin))
	}
}

// TestRoundWithoutAnswersIsNone lets two of three canaries fail: no round counts, so nothing of the whole fires.
func TestRoundWithoutAnswersIsNone(t *testing.T) {
	r := pooledRig(t, 9)
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
	for _, a := range r.log.fired(KindTTFT) {
		if a.Series == "gw" {
			t.Errorf("the target fires: %+v", a)
		}
	}
}

// TestRoundsAreCountedAsTheyFire: of rounds all that are not calm speak against the target, of checks only breaches do.
func TestRoundsAreCountedAsTheyFire(t *testing.T) {
	said := make([]Said, 3)
	for want, v := range map[string]Vote{
		"true breach":   {Verdict: baseline.Ruling{Call: baseline.Breach}},
		"false neither": {Verdict: baseline.Ruling{Call: baseline.Neither, Value: .3}, Said: said[:1]},
		"true neither":  {Verdict: baseline.Ruling{Call: baseline.Neither}, Said: said},
		"true  breach":  {Verdict: baseline.Ruling{Call: baseline.Breach}, Said: said},
		"false calm":    {Verdict: baseline.Ruling{Call: baseline.Calm}, Said: said},
	} {
		if got := against(KindTTFT, v); got != strings.HasPrefix(want, "true") {
			t.Errorf("%s: %v", want, got)
		}
	}
}
