package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

func TestHealthyIsQuiet(t *testing.T) {
	r := wholeRig(t)
	r.run(24 * time.Hour)
	r.quiet("a healthy day")
	if got := r.state(alert.KindTTFT); got != alert.StateOK {
		t.Errorf("ttft is %s, want ok", got)
	}
}

func TestSlowdownFiresAndResolves(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(30*time.Minute), slower(2))
	r.run(3 * time.Hour)
	a := r.one("gw/chat/short", alert.KindTTFT)
	// the regular probe at +0, re-probes 30, 60 and 90 s after its end
	if d := a.Fired.Sub(begin); d < 90*time.Second || d > 110*time.Second {
		t.Errorf("fired %s after the slowdown began, want about 90 s", d)
	}
	if d := a.Resolved.Sub(begin); d < 40*time.Minute || d > 41*time.Minute {
		t.Errorf("resolved %s after the slowdown began, want 40 min: three calm probes", d)
	}
	if d := a.LastBreach.Sub(begin); d != 25*time.Minute || a.Worst.Ratio < 1.7 || a.Worst.Ratio > 2.4 || a.Severity != alert.Warning || a.Probes < 9 {
		t.Errorf("last breach after %s, worst ratio %.2f, severity %s, %d probes", d, a.Worst.Ratio, a.Severity, a.Probes)
	}
	var states []string
	for _, x := range r.store.transitions {
		if x.Kind == alert.KindTTFT && x.Event == "" {
			states = append(states, string(x.To))
		}
	}
	if got := strings.Join(states, " "); got != "pending firing recovering ok" {
		t.Errorf("went %s", got)
	}
}

func TestSteepDriftTurnsCritical(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(40*time.Minute), slower(4))
	r.run(3 * time.Hour)
	rise := r.happened(alert.EventSeverity)
	if len(rise) != 1 || rise[0].After.Severity != alert.Critical || rise[0].At.Sub(begin) < 15*time.Minute || rise[0].At.Sub(begin) > 16*time.Minute {
		t.Errorf("%+v", rise)
	}
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Severity != alert.Critical {
		t.Errorf("it ended as %s", a.Severity)
	}
}

func TestOutageIsCritical(t *testing.T) {
	r := wholeRig(t)
	begin := r.now.Add(time.Hour + time.Minute)
	r.world = during(begin, begin.Add(30*time.Minute), ends(probe.HTTP5xx))
	r.run(3 * time.Hour)
	for _, size := range probe.Sizes() {
		a := r.one("gw/chat/"+string(size), alert.KindError)
		if a.Severity != alert.Critical || a.Fired.Sub(begin) > 6*time.Minute || a.Resolved.IsZero() {
			t.Errorf("%s: %s, fired after %s, ended %s", size, a.Severity, a.Fired.Sub(begin), a.Resolved)
		}
	}
	if list := r.of("gw", alert.KindError); len(list) != 0 {
		t.Errorf("the rate says again what the canaries say: %+v", list)
	}
}

func TestOneCanaryOfThreeIsAWarning(t *testing.T) {
	r := wholeRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(20*time.Minute), only(probe.Long, ends(probe.TimeoutTotal)))
	r.run(2 * time.Hour)
	if a := r.one("gw/chat/long", alert.KindTimeout); a.Severity != alert.Warning {
		t.Errorf("severity %s", a.Severity)
	}
}

func TestIncurableFiresAtOnce(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(10*time.Minute), ends(probe.Auth))
	r.run(2 * time.Hour)
	a := r.one("gw/chat/short", alert.KindError)
	if !a.Fired.Equal(begin) || a.Resolved.Sub(begin) > 11*time.Minute || a.Severity != alert.Critical || r.sent != 0 {
		t.Errorf("fired %s, resolved %s, severity %s, %d re-probes", a.Fired, a.Resolved, a.Severity, r.sent)
	}
}

func TestLearningParameterVotesNothing(t *testing.T) {
	r := shortRig(t)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := bad(c, at, probe.BadRequest)
		s.Reason = probe.ReasonLearningParameter
		return s
	}
	r.run(2 * time.Hour)
	r.quiet("a parameter that is being learned")
}

