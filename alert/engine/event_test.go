package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// TestOneSpikeIsTold has one slow probe among good ones, and pages nobody.
func TestOneSpikeIsTold(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	slow := r.now.Add(time.Hour)
	r.world = during(slow, slow.Add(5*time.Minute), func(c *probe.Canary, at time.Time) probe.Sample {
		s := healthy(c, at)
		if at.Before(slow.Add(20 * time.Second)) {
			s.TTFT = probe.Known(3 * time.Second)
		}
		return s
	})
	r.run(3 * time.Hour)
	if got := r.log.happened(EventSpike); len(got) != 1 || len(r.log.notices) != 0 {
		t.Errorf("%d spikes, want 1; %d messages", len(got), len(r.log.notices))
	}
}

// TestLiteralTellsOfLowValues has one fast value.
func TestLiteralTellsOfLowValues(t *testing.T) {
	rule := single(DefaultRule())
	rule.Preset, rule.Threshold.Literal = "literal", true
	r := singleRig(t, rule)
	fast := r.now.Add(time.Hour)
	r.world = during(fast, fast.Add(5*time.Minute), slower(.5))
	r.run(70 * time.Minute)
	if n := len(r.log.happened(EventLow)); n == 0 {
		t.Error("no event")
	}
}

// TestFlappingIsOneAlert fails and recovers every 20 minutes: the fourth end is none, and the fifth and later beginnings
// are no news. It ends after 2 h of calm.
func TestFlappingIsOneAlert(t *testing.T) {
	r := singleRig(t, single(DefaultRule()))
	begin := r.now.Add(time.Hour).Truncate(20 * time.Minute)
	calm := begin.Add(4 * time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if !at.Before(begin) && at.Before(calm) && at.Sub(begin)%(40*time.Minute) < 20*time.Minute {
			return bad(c, at, probe.HTTP5xx)
		}
		return healthy(c, at)
	}
	r.run(9 * time.Hour)
	fired := r.log.fired(KindError)
	var own []Alert
	for _, a := range fired {
		if a.Series != "gw" {
			own = append(own, a)
		}
	}
	if len(own) != 4 {
		t.Fatalf("%d alerts, want 4", len(own))
	}
	last := own[3]
	if d := last.Resolved.Sub(calm.Add(-20 * time.Minute)); d < 100*time.Minute || d > 150*time.Minute {
		t.Errorf("ended %s after the last failure: %s", d, last.Reason)
	}
	told := 0
	for _, n := range r.log.notices {
		if strings.Contains(n.Message.Headline, "flapping") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("flapping told %d times: %s", told, r.log.acts())
	}
}

// TestOneAlertACredential refuses one key for two targets: one message opens, and the first good answer ends both.
func TestOneAlertACredential(t *testing.T) {
	var watched []Watched
	for _, name := range []string{"a", "b"} {
		w := target1(name, 5*time.Minute, single(DefaultRule()), probe.Short)
		w[0].Canary.Target.Provider = "gateway"
		watched = append(watched, w...)
	}
	for _, restart := range []bool{false, true} {
		r := newRig(t, watched...).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(time.Hour), ends(probe.Auth))
		r.run(90 * time.Minute)
		if restart {
			r.start()
		}
		held := 0
		for _, a := range r.engine.Status().Alerts {
			if a.Suppressed != "" {
				held++
			}
		}
		if n := len(r.engine.Status().Alerts); n != 2 || held != 1 {
			t.Errorf("%d alerts, %d held back", n, held)
		}
		r.run(2 * time.Hour)
		if got := r.log.acts(); got != "open resolve" {
			t.Errorf("messages: %s", got)
		}
		if n := len(r.engine.Status().Alerts); n != 0 {
			t.Errorf("%d alerts at the end", n)
		}
	}
}

// TestTheNextOfACredentialIsTold takes the canary away whose alert was told.
func TestTheNextOfACredentialIsTold(t *testing.T) {
	var watched []Watched
	for i := range 3 {
		w := target1(fmt.Sprint("t", i), 5*time.Minute, single(DefaultRule()), probe.Short)
		w[0].Canary.Target.Provider = "gateway"
		watched = append(watched, w...)
	}
	r := newRig(t, watched...).start()
	r.world = ends(probe.Quota)
	r.run(20 * time.Minute)
	r.reload(watched[1:]...)
	r.run(10 * time.Minute)
	held := 0
	for _, a := range r.engine.Status().Alerts {
		if a.Suppressed != "" {
			held++
		}
	}
	if held != 1 || len(r.engine.Status().Alerts) != 2 {
		t.Errorf("%d of %d held back", held, len(r.engine.Status().Alerts))
	}
}
