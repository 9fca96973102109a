package incident

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// fleet makes targets of one provider with three scenes of three sizes each. Target i's canaries are offset by step·i.
func fleet(provider string, n int, every, step time.Duration) []Watched {
	var list []Watched
	for i := range n {
		target := probe.DefaultTarget()
		target.Name, target.Provider = fmt.Sprintf("%s-%02d", provider, i), provider
		for j := range 3 {
			scene := &probe.Scene{Name: fmt.Sprint("s", j), Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT}}
			for k, size := range probe.Sizes() {
				phase := step*time.Duration(i) + time.Duration(3*j+k)*20*time.Second + time.Duration(i)*time.Millisecond
				list = append(list, Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: size, Interval: every}, Spec: "s1", Rule: DefaultRule(),
					Due: func(after time.Time) time.Time { return after.Add(-phase).Truncate(every).Add(every + phase) }})
			}
		}
	}
	return list
}

// breaks makes a world in which the targets for which hit holds end as o between two times.
func breaks(from, to time.Time, o probe.Outcome, hit func(target string) bool) func(*probe.Canary, time.Time) probe.Sample {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		if hit(c.Target.Name) && !at.Before(from) && at.Before(to) {
			return bad(c, at, o)
		}
		return healthy(c, at)
	}
}

func everywhere(string) bool { return true }

// stories lists a rig's notices by incident in order of their first: "openai: open update thread resolve".
func (r *rig) stories() []string {
	var order []string
	acts := map[string][]string{}
	for _, n := range r.log.notices {
		if acts[n.Incident] == nil {
			order = append(order, n.Incident)
		}
		act := string(n.Act)
		if n.Message.State == "reminder" || n.Message.State == "merged" {
			act = n.Message.State
		}
		acts[n.Incident] = append(acts[n.Incident], act)
	}
	var out []string
	for _, id := range order {
		out = append(out, decode[Incident](r.log.incidents[id]).Scope+": "+strings.Join(acts[id], " "))
	}
	return out
}

// settled holds that every incident that was announced was closed once, that nothing else was, and that the store agrees.
func (r *rig) settled(t *testing.T) {
	t.Helper()
	if err := paired(r.log); err != nil {
		t.Error(err)
	}
	for _, body := range r.log.incidents {
		if inc := decode[Incident](body); inc.State != IncidentClosed {
			t.Errorf("incident %s of %s is still %s", inc.ID, inc.Scope, inc.State)
		}
	}
	for _, tg := range r.engine.order {
		if tg.incident != nil {
			t.Errorf("%s still has incident %s", tg.name, tg.incident.ID)
		}
	}
	for _, body := range r.log.alerts {
		a := decode[Alert](body)
		if a.Incident == "" {
			continue
		}
		if inc := decode[Incident](r.log.incidents[a.Incident]); inc.Merged != "" {
			t.Errorf("alert %s is still of %s, which is part of %s", a.ID, inc.ID, inc.Merged)
		}
	}
}

func TestProviderOutageIsOneMessage(t *testing.T) {
	for _, restart := range []bool{true, false}[:many(2, 1)] {
		t.Run(fmt.Sprintf("restart %t", restart), func(t *testing.T) {
			r := newRig(t, fleet("openai", 12, 15*time.Minute, 10*time.Second)...)
			begin := r.now.Add(time.Hour)
			r.world = breaks(begin, begin.Add(6*time.Hour), probe.HTTP5xx, everywhere)
			r.start().run(90 * time.Minute)
			if restart {
				r.run(90 * time.Minute).start()
			}
			r.run(8 * time.Hour)
			got := r.stories()
			if len(got) != 1 || !strings.HasPrefix(got[0], "openai: open ") || !strings.HasSuffix(got[0], " resolve") {
				t.Fatalf("stories %q", got)
			}
			t.Log(got[0])
			if n := strings.Count(got[0], "reminder"); n != 1 {
				t.Errorf("%d reminders in 6 h, want 1 (every 4 h): %s", n, got[0])
			}
			if n := strings.Count(got[0], "thread"); n > 40 {
				t.Errorf("%d lines in the thread", n)
			}
			mentions := 0
			for _, n := range r.log.notices {
				if n.Message.Mention {
					mentions++
				}
			}
			if mentions != 2 { // the first canary's warning, and that most of its target is down
				t.Errorf("%d mentions, want one to open and one as it turns critical", mentions)
			}
			last := r.log.notices[len(r.log.notices)-1]
			if want := "provider openai: well again after 6 h"; !strings.HasPrefix(last.Message.Headline, want) || !strings.Contains(last.Message.Headline, "on 12 of 12 targets") {
				t.Errorf("the end: %q", last.Message.Headline)
			}
			r.settled(t)
		})
	}
}