func TestRateLimitIsAWarning(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), ends(probe.RateLimited))
	r.run(3 * time.Hour)
	if a := r.one("gw/chat/short", alert.KindLimit); a.Severity != alert.Warning || a.Resolved.IsZero() || len(r.store.alerts) != 1 || r.sent != 0 {
		t.Errorf("%s, %d alerts, %d re-probes", a.Severity, len(r.store.alerts), r.sent)
	}
}

// TestATimeoutAboveTheLimitIsSlow: the first token took at least as long as the timeout.
func TestATimeoutAboveTheLimitIsSlow(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(30*time.Minute), ends(probe.TimeoutFirstToken))
	r.run(3 * time.Hour)
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Worst.Value != 30 {
		t.Errorf("worst %+v", a.Worst)
	}
	r.one("gw/chat/short", alert.KindTimeout)
}

// TestBadRequestsAreNoHealth has an endpoint refuse every probe as bad from the first one on: it answers, and is not well.
func TestBadRequestsAreNoHealth(t *testing.T) {
	r := newRig(t, canaries("gw", 5*time.Minute, alert.DefaultRule(), probe.Short, probe.Medium)...)
	r.world = ends(probe.BadRequest)
	r.start().run(24 * time.Hour)
	if got := r.state(alert.KindError); got != alert.StateFiring {
		t.Errorf("errors are %s", got)
	}
}

func TestOneSpikeIsAnEvent(t *testing.T) {
	r := shortRig(t)
	slow := r.now.Add(time.Hour)
	r.world = during(slow, slow.Add(20*time.Second), slower(8))
	r.run(3 * time.Hour)
	if got := r.happened(alert.EventSpike); len(got) != 1 || len(r.store.alerts) != 0 {
		t.Errorf("%d spikes, want 1; %d alerts", len(got), len(r.store.alerts))
	}
}

func TestAnotherModelIsAnEventOfTheTarget(t *testing.T) {
	r := shortRig(t)
	at := r.now.Add(10 * time.Minute)
	r.world = during(at, at.Add(time.Minute), func(c *probe.Canary, at time.Time) probe.Sample {
		s := healthy(c, at)
		s.ReturnedModel, s.Flags = "other", []probe.Flag{probe.ModelChanged}
		return s
	})
	r.run(time.Hour)
	if got := r.happened(alert.EventModel); len(got) != 1 || got[0].Series != "gw" || got[0].Reason != "answers as model other" {
		t.Errorf("%+v", got)
	}
}

func TestLiteral(t *testing.T) {
	rule := single()
	rule.Preset, rule.Threshold.Literal = "literal", true
	r := newRig(t, canaries("gw", 5*time.Minute, rule, probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Minute), slower(2))
	r.run(time.Hour + 6*time.Minute)
	list := r.of("gw/chat/short", alert.KindTTFT)
	last := list[len(list)-1]
	if d := last.Fired.Sub(begin); d < 0 || d > 3*time.Second {
		t.Errorf("fired %s after the first slow probe, want with it", d)
	}
	if d := last.Resolved.Sub(begin); d < 5*time.Minute || d > 5*time.Minute+3*time.Second || r.sent != 0 {
		t.Errorf("resolved after %s with %d re-probes, want at the next probe with none", d, r.sent)
	}
	r.world = slower(.5)
	r.run(10 * time.Minute)
	if len(r.happened(alert.EventLow)) == 0 {
		t.Error("a low value is no event")
	}
}

