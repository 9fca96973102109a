package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/baseline/store"
	"serin/probe"
	"serin/probe/fakellm"
)

func TestChangeWatch(t *testing.T) {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	type step struct {
		after  time.Duration
		sample probe.Sample
		want   string
	}
	flagged := func(f ...probe.Flag) probe.Sample {
		return probe.Sample{Outcome: probe.OK, ReturnedModel: "m", Flags: f}
	}
	checked := func(c string) probe.Sample { return probe.Sample{Outcome: probe.OK, Check: c} }
	named := func(model, print string, f ...probe.Flag) probe.Sample {
		return probe.Sample{Outcome: probe.OK, ReturnedModel: model, SystemFingerprint: print, Flags: f}
	}
	f := func(name string, steps ...step) {
		t.Helper()
		var w changeWatch
		for i, x := range steps {
			s := x.sample
			s.Target, s.Scene, s.Size, s.Time = "gw", "chat", probe.Short, start.Add(x.after)
			var got []string
			for _, n := range w.observe(&s) {
				if n.Canary != "gw/chat/short" || !n.At.Equal(s.Time) || n.Text == "" {
					t.Errorf("%s: news %+v", name, n)
				}
				got = append(got, n.What)
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("%s, step %d: %q, want %q", name, i+1, got, x.want)
			}
		}
	}
	f("model", step{0, named("m1", "f"), ""}, step{1, named("m2", "f", probe.ModelChanged), "model_changed"}, step{2, named("m2", "f"), ""})
	f("buffered from the first", step{0, flagged(probe.BufferedSuspect), ""}, step{1, flagged(probe.BufferedSuspect), ""})
	f("became buffered", step{0, flagged(), ""}, step{1, flagged(probe.BufferedSuspect), "buffered_suspect"}, step{2, flagged(probe.BufferedSuspect), ""})
	f("back and forth is told once an hour", step{0, flagged(), ""}, step{1, flagged(probe.BufferedSuspect), "buffered_suspect"}, step{2, flagged(), ""},
		step{time.Hour, flagged(probe.BufferedSuspect), ""}, step{time.Hour + 1, flagged(), ""}, step{time.Hour + 2, flagged(probe.BufferedSuspect), "buffered_suspect"})
	f("caches", step{0, flagged(probe.CacheHit), "cache_hit"}, step{1, flagged(probe.CacheHit, probe.SameAnswer), "same_answer"}, step{2, flagged(probe.SameAnswer), ""})
	f("usage", step{0, flagged(probe.UsageGone), "usage_gone"})
	f("check", step{0, checked("pass"), ""}, step{1, checked("fail"), "check_failed"}, step{2, checked("fail"), ""}, step{3, checked(""), ""}, step{4, checked("fail"), ""})
	f("check failed from the first", step{0, checked("fail"), ""})
	f("failures say nothing", step{0, flagged(), ""}, step{1, probe.Sample{Outcome: probe.Truncated, Flags: []probe.Flag{probe.BufferedSuspect}}, ""}, step{2, flagged(), ""})
	f("two at once", step{0, named("m1", "f"), ""}, step{1, named("m2", "f", probe.ModelChanged, probe.UsageGone), "model_changed usage_gone"})
}

func TestNamesText(t *testing.T) {
	was := lastWays{Model: "m1", Fingerprint: "f1"}
	for s, want := range map[*probe.Sample]string{
		{ReturnedModel: "m2", SystemFingerprint: "f2"}: `"m2", before as "m1"`,
		{ReturnedModel: "m1", SystemFingerprint: "f2"}: `"f2", before "f1"`,
		{SystemFingerprint: "f2"}:                      `"f2", before "f1"`,
	} {
		if got := namesText(was, s); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// answering is calm, the last chunk naming the model.
func answering(model string) fakellm.Behaviour {
	b := calm(200*time.Millisecond, 20*time.Millisecond)
	b.Script = slices.Insert(b.Script, len(b.Script)-1, fakellm.E(fmt.Sprintf(`{"model":%q,"choices":[]}`, model)))
	return b
}

// A new model is in log and history, once a canary, and in the digest of an info_channel; a change while serin is down
// is seen at its next start; no alert comes of it.
func TestChangesAreToldQuietly(t *testing.T) {
	for _, info := range []string{"", `info_channel = "#info"`} {
		t.Run(info, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, rigToml+info)
				r.llm.Set("m", answering("m-1"))
				time.AfterFunc(3*time.Hour, func() { r.llm.Set("m", answering("m-2")) })
				r.run(6 * time.Hour)
				r.llm.Set("m", answering("m-3"))
				r.run(6 * time.Hour)
				if n := strings.Count(r.log.String(), "endpoint changed"); n != 6 {
					t.Errorf("%d lines in the log, want 6: three canaries, two changes\n%s", n, r.log.String())
				}
				rows := r.storedChanges(t)
				if len(rows) != 6 || rows[0].Kind != alert.KindChange || rows[0].To != "model_changed" || !strings.Contains(rows[5].Reason, `"m-3", before as "m-2"`) {
					t.Errorf("history %+v", rows)
				}
				var posts []string
				for _, c := range r.slack.Calls() {
					if c.Method == slacktest.Post {
						posts = append(posts, c.At.UTC().Format("15:04")+" "+c.Room+" "+c.Text)
					}
				}
				want := "09:00 #info :large_blue_circle: DIGEST  what woke nobody from 00:00 +00:00 to 09:00: 6 changes"
				if got := strings.Join(posts, "\n"); got != map[bool]string{true: want}[info != ""] {
					t.Errorf("messages %q, want %q", got, want)
				}
			})
		})
	}
}

// storedChanges returns the stored changes, oldest first.
func (r *rig) storedChanges(t *testing.T) (rows []alert.Transition) {
	t.Helper()
	st, err := store.Open(t.Context(), r.cfg.Store.DSN, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.Transitions(t.Context(), store.TransitionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.Kind == alert.KindChange {
			rows = append(rows, x)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}
