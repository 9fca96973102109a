package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// silence takes a silence of matchers from now on for a while.
func (r *rig) silence(d time.Duration, match ...string) Silence {
	r.t.Helper()
	s, _, err := r.engine.Silence(r.t.Context(), Silence{Match: matchers(r.t, match...), Ends: r.now.Add(d), Reason: "new GPU", By: "kim"}, r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func matchers(t testing.TB, texts ...string) (ms Matchers) {
	t.Helper()
	for _, text := range texts {
		m, err := ParseMatcher(text)
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	return ms
}

func (r *rig) acts(want string) {
	r.t.Helper()
	if got := r.log.acts(); got != want {
		r.t.Errorf("%s: acts %q, want %q", r.now.Format("15:04:05"), got, want)
	}
}

// one is a rig of one canary whose TTFT doubles an hour after the start, for a while.
func slowRig(t *testing.T, d time.Duration) *rig {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(d), slower(2))
	return r
}

// TestSilenceMutesSendingNotJudging lets a slow spell come and go under a silence: states, metric and history go on, nobody
// is told.
func TestSilenceMutesSendingNotJudging(t *testing.T) {
	r := slowRig(t, 2*time.Hour)
	s := r.silence(12*time.Hour, "target=gw")
	r.run(2 * time.Hour)
	c := r.engine.Status().Canaries[0]
	if c.Kinds[KindTTFT] != StateFiring || c.States[KindTTFT] != NumMuted {
		t.Errorf("state %s, number %d", c.Kinds[KindTTFT], c.States[KindTTFT])
	}
	a := r.log.fired(KindTTFT)[0]
	if a.Mute.Silence != s.ID || a.Mute.By != "kim" || !a.Mute.Until.Equal(s.Ends) || a.Announced {
		t.Errorf("mute %+v, announced %t", a.Mute, a.Announced)
	}
	if want := "silenced by kim until 22:00 +00:00 (new GPU)"; a.Mute.Text(r.now, time.UTC) != want {
		t.Errorf("text %q, want %q", a.Mute.Text(r.now, time.UTC), want)
	}
	r.start().run(4 * time.Hour)
	r.acts("")
	if a := r.log.fired(KindTTFT)[0]; a.Resolved.IsZero() || a.Mute.Silence != s.ID {
		t.Errorf("resolved %v, mute %+v", a.Resolved, a.Mute)
	}
	muted := slices.ContainsFunc(r.log.transitions, func(x Transition) bool {
		return x.Event == EventMuted && strings.Contains(x.Reason, "silenced by kim")
	})
	if !muted {
		t.Error("history does not tell of the silence")
	}
}

// TestSilenceEndsWhileFiring tells the opening when the silence ends, with the true beginning, also when serin was down at
// that time.
func TestSilenceEndsWhileFiring(t *testing.T) {
	for _, how := range []string{"in time", "expired", "while down"} {
		t.Run(how, func(t *testing.T) {
			r := slowRig(t, 6*time.Hour)
			s := r.silence(3*time.Hour, "scene=chat", "kind=ttft")
			r.run(2 * time.Hour)
			r.acts("")
			ends := s.Ends
			switch how {
			case "in time":
				r.run(time.Hour)
			case "expired":
				if _, err := r.engine.Expire(t.Context(), s.ID, "ann", r.now); err != nil {
					t.Fatal(err)
				}
				ends = r.now
				r.run(r.every)
			case "while down":
				r.now = r.now.Add(90 * time.Minute)
				ends = r.now
				r.start().run(r.every)
			}
			r.acts("open")
			if len(r.log.notices) == 0 {
				return
			}
			n := r.log.notices[0]
			if n.Created.Sub(ends) > r.every {
				t.Errorf("opening %s after the end", n.Created.Sub(ends))
			}
			if !strings.HasPrefix(n.Message.Lines[0].Text, "5 of the last 5 checks since 11:00") && !strings.Contains(n.Message.Lines[0].Text, "since 11:00") {
				t.Errorf("scope line %q", n.Message.Lines[0].Text)
			}
			r.run(8 * time.Hour)
			if got := r.log.acts(); !strings.HasPrefix(got, "open") || !strings.HasSuffix(got, "resolve") {
				t.Errorf("acts at the end %q", got)
			}
		})
	}
}

// TestSilenceOfWhatIsKnown silences an incident that people know of: its message says so by an edit, it is reminded of no
// more, and its end is told.
func TestSilenceOfWhatIsKnown(t *testing.T) {
	r := slowRig(t, 12*time.Hour)
	r.run(2 * time.Hour)
	r.acts("open")
	r.silence(24*time.Hour, "target=g*", "severity!=info")
	r.run(r.every)
	r.acts("open update")
	if m := r.log.notices[1].Message; m.Mention || !slices.ContainsFunc(m.Lines, func(l Line) bool {
		return l.Text == "silenced by kim until 12:00 +00:00 on Mar 3 (new GPU)" || strings.HasPrefix(l.Text, "silenced by kim until")
	}) {
		t.Errorf("edit %+v", m)
	}
	r.run(6 * time.Hour)
	r.acts("open update")
	r.start().run(8 * time.Hour)
	r.acts("open update resolve")
}

// TestUnsilencedAlertIsTold silences one kind: another one of the same target opens an incident without it, which ends
// with it, and what is silenced is in none of its messages.
func TestUnsilencedAlertIsTold(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := healthy(c, at)
		if at.After(begin) && at.Before(begin.Add(6*time.Hour)) {
			s = answer(c, at, 2)
		}
		if at.After(begin.Add(time.Hour)) && at.Before(begin.Add(3*time.Hour)) {
			s.TPOT = probe.Known(2 * s.TPOT.D)
		}
		return s
	}
	r.silence(24*time.Hour, "kind=ttft")
	r.run(12 * time.Hour)
	r.acts("open resolve")
	for _, n := range r.log.notices {
		for _, f := range n.Facts.Alerts {
			if f.Alert.Kind == KindTTFT {
				t.Errorf("%s tells of %s", n.Act, f.Alert.Kind)
			}
		}
		for _, l := range n.Message.Lines {
			if strings.HasPrefix(l.Text, "also") {
				t.Errorf("%s: %s", n.Act, l.Text)
			}
		}
	}
	if got := r.log.notices[1].Created.Sub(begin); got > 4*time.Hour {
		t.Errorf("resolved after %s: it waited for what is silenced", got)
	}
}

// TestSilencedWhileItWaits silences the only alert of an incident in its group_wait: nothing is sent until another joins.
func TestSilencedWhileItWaits(t *testing.T) {
	r := slowRig(t, 3*time.Hour)
	r.opt.Incident.GroupWait = 10 * time.Minute
	r.start()
	for len(r.log.fired(KindTTFT)) == 0 {
		r.run(r.every)
	}
	r.silence(12*time.Hour, "target=gw")
	r.run(8 * time.Hour)
	r.acts("")
	for id, body := range r.log.incidents {
		if inc := decode[Incident](body); inc.State != IncidentClosed || inc.Revision != 0 {
			t.Errorf("incident %s is %+v", id, inc)
		}
	}
}

// TestSeverityCap tells a critical alert as a warning while the cap holds, and that it is critical when it ends.
func TestSeverityCap(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(8*time.Hour), ends(probe.Connect))
	if _, _, err := r.engine.Silence(t.Context(), Silence{Match: matchers(t, "kind=error"), Ends: r.now.Add(4 * time.Hour), Reason: "drill", By: "kim", Cap: Warning}, r.now); err != nil {
		t.Fatal(err)
	}
	r.run(2 * time.Hour)
	r.acts("open")
	if n := r.log.notices[0]; n.Message.Severity != Warning || n.Facts.Alerts[0].Alert.Severity != Warning {
		t.Errorf("told as %s, fact %s", n.Message.Severity, n.Facts.Alerts[0].Alert.Severity)
	}
	if a := r.log.fired(KindError)[0]; a.Severity != Critical {
		t.Errorf("judged as %s", a.Severity)
	}
	r.run(2*time.Hour + r.every)
	r.acts("open update thread")
	if n := r.log.notices[2]; n.Message.Severity != Critical || !n.Message.Mention {
		t.Errorf("escalation %+v", n.Message)
	}
}