func TestFixedLimitsWhileLearning(t *testing.T) {
	limited := single()
	limited.TTFTLimit = map[probe.Size]alert.Limit{probe.Short: {Warning: time.Second, Critical: 3 * time.Second}}
	f := func(name string, rule alert.Rule, size probe.Size, reasoning bool, usual, trouble float64, want int) {
		t.Helper()
		w := canaries("gw", 5*time.Minute, rule, size)[0]
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
		list := r.of(w.Canary.Key(), alert.KindTTFT)
		if len(list) != want {
			t.Errorf("%s: %d alerts, want %d", name, len(list), want)
		}
		for _, a := range list {
			if !a.Fixed || !strings.HasPrefix(a.Learned, "day 1 of 7, ") || a.Worst.Mean != 0 || a.Worst.Z != 0 || a.Excluding || a.Resolved.IsZero() {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
	f("default limit of 5 s", single(), probe.Short, false, 1, 20, 1)
	f("usual over half of the limit", single(), probe.Short, false, 8, 20, 0)
	f("no default for long", single(), probe.Long, false, 1, 20, 0)
	f("no default with reasoning", single(), probe.Short, true, 1, 20, 0)
	f("the user's limit", limited, probe.Short, false, 1, 4, 1)
	f("the user's critical limit", limited, probe.Short, true, 1, 20, 1)
}

func TestUserLimitHoldsBesideTheBand(t *testing.T) {
	rule := single()
	rule.TTFTLimit = map[probe.Size]alert.Limit{probe.Short: {Warning: 350 * time.Millisecond}}
	r := newRig(t, canaries("gw", 5*time.Minute, rule, probe.Short)...).learn(9).start().run(3 * time.Hour)
	if a := r.one("gw/chat/short", alert.KindTTFT); !a.Fixed || a.Last.Limit != .35 {
		t.Errorf("usual is 0.4 s, the user's limit 0.35 s: %+v", a)
	}
}

// everyNth fails every nth probe of a canary, which no vote of 3 of 4 sees.
func everyNth(n int, o probe.Outcome) world {
	count := map[string]int{}
	return func(c *probe.Canary, at time.Time) probe.Sample {
		if count[c.Key()]++; count[c.Key()]%n == 0 {
			return bad(c, at, o)
		}
		return healthy(c, at)
	}
}

func TestRateSeesTheIntermittent(t *testing.T) {
	f := func(n, want int) {
		t.Helper()
		rule := alert.DefaultRule()
		rule.Reprobes = 0
		r := newRig(t, canaries("gw", 5*time.Minute, rule, probe.Sizes()...)...).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(3*time.Hour), everyNth(n, probe.Reset))
		r.run(6 * time.Hour)
		list := r.of("gw", alert.KindError)
		if len(list) != want || len(r.store.alerts) != want {
			t.Fatalf("every %d: %d alerts of the rate, %d in all", n, len(list), len(r.store.alerts))
		}
		for _, a := range list {
			if a.Severity != alert.Warning || a.Resolved.IsZero() || a.Errors == 0 || a.Timeouts != 0 || a.FirstBreach.Before(begin) || !strings.Contains(a.Reason, "observations in 60 min") {
				t.Errorf("every %d: %+v", n, a)
			}
		}
	}
	f(4, 1)
	f(10, 0)
}

// TestRandomErrors holds the rule against 1 % random errors on 12 canaries for a week; the goal is at most .05 false alerts
// a canary-month.
func TestRandomErrors(t *testing.T) {
	var watched []alert.Watched
	for _, name := range []string{"a", "b", "c", "d"} {
		watched = append(watched, canaries(name, 5*time.Minute, alert.DefaultRule(), probe.Sizes()...)...)
	}
	r := newRig(t, watched...)
	r.every = 5 * time.Minute
	r.start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		if wobble(c.Key(), "error", at.UnixNano()) < -.98 {
			return bad(c, at, probe.HTTP5xx)
		}
		return bad(c, at, probe.OK) // no latencies: this is about errors
	}
	r.run(7 * 24 * time.Hour)
	r.quiet("12 canaries × 7 days at 1 % random errors")
}

func TestNoData(t *testing.T) {
	f := func(what string, w world, provider, want string) {
		t.Helper()
		watched := canaries("gw", 5*time.Minute, single(), probe.Short)
		watched[0].Canary.Target.Provider = provider
		r := newRig(t, watched...).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(time.Hour), w)
		r.take(r.engine.Begun("gw/chat/short", r.now)) // from now on the daemon says when a probe begins
		r.run(3 * time.Hour)
		a := r.one("gw/chat/short", alert.KindNoData)
		if d := a.Fired.Sub(begin); d < 5*time.Minute || d > 6*time.Minute || a.Severity != alert.Critical {
			t.Errorf("%s: %s, fired %s after the first missing run, want at the second", what, a.Severity, d)
		}
		if d := a.Resolved.Sub(begin); d < time.Hour || d > time.Hour+time.Minute {
			t.Errorf("%s: resolved after %s, want at the first probe", what, d)
		}
		if a.Last.Reason != want {
			t.Errorf("%s: %q, want %q", what, a.Last.Reason, want)
		}
	}
	f("no probe", silent, "", "2 due runs in a row without a probe")
	f("no room", skips(probe.ReasonInFlight), "p", "no room: max_in_flight of provider p is taken by runs that hang")
	f("no room", skips(probe.ReasonInFlight), "gw", "no room: max_in_flight of target gw is taken by runs that hang")
}

