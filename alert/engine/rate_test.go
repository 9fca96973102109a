package engine

import (
	"sync"
	"testing"
	"time"

	"serin/probe"
)

// everyNth fails every nth probe of a canary, which no vote of 3 of 4 sees.
func everyNth(n int, o probe.Outcome) func(*probe.Canary, time.Time) probe.Sample {
	count := map[string]int{}
	return func(c *probe.Canary, at time.Time) probe.Sample {
		count[c.Key()]++
		if count[c.Key()]%n == 0 {
			return bad(c, at, o)
		}
		return healthy(c, at)
	}
}

func TestRateSeesTheIntermittent(t *testing.T) {
	f := func(name string, n int, want string) {
		t.Helper()
		rule := DefaultRule()
		rule.Reprobes = 0
		r := newRig(t, target1("gw", 5*time.Minute, rule, probe.Short, probe.Medium, probe.Long)...).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(3*time.Hour), everyNth(n, probe.Reset))
		r.run(6 * time.Hour)
		if got := r.log.acts(); got != want {
			t.Errorf("%s: acts %q, want %q", name, got, want)
		}
		if head := "GW (gw): errors, 9 of the last 37 checks (24 %) (connection cut)"; n == 4 && r.log.notices[0].Message.Headline != head {
			t.Errorf("%s: headline %q, want %q", name, r.log.notices[0].Message.Headline, head)
		}
		for _, a := range r.log.fired(KindError) {
			if a.Series != "gw" || a.Severity != Warning {
				t.Errorf("%s: %s of %s", name, a.Severity, a.Series)
			}
		}
		if n := len(r.log.fired(KindTimeout)); n != 0 {
			t.Errorf("%s: %d timeout alerts for resets", name, n)
		}
	}
	f("every fourth", 4, "open resolve")
	f("every tenth", 10, "")
}

// TestRandomErrors holds the rule against 1 % random errors on 12 canaries for a week; the goal is at most .05 false alerts
// a canary-month.
func TestRandomErrors(t *testing.T) {
	var watched []Watched
	for _, name := range []string{"a", "b", "c", "d"} {
		watched = append(watched, target1(name, 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...)
	}
	r := newRig(t, watched...)
	r.every = 5 * time.Minute
	r.start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if wobble(c.Key(), "error", at.UnixNano()) < -.98 {
			return bad(c, at, probe.HTTP5xx)
		}
		s := bad(c, at, probe.OK) // no latencies: this is about errors
		return s
	}
	r.run(7 * 24 * time.Hour)
	if n := len(r.log.fired(KindError)); n != 0 {
		t.Errorf("%d error alerts in 12 canaries × 7 days at 1 %% random errors, want none", n)
	}
}

func TestStatusFromOtherGoroutines(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Long)...).learn(9).start()
	begin := r.now.Add(30 * time.Minute)
	r.world = during(begin, begin.Add(30*time.Minute), ends(probe.HTTP5xx))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, c := range r.engine.Status().Canaries {
					if len(c.States) != 6 {
						t.Errorf("%d kinds of %s, want 6 from the first look on", len(c.States), c.Canary)
						return
					}
				}
			}
		})
	}
	r.run(40 * time.Minute)
	s := r.engine.Status()
	close(stop)
	readers.Wait()
	if s.Canaries[0].Canary != "gw/chat/long" || s.Canaries[0].States[KindError] != NumFiring || len(s.Incidents) != 1 || len(s.Alerts) != 2 {
		t.Errorf("status %+v", s)
	}
	if b := s.Canaries[0].Bands[probe.TTFT]; b.State != bandReady || b.Mean < .35 || b.Mean > .45 {
		t.Errorf("band %+v", b)
	}
}