// TestSilencedCredential has one of two targets silenced when their key is refused: the other one tells.
func TestSilencedCredential(t *testing.T) {
	a, b := target1("a", 5*time.Minute, DefaultRule(), probe.Short), target1("b", 5*time.Minute, DefaultRule(), probe.Short)
	for _, w := range [][]Watched{a, b} {
		w[0].Canary.Target.Provider = "p"
	}
	r := newRig(t, a[0], b[0]).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Hour), ends(probe.Auth))
	r.silence(3*time.Hour, "target=a")
	r.run(2 * time.Hour)
	r.acts("open")
	if got := r.log.notices[0].Facts.Incident.Scope; got != "b" {
		t.Errorf("told of %s", got)
	}
	r.run(4 * time.Hour)
	r.acts("open resolve")
}

// TestSilenceErrors are about one field each, with the fix.
func TestSilenceErrors(t *testing.T) {
	r := slowRig(t, time.Hour)
	good := Silence{Match: Matchers{{Name: "target", Pattern: "*"}}, Ends: r.now.Add(time.Hour), Reason: "r", By: "b"}
	f := func(want string, mistake func(*Silence)) {
		t.Helper()
		s := good
		mistake(&s)
		if _, _, err := r.engine.Silence(t.Context(), s, r.now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f("match is empty", func(s *Silence) { s.Match = nil })
	f("reason is missing", func(s *Silence) { s.Reason = " \n" })
	f("by is missing", func(s *Silence) { s.By = "" })
	f("is not after starts", func(s *Silence) { s.Starts = s.Ends })
	f("has passed", func(s *Silence) { s.Starts, s.Ends = r.now.Add(-2*time.Hour), r.now.Add(-time.Hour) })
	f("over a year", func(s *Silence) { s.Ends = r.now.AddDate(2, 0, 0) })
	f(`cap "critical"`, func(s *Silence) { s.Cap = Critical })
	f(`"tema" is neither`, func(s *Silence) { s.Match = Matchers{{Name: "tema", Pattern: "x"}} })
	if len(r.log.silences) != 0 {
		t.Errorf("stored %v", r.log.silences)
	}
	if _, err := r.engine.Expire(t.Context(), "nope", "kim", r.now); err == nil || !strings.Contains(err.Error(), `"nope"`) {
		t.Errorf("expire of none: %v", err)
	}
	good.Starts = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)
	s, canaries, err := r.engine.Silence(t.Context(), good, r.now)
	if err != nil || !slices.Equal(canaries, []string{"gw/chat/short"}) || len(s.ID) < 4 || !s.Starts.Equal(r.now) {
		t.Errorf("%+v, %v, %v", s, canaries, err)
	}
}

func TestMatcher(t *testing.T) {
	fact := Fact{Alert: Alert{Kind: KindTTFT, Severity: Critical}, Target: "gw-eu", Scene: "chat", Size: "short", Labels: map[string]string{"team": "llm"}}
	whole := Fact{Alert: Alert{Kind: KindTPOT, Severity: Warning}, Target: "gw-eu", Scenes: []string{"chat", "batch"}}
	f := func(text string, f Fact, want bool) {
		t.Helper()
		if got := matchers(t, text)[0].Holds(f); got != want {
			t.Errorf("%s on %s: %t", text, f.Scene, got)
		}
	}
	f("target=gw-*", fact, true)
	f("target!=gw-*", fact, false)
	f("target=us-*|gw-e?", fact, true)
	f("severity=critical", fact, true)
	f("severity!=critical", fact, false)
	f("kind = ttft|tpot", fact, true)
	f("team=llm", fact, true)
	f("tier=*", fact, false) // it has none
	f("tier!=prod", fact, true)
	f("scene=chat", whole, false) // batch is told
	f("scene=chat|batch", whole, true)
	f("scene!=chat", whole, false)
	f("size=short", whole, false)
	f("size=*", whole, true)
	for _, bad := range []string{"", "gw", "=gw", "target=", "target=[", "target=a||b", "target=" + strings.Repeat("x", 300)} {
		if m, err := ParseMatcher(bad); err == nil {
			t.Errorf("%q is %v", bad, m)
		}
	}
}