func TestSkipsAreNoMissingData(t *testing.T) {
	r := shortRig(t)
	r.world = skips(probe.ReasonBudget)
	r.run(6 * time.Hour)
	r.quiet("a spent budget")
}

// TestAProbeUnderWayIsData lets each answer take longer than three runs of its own schedule, with room for one.
func TestAProbeUnderWayIsData(t *testing.T) {
	r := newRig(t, canaries("gw", time.Minute, single(), probe.Short)...).learn(9).start()
	n, begun := 0, time.Time{}
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch n++; n % 4 {
		case 1:
			begun = at
			r.take(r.engine.Begun(c.Key(), at))
			return probe.Sample{} // its answer comes with the fourth run
		case 0:
			return healthy(c, begun)
		}
		return skips(probe.ReasonInFlight)(c, at)
	}
	r.run(2 * time.Hour)
	if list := r.of("gw/chat/short", alert.KindNoData); len(list) != 0 || n < 100 {
		t.Errorf("%d runs, no-data alerts %+v", n, list)
	}
}

func TestOverlapIsATimeout(t *testing.T) {
	r := shortRig(t)
	r.world = skips(probe.ReasonOverlap)
	r.run(30 * time.Minute)
	if a := r.one("gw/chat/short", alert.KindTimeout); a.Timeouts != a.Probes || a.Timeouts < 3 {
		t.Errorf("%d timeouts of %d checks", a.Timeouts, a.Probes)
	}
}

func TestReprobesStopWhenTheAlertFires(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), ends(probe.HTTP5xx))
	r.run(4 * time.Hour)
	if r.sent != 2 {
		t.Errorf("%d re-probes, want 2: the third failure opens the alert", r.sent)
	}
}

