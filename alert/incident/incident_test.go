package incident

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

func TestIncidentIDs(t *testing.T) {
	used := usedIDs{}
	for i := range 6000 {
		at := day0.Add(time.Duration(i) * time.Second)
		id := incidentID("gw", at, used)
		if len(id) < 4 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Fatalf("id %q", id)
		}
		if _, taken := used[id]; taken {
			t.Fatalf("id %q is given twice", id)
		}
		used.take(id, at)
	}
	if len(used) != usedMax {
		t.Errorf("%d ids remembered, want %d", len(used), usedMax)
	}
	if a, b := incidentID("gw", day0, usedIDs{}), incidentID("us", day0, usedIDs{}); a == b || len(a) != 4 {
		t.Errorf("ids %q and %q", a, b)
	}
}

// TestHeldBackAndLetGo follows an announced drift through an outage of its canary: it is held back, then told on.
func TestHeldBackAndLetGo(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	b := r.now.Add(time.Hour)
	r.world = script([]episode{
		{b.Add(30 * time.Minute), b.Add(50 * time.Minute), probe.Short, "5xx"},
		{b, b.Add(2 * time.Hour), probe.Short, "x2"}})
	r.run(time.Hour + 45*time.Minute)
	c := r.engine.watches["gw/chat/short"]
	if a := c.alerts[KindTTFT]; !a.Open() || a.Suppressed != "errors of gw/chat/short" {
		t.Fatalf("ttft during the outage: %s, held back by %q", a.State, a.Suppressed)
	}
	if got := c.number(KindTTFT); got != NumMuted {
		t.Errorf("state number %d, want muted", got)
	}
	if got := c.number(KindError); got != NumFiring {
		t.Errorf("state number of errors %d, want firing", got)
	}
	r.run(2 * time.Hour)
	if a := r.log.fired(KindTTFT); len(a) != 1 || a[0].Suppressed != "" || a[0].Resolved.IsZero() {
		t.Errorf("ttft alerts %+v", a)
	}
	// drift; errors join, drift is held back; errors end; drift ends
	if got, want := r.log.acts(), "open update thread update thread resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	if err := paired(r.log); err != nil {
		t.Error(err)
	}
}

// TestHalfTheTargetHoldsBackTheRest: with two of three canaries down the third's drift is not told.
func TestHalfTheTargetHoldsBackTheRest(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...).learn(9).start()
	b := r.now.Add(time.Hour)
	r.world = script([]episode{{b, b.Add(time.Hour), probe.Short, "5xx"}, {b, b.Add(time.Hour), probe.Medium, "timeout"},
		{b.Add(20 * time.Minute), b.Add(40 * time.Minute), probe.Long, "x2"}})
	r.run(3 * time.Hour)
	slow := r.log.fired(KindTTFT)
	for _, a := range slow {
		if strings.HasSuffix(a.Series, "long") && (a.Announced || a.Suppressed != "timeouts or errors on 2 of 3 canaries") {
			t.Errorf("the third canary's drift: announced %t, held back by %q", a.Announced, a.Suppressed)
		}
	}
	if err := paired(r.log); err != nil || len(slow) == 0 {
		t.Errorf("%d drifts, %v", len(slow), err)
	}
}

func TestOwnDelayIsNobodysFailure(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := answer(c, at, 5)
		if at.Minute()%10 == 0 {
			s = bad(c, at, probe.TimeoutStall)
		}
		s.Flags = []probe.Flag{probe.ClientSuspect}
		return s
	}
	r.run(3 * time.Hour)
	r.quiet("samples that our own delay may have spoiled")
}

// TestTransitionsAreLoggedOnce counts one line a change of state, each with its reason.
func TestTransitionsAreLoggedOnce(t *testing.T) {
	var out strings.Builder
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
	r.opt.Log = slog.New(slog.NewTextHandler(&out, nil))
	r.learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(30*time.Minute), slower(2))
	r.run(3 * time.Hour)
	var lines int
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, `msg="alert state"`) && !strings.Contains(line, "msg=event") {
			continue
		}
		lines++
		if strings.Contains(line, "reason=\"\"") || !strings.Contains(line, "reason=") {
			t.Errorf("no reason: %s", line)
		}
	}
	if lines == 0 || lines != len(r.log.transitions) {
		t.Errorf("%d log lines for %d transitions", lines, len(r.log.transitions))
	}
	for _, x := range r.log.transitions {
		if x.Reason == "" || (x.From == x.To) != (x.Event != "") {
			t.Errorf("transition %+v", x)
		}
	}
}

// TestEveryChannelIsOwed: each notice goes to every channel under one revision, and none to an engine without channels.
func TestEveryChannelIsOwed(t *testing.T) {
	for _, channels := range [][]string{nil, {"slack", "pager"}} {
		r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
		r.opt.Channels = channels
		r.learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(10*time.Minute), ends(probe.HTTP5xx))
		r.run(2 * time.Hour)
		var got []string
		for _, n := range r.log.notices {
			got = append(got, fmt.Sprint(n.Act, n.Revision, n.Channel, n.State))
		}
		want := []string{}
		for i, act := range []string{"open", "resolve"} {
			for _, ch := range channels {
				want = append(want, fmt.Sprint(act, i+1, ch, "pending"))
			}
		}
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("channels %v: %q, want %q", channels, got, want)
		}
	}
}

// BenchmarkObserve is one sample of one of 500 canaries with a day of five-minute history behind it.
func BenchmarkObserve(b *testing.B) {
	var watched []Watched
	for i := range 500 {
		watched = append(watched, target1(fmt.Sprintf("t%03d", i/5), 5*time.Minute, DefaultRule(), probe.Short)[0])
		scene := *watched[i].Canary.Scene
		scene.Name = fmt.Sprint("s", i%5)
		watched[i].Canary.Scene = &scene
	}
	r := newRig(b, watched...)
	r.learn(1).start()
	for i := 0; b.Loop(); i++ {
		w := watched[i%len(watched)]
		at := r.now.Add(time.Duration(i/len(watched)) * 5 * time.Minute).Add(time.Duration(i%500) * time.Millisecond)
		r.observe(healthy(w.Canary, at))
	}
}

// BenchmarkTick is one turn of an engine with 500 canaries.
func BenchmarkTick(b *testing.B) {
	var watched []Watched
	for i := range 100 {
		watched = append(watched, target1(fmt.Sprintf("t%03d", i), 5*time.Minute, DefaultRule(), probe.Short, probe.Medium, probe.Long)...)
	}
	r := newRig(b, watched...).start()
	for b.Loop() {
		r.now = r.now.Add(time.Millisecond)
		r.tick()
	}
}
