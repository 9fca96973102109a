package engine_test

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// TestAnAlertEndsWithItsFault lays short faults over schedules from 10 s to 1 h whose checks scatter .7 to 1.5 times as in their history.
// An alert ends within resolve_for, three intervals and two minutes after its fault in 95 % of cases on schedules up to a minute and in
// 85 % on slower ones, and under 2 % fire again without cause.
func TestAnAlertEndsWithItsFault(t *testing.T) {
	const sd, learned = .08, 8
	type tally struct{ faults, fired, closed, again int }
	var fast, slow tally
	for _, every := range []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour} {
		sum := &fast
		if every > time.Minute {
			sum = &slow
		}
		days := learned
		if every < time.Minute {
			days = 4 // as many samples as weeks of slower ones
		}
		base := newRig(t, canaries("gw", every, single(), probe.Short)...).learnFrom(days, scattered(sd, 1)).start()
		base.run(time.Minute)
		for _, scatter := range []float64{.7, 1, 1.5} {
			r := base.fork(scattered(sd*scatter, 1))
			r.every = max(5*time.Second, every/10)
			for range many(12, 3) {
				begin := r.now.Add(2*time.Hour + 17*time.Minute + 3*time.Second)
				end := begin.Add(max(4*time.Minute, 3*every+5*time.Minute)) // eight checks a minute apart
				r.world = func(c *probe.Canary, at time.Time) probe.Sample {
					if !at.Before(begin) && at.Before(end) {
						return scattered(sd*scatter, 2.2)(c, at)
					}
					return scattered(sd*scatter, 1)(c, at)
				}
				had := len(r.of("gw/chat/short", alert.KindTTFT))
				r.run(end.Add(2*time.Hour + 10*time.Minute + 3*every).Sub(r.now))
				list := r.of("gw/chat/short", alert.KindTTFT)[had:]
				sum.faults++
				for i, a := range list {
					switch {
					case a.Fired.Before(begin): // by chance, not of this fault
					case i > 0 && !list[i-1].Fired.Before(begin):
						sum.again++
					default:
						sum.fired++
						if !a.Resolved.IsZero() && a.Resolved.Sub(end) <= 10*time.Minute+3*every+2*time.Minute {
							sum.closed++
						}
					}
				}
			}
		}
	}
	t.Logf("up to 1 min %+v, slower %+v", fast, slow)
	f := func(what string, x tally, least float64) {
		if x.fired < x.faults*9/10 || float64(x.closed) < least*float64(x.fired) || float64(x.again) > .02*float64(x.fired) {
			t.Errorf("%s: %+v, want %.0f %% closed in time", what, x, 100*least)
		}
	}
	f("up to a minute", fast, .95)
	f("slower", slow, .85)
}