// TestReprobesServeWhoAskedForThem: one slow regular check is followed by three of its canary.
func TestReprobes(t *testing.T) {
	f := func(every time.Duration, late time.Duration, want ...int) {
		t.Helper()
		r := newRig(t, canaries("gw", every, single(), probe.Short)...).learn(9).start()
		at := r.watched[0].Due(r.now)
		s := answer(r.watched[0].Canary, at, 3)
		s.TTFT.D, s.E2E.D = max(s.TTFT.D, late), max(s.E2E.D, late)
		r.now = at
		j := r.engine.Observe(s)
		got := []int{}
		for _, p := range j.Reprobes {
			for _, x := range p.At {
				got = append(got, int(x.Sub(at.Add(s.E2E.D)).Seconds()))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("every %s, %s late: %v, want %v", every, late, got, want)
		}
	}
	f(5*time.Minute, 0, 30, 60, 90)
	f(15*time.Minute, 0, 30, 60, 90, 120)
	f(time.Minute, 0)
	f(2*time.Minute, 20*time.Second, 30, 60) // the third would come with the next run
}

func TestHourlyCanaryDoesNotStayRed(t *testing.T) {
	r := newRig(t, canaries("gw", time.Hour, single(), probe.Short)...).learn(9).start()
	begin := r.now.Add(2 * time.Hour)
	r.world = during(begin, begin.Add(90*time.Minute), slower(3))
	r.run(12 * time.Hour)
	if d := r.one("gw/chat/short", alert.KindTTFT).Resolved.Sub(begin); d < 2*time.Hour || d > 2*time.Hour+11*time.Minute {
		t.Errorf("resolved %s after the start, want 10 min after the first calm regular probe", d)
	}
}

// TestMaintenanceStaysOutOfTheBand flags what is probed in a window.
func TestMaintenanceStaysOutOfTheBand(t *testing.T) {
	r := shortRig(t)
	from := r.now.Add(time.Hour)
	to := from.Add(time.Hour)
	r.windows = []alert.Maintenance{{Name: "deploy", Next: func(after time.Time) (time.Time, time.Time, bool) { return from, to, after.Before(to) }}}
	r.reload(r.watched...)
	r.run(3 * time.Hour)
	n := 0
	for _, rec := range r.store.records["gw/chat/short"] {
		in := !rec.Sample.Time.Before(from) && rec.Sample.Time.Before(to)
		if rec.Sample.Has(probe.InMaintenance) != in || in && rec.Residuals[probe.TTFT].Judged {
			t.Errorf("%s: %v", rec.Sample.Time, rec.Sample.Flags)
		}
		if in {
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d samples in the window, want 12", n)
	}
}

func TestStatusFromOtherGoroutines(t *testing.T) {
	r := wholeRig(t)
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
				_, list, _ := r.engine.Status()
				for _, c := range list {
					if len(c.States) != 6 {
						t.Errorf("%d kinds of %s, want 6 from the first look on", len(c.States), c.Key())
						return
					}
				}
			}
		})
	}
	r.run(40 * time.Minute)
	close(stop)
	readers.Wait()
	_, list, firing := r.engine.Status()
	if list[0].Key() != "gw/chat/long" || !list[0].IsDown() || list[0].Fails != alert.KindError || len(firing) != 3 {
		t.Errorf("%d canaries, %d alerts fire", len(list), len(firing))
	}
	if b := list[0].Bands[probe.TTFT]; b.State != "ready" || b.Mean < .35 || b.Mean > .45 {
		t.Errorf("band %+v", b)
	}
	targets := r.engine.Targets()
	if len(targets) != 1 || len(targets[0].Canaries) != 3 || targets[0].Name != "gw" || len(r.engine.Firing("gw")) != 3 || len(r.engine.Firing("other")) != 0 {
		t.Errorf("%+v", targets)
	}
}

// TestRecent is what a message shows beside an alert.
func TestRecent(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(2 * time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(2))
	r.run(2*time.Hour + 20*time.Minute)
	got := r.engine.Recent("gw/chat/short", alert.KindTTFT, begin)
	if len(got.Values) != 13 || got.Since < .7 || got.Since > .9 || got.Values[0] > .5 || got.Interval != 5*time.Minute || got.Connect != (alert.BeforeAfter{}) {
		t.Errorf("%+v", got)
	}
}

func sharp() alert.Rule {
	r := single()
	r.Preset, r.Threshold.Sharp, r.Reprobes = "sharp", true, 9
	return r
}

// TestSharpFiresOnAgreement fires with the fourth to sixth slow check, and says since when.
func TestSharpFiresOnAgreement(t *testing.T) {
	r := newRig(t, canaries("gw", 5*time.Minute, sharp(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(1.5))
	r.run(4 * time.Hour)
	a := r.one("gw/chat/short", alert.KindTTFT)
	if d := a.Fired.Sub(begin); d < time.Minute || d > 3*time.Minute {
		t.Errorf("fired after %s: five or six checks, 30 s apart", d)
	}
	if a.FirstBreach.Sub(begin).Abs() > time.Second || a.Resolved.IsZero() || r.sent == 0 || r.sent > 9 {
		t.Errorf("first breach %s after the beginning, resolved %s, %d re-probes", a.FirstBreach.Sub(begin), a.Resolved, r.sent)
	}
}

// TestSharpStopsLooking sees one slow check: the re-probes end once they agree that nothing is wrong.
func TestSharpStopsLooking(t *testing.T) {
	r := newRig(t, canaries("gw", 5*time.Minute, sharp(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(10*time.Second), slower(1.6))
	r.run(2 * time.Hour)
	r.quiet("one slow check")
	if r.sent == 0 || r.sent >= 9 {
		t.Errorf("%d re-probes", r.sent)
	}
}