// TestProviderMessageDropsWhatIsOver: an alert that ends on a target in trouble is no line of the thread, but the message
// says no longer that it goes on.
func TestProviderMessageDropsWhatIsOver(t *testing.T) {
	r := newRig(t, fleet("openai", 2, 5*time.Minute, 10*time.Second)...)
	begin := r.now.Add(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		switch since := at.Sub(begin); {
		case since < 0 || since >= 3*time.Hour:
		case since < 90*time.Minute || c.Scene.Name == "s0":
			return bad(c, at, probe.HTTP5xx)
		}
		return healthy(c, at)
	}
	r.start().run(6 * time.Hour)
	if got := r.stories(); len(got) != 1 || !strings.Contains(got[0], "update update") {
		t.Fatalf("no edit without a line in the thread: %q", got)
	}
	r.settled(t)
}

// TestProviderInsideGroupWait has targets fall one after the other with nothing in doubt before: what waits for group_wait
// when the half is full was never told by itself.
func TestProviderInsideGroupWait(t *testing.T) {
	r := newRig(t, fleet("openai", 4, 15*time.Minute, time.Second)...)
	begin := r.now.Add(time.Hour)
	r.world = breaks(begin, begin.Add(time.Hour), probe.TimeoutFirstToken, func(name string) bool { return name != "openai-03" })
	r.start().run(3 * time.Hour)
	got := r.stories()
	if len(got) != 1 || !strings.HasPrefix(got[0], "openai: open ") {
		t.Errorf("stories %q", got)
	}
	closed := 0
	for _, body := range r.log.incidents {
		if inc := decode[Incident](body); inc.Merged != "" && inc.Reminded.IsZero() {
			closed++
		}
	}
	if closed > 2 {
		t.Errorf("%d incidents merged before they were told", closed)
	}
	r.settled(t)
}

// TestProviderAfterTheFact has three targets of six fall half an hour apart: the second is told by itself, the third makes
// it the provider's. What was told by itself ends with a word of where it goes on.
func TestProviderAfterTheFact(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, fleet("openai", 6, 15*time.Minute, time.Second)...)
		begin := r.now.Add(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			i := slices.Index([]string{"openai-01", "openai-04", "openai-02", "openai-05"}, c.Target.Name)
			if i < 0 || at.Before(begin.Add(time.Duration(i)*30*time.Minute)) || !at.Before(begin.Add(5*time.Hour)) {
				return healthy(c, at)
			}
			return bad(c, at, probe.HTTP5xx)
		}
		r.start().run(90 * time.Minute)
		if got := r.stories(); len(got) != 1 || !strings.HasPrefix(got[0], "openai-01: open") {
			t.Fatalf("after the first: %q", got)
		}
		r.run(35 * time.Minute)
		if got := r.stories(); len(got) != 2 || !strings.HasPrefix(got[1], "openai-04: open") {
			t.Fatalf("after the second: %q", got)
		}
		if restart {
			r.start()
		}
		r.run(25 * time.Minute)
		got := r.stories()
		if len(got) != 2 || !strings.HasPrefix(got[0], "openai: open") || !strings.HasSuffix(got[1], "merged") {
			t.Fatalf("after the third: %q", got)
		}
		if restart {
			r.start()
		}
		r.run(4 * time.Hour)
		if got := r.stories(); len(got) != 2 || !strings.HasSuffix(got[0], " resolve") {
			t.Errorf("after the end: %q", got)
		}
		last := r.log.notices[len(r.log.notices)-1]
		if !strings.Contains(last.Message.Headline, "on 4 of 6 targets") {
			t.Errorf("the end: %q", last.Message.Headline)
		}
		r.settled(t)
	}
}

