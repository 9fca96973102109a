package incident

import (
	"strings"
	"testing"
	"time"

	"serin/probe"
)

func (r *rig) mark(m Mark) Mark {
	r.t.Helper()
	m.By = "ci"
	m, err := r.engine.Mark(r.t.Context(), m, r.now)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// TestMarksAreTold tells the marks of a target from an hour before trouble began on, also after a restart, and no others.
func TestMarksAreTold(t *testing.T) {
	r := slowRig(t, 3*time.Hour) // from 11:00 on
	r.mark(Mark{Text: "too early", At: r.now.Add(-time.Minute)})
	r.run(50 * time.Minute)
	r.mark(Mark{Text: "vllm 0.13", Targets: []string{"g*"}})
	r.mark(Mark{Text: "elsewhere", Targets: []string{"us-*"}})
	r.start().run(8 * time.Hour)
	r.acts("open resolve")
	want := `mark 10:50 "vllm 0.13" (10 min before it began)`
	for _, n := range r.log.notices {
		var got []string
		for _, l := range n.Message.Lines {
			if l.Role == "mark" {
				got = append(got, l.Text)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s tells %q, want %q", n.Act, got, want)
		}
	}
}

func TestMarkErrors(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).start()
	f := func(want string, m Mark) {
		t.Helper()
		if _, err := r.engine.Mark(t.Context(), m, r.now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f("text is missing", Mark{Text: "\n"})
	f("over a year ago", Mark{Text: "x", At: r.now.AddDate(-2, 0, 0)})
	f("over a month ahead", Mark{Text: "x", At: r.now.AddDate(0, 2, 0)})
	f(`targets: "["`, Mark{Text: "x", Targets: []string{"["}})
	f("over 20", Mark{Text: "x", Targets: make([]string, 21)})
	m := r.mark(Mark{Text: "two\nlines " + strings.Repeat("x", 900)})
	if strings.Contains(m.Text, "\n") || len([]rune(m.Text)) > MaxReason+1 || !m.At.Equal(r.now) || len(r.log.marks) != 1 {
		t.Errorf("mark %+v", m)
	}
}

// TestOwnMarks are set once a target for a change of model or spec that all of its canaries see.
func TestOwnMarks(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short, probe.Long)...).learn(9).start()
	change := r.now.Add(30 * time.Minute)
	r.world = func(c *probe.Canary, at time.Time) probe.Sample {
		s := healthy(c, at)
		if s.ReturnedModel = "m1"; at.After(change) {
			s.ReturnedModel = "m2"
		}
		if d := at.Sub(change); d > 0 && d < 5*time.Minute {
			s.Flags = []probe.Flag{probe.ModelChanged}
		}
		return s
	}
	r.run(time.Hour)
	for i := range r.watched {
		r.watched[i].Spec = "s2"
	}
	if err := r.engine.Reload(t.Context(), r.watched, r.opt.Channels, r.opt.Incident, r.now); err != nil {
		t.Fatal(err)
	}
	for i := range r.watched {
		r.watched[i].Spec = "s3"
	}
	r.run(2 * time.Hour)
	r.start().run(5 * time.Minute)
	var got []string
	for _, m := range r.log.marks {
		if m.By != ownMark || len(m.Targets) != 1 || m.Targets[0] != "gw" || m.ID == "" {
			t.Errorf("mark %+v", m)
		}
		text, _, _ := strings.Cut(m.Text, " (")
		got = append(got, m.At.Format("15:04 ")+text)
	}
	want := []string{"10:30 answers as model m2", "11:00 config changed its spec", "13:00 config changed its spec"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("marks %q, want %q", got, want)
	}
}
