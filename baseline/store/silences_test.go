package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
)

func silence(id string, starts, ends time.Time) alert.Silence {
	return alert.Silence{ID: id, Match: alert.Matchers{{Name: "target", Pattern: "gw-*"}, {Name: "kind", Pattern: "ttft", Not: true}}, Starts: starts,
		Ends: ends, Reason: `new "GPU"`, By: "kim", Created: starts, Cap: alert.Warning}
}

func mark(id string, at time.Time, targets ...string) alert.Mark {
	return alert.Mark{ID: id, At: at, Text: "vllm 0.13", Targets: targets, By: "ci", Created: at}
}

func names[T any](list []T, id func(T) string) (out []string) {
	for _, x := range list {
		out = append(out, id(x))
	}
	return out
}

// TestSilencesAndMarks are on disk when Commit returns, come back as they were, and are found by time.
func TestSilencesAndMarks(t *testing.T) {
	s := openTemp(t)
	over, active, planned := silence("over", at(0), at(10)), silence("active", at(5), at(60)), silence("planned", at(100), at(160))
	marks := []alert.Mark{mark("m1", at(1)), mark("m2", at(20), "gw-eu"), mark("m3", at(30), "us-*")}
	commit(t, s, alert.Change{Told: alert.Told{Silences: []alert.Silence{over, active, planned}, Marks: marks}})
	active.Ends, active.EndedBy = at(30), "ann"
	commit(t, s, alert.Change{Told: alert.Told{Silences: []alert.Silence{active}}})
	snap := must[alert.Snapshot](t)(s.Restore(t.Context())) // at once: the change was waited for
	if d := cmp.Diff([]alert.Silence{over, active, planned}, snap.Silences); d != "" {
		t.Errorf("silences (-want +got):\n%s", d)
	}
	if d := cmp.Diff(marks, snap.Marks); d != "" {
		t.Errorf("marks (-want +got):\n%s", d)
	}
	find := func(q SilenceQuery, want ...string) {
		t.Helper()
		got := names(must[[]alert.Silence](t)(s.Silences(t.Context(), q)), func(s alert.Silence) string { return s.ID })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", q, d)
		}
	}
	find(SilenceQuery{ID: "over"}, "over")
	find(SilenceQuery{Since: at(20)}, "active", "planned")
	find(SilenceQuery{Until: at(5)}, "over")
	find(SilenceQuery{Limit: 1}, "planned")
	seen := func(q MarkQuery, want ...string) {
		t.Helper()
		got := names(must[[]alert.Mark](t)(s.Marks(t.Context(), q)), func(m alert.Mark) string { return m.ID })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", q, d)
		}
	}
	seen(MarkQuery{Target: "gw-eu"}, "m1", "m2")
	seen(MarkQuery{Since: at(20), Until: at(30)}, "m2")
	seen(MarkQuery{Limit: 1}, "m3")
}

// TestPruneSilences deletes what is over for as long as the retention, and nothing else.
func TestPruneSilences(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "serin.db"), Options{Retention: 24 * time.Hour})
	now := t0.Add(48 * time.Hour)
	commit(t, s, alert.Change{Told: alert.Told{Silences: []alert.Silence{silence("gone", t0, t0.Add(23*time.Hour)), silence("over", t0, t0.Add(25*time.Hour)), silence("long", t0, now.Add(time.Hour))},
		Marks: []alert.Mark{mark("gone", t0.Add(23*time.Hour)), mark("kept", t0.Add(25*time.Hour))}}})
	if err := s.Prune(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	snap := must[alert.Snapshot](t)(s.Restore(t.Context()))
	if d := cmp.Diff([]string{"long", "over"}, names(snap.Silences, func(s alert.Silence) string { return s.ID })); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"kept"}, names(snap.Marks, func(m alert.Mark) string { return m.ID })); d != "" {
		t.Error(d)
	}
}