func TestOneTargetIsNotItsProvider(t *testing.T) {
	r := newRig(t, append(fleet("openai", 1, 15*time.Minute, 0), fleet("azure", 6, 15*time.Minute, time.Second)...)...)
	begin := r.now.Add(time.Hour)
	r.world = breaks(begin, begin.Add(time.Hour), probe.HTTP5xx, func(name string) bool {
		return name == "openai-00" || name == "azure-01" || name == "azure-03" // one of one, and two of six
	})
	r.start().run(4 * time.Hour)
	got := r.stories()
	slices.Sort(got)
	if len(got) != 3 {
		t.Fatalf("stories %q", got)
	}
	for i, want := range []string{"azure-01: open", "azure-03: open", "openai-00: open"} {
		if !strings.HasPrefix(got[i], want) || !strings.HasSuffix(got[i], " resolve") {
			t.Errorf("story %q, want %s", got[i], want)
		}
	}
	r.settled(t)
}

// TestStragglerHasItsOwnIncident: once the provider is well but for one target, another that falls is no late joiner.
func TestStragglerHasItsOwnIncident(t *testing.T) {
	r := newRig(t, fleet("openai", 5, 15*time.Minute, time.Second)...)
	begin := r.now.Add(time.Hour)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		long := c.Target.Name == "openai-00"
		late := c.Target.Name == "openai-04"
		since := at.Sub(begin)
		switch {
		case since >= 0 && since < time.Hour && !late, since >= 0 && since < 8*time.Hour && long, since >= 5*time.Hour && since < 6*time.Hour && late:
			return bad(c, at, probe.HTTP5xx)
		}
		return healthy(c, at)
	}
	r.start().run(12 * time.Hour)
	got := r.stories()
	if len(got) != 2 || !strings.HasPrefix(got[0], "openai: open") || !strings.HasPrefix(got[1], "openai-04: open") {
		t.Errorf("stories %q", got)
	}
	r.settled(t)
}

// TestCredentialIsOneMessage: a refused key of all targets of a provider is told once, and says of how many.
func TestCredentialIsOneMessage(t *testing.T) {
	r := newRig(t, fleet("openai", 4, 15*time.Minute, time.Second)...)
	begin := r.now.Add(time.Hour)
	r.world = breaks(begin, begin.Add(2*time.Hour), probe.Auth, everywhere)
	r.start().run(5 * time.Hour)
	got := r.stories()
	if len(got) != 1 || !strings.HasSuffix(got[0], " resolve") {
		t.Errorf("stories %q", got)
	}
	want := "the same key is for openai-01, openai-02, openai-03: that it is refused there too is not told again"
	if !slices.ContainsFunc(r.log.notices[0].Message.Lines, func(l Line) bool { return l.Text == want }) {
		t.Errorf("the opening: %+v", r.log.notices[0].Message)
	}
	r.settled(t)
}

// TestProviderRenamedInTrouble: a reload gives targets in trouble another provider while the only incident among them that is
// about one target is silenced. Each incident still has one opening and one end.
func TestProviderRenamedInTrouble(t *testing.T) {
	r := newRig(t, append(fleet("p", 2, 15*time.Minute, 10*time.Second), fleet("q", 1, 15*time.Minute, 10*time.Second)...)...)
	begin := r.now.Add(time.Hour)
	r.world = breaks(begin, begin.Add(6*time.Hour), probe.HTTP5xx, everywhere)
	r.start().run(3 * time.Hour)
	if got := len(r.stories()); got != 2 {
		t.Fatalf("%d incidents before the reload, want one of p and one of q-00: %q", got, r.stories())
	}
	r.silence(time.Hour, "target=q-00")
	r.run(20 * time.Minute)
	for _, w := range r.watched {
		w.Canary.Target.Provider = "r"
	}
	r.reload(r.watched...)
	r.run(10 * time.Hour)
	for _, s := range r.stories() {
		if strings.Count(s, "open") != 1 || !strings.HasSuffix(s, "resolve") && !strings.HasSuffix(s, "merged") {
			t.Errorf("story %q, want one opening and one end", s)
		}
	}
	r.settled(t)
}
