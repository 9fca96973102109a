package engine

import (
	"context"
	"iter"
	"testing"
	"time"

	"serin/probe"
)

func (r *rig) reload(watched ...Watched) {
	r.t.Helper()
	r.watched = watched
	if err := r.engine.Reload(r.t.Context(), watched, r.opt.Channels, r.opt.Incident, r.now); err != nil {
		r.t.Fatal(err)
	}
	r.schedule()
}

func TestReloadKeepsEverything(t *testing.T) {
	watched := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)
	r := newRig(t, watched...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(2))
	r.run(time.Hour + 40*time.Second) // one regular breach, one re-probe
	votes := len(r.engine.watches["gw/chat/short"].alerts[KindTTFT].Votes)
	r.reload(watched...)
	if got := len(r.engine.watches["gw/chat/short"].alerts[KindTTFT].Votes); got != votes {
		t.Errorf("%d votes after the reload, %d before", got, votes)
	}
	r.run(30 * time.Minute)
	r.reload(watched...)
	r.run(3 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	if d := r.log.fired(KindTTFT)[0].Fired.Sub(begin); d > 110*time.Second {
		t.Errorf("fired %s after the start: the reload lost votes or re-probes", d)
	}
}

func TestCanaryLeaves(t *testing.T) {
	short := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	other := target1("two", 5*time.Minute, DefaultRule(), probe.Short)[0]
	leave := map[string]func(r *rig){
		"by a reload": func(r *rig) { r.reload(other) },
		"while the daemon was down": func(r *rig) {
			r.watched = []Watched{other}
			r.engine = NewEngine(r.opt)
			if err := r.engine.Load(t.Context(), r.watched, r.log.snapshot(), r.now); err != nil {
				t.Fatal(err)
			}
			if got := r.log.acts(); got != "open" {
				t.Errorf("a start told something: %q", got)
			}
			r.schedule()
		},
	}
	for name, f := range leave {
		r := newRig(t, short, other).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			if c.Target.Name == "gw" && !at.Before(begin) {
				return bad(c, at, probe.HTTP5xx)
			}
			return healthy(c, at)
		}
		r.run(90 * time.Minute)
		f(r)
		r.run(time.Hour)
		if got, want := r.log.acts(), "open resolve"; got != want {
			t.Errorf("%s: acts %q, want %q", name, got, want)
		}
		if a := r.log.fired(KindError)[0]; a.Reason != "removed" || a.Resolved.IsZero() {
			t.Errorf("%s: reason %q, resolved %s", name, a.Reason, a.Resolved)
		}
		if got := r.engine.Status(); len(got.Canaries) != 1 || len(got.Incidents) != 0 || len(got.Alerts) != 0 {
			t.Errorf("%s: status %+v", name, got)
		}
		for key := range r.log.blobs {
			if name == "by a reload" && key == blobCanary+"gw/chat/short" {
				t.Errorf("the state of a canary that left is still stored")
			}
		}
	}
}

func TestSpecChangeRelearns(t *testing.T) {
	w := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r := newRig(t, w).learn(9)
	for at, rec := range r.log.records["gw/chat/short"] {
		rec.Sample.Spec = "s1"
		r.log.records["gw/chat/short"][at] = rec
	}
	r.start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Hour), slower(2))
	r.run(90 * time.Minute)
	w.Spec = "s2"
	r.reload(w)
	a := r.log.fired(KindTTFT)[0]
	if a.Reason != "spec_changed" || r.state(KindTTFT) != StateLearning {
		t.Errorf("reason %q, state %s", a.Reason, r.state(KindTTFT))
	}
	if got := r.engine.Status().Canaries[0].States[KindTTFT]; got != NumLearning {
		t.Errorf("state number %d, want learning", got)
	}
	w.Spec = "s1"
	r.reload(w)
	if got := r.state(KindTTFT); got != StateOK {
		t.Errorf("back to the old spec: %s, want ok: its history is there", got)
	}
}

// deaf is a history that cannot be read.
type deaf struct{}

func (deaf) History(context.Context, string, time.Time) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) { yield(Record{}, errDisk) }
}

func TestReloadWithABrokenStoreGoesOn(t *testing.T) {
	w := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r := newRig(t, w).learn(9).start()
	r.engine.opt.History = deaf{}
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(20*time.Minute), slower(2))
	r.run(time.Hour + 2*time.Minute)
	two := target1("two", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r.watched = []Watched{w, two}
	if err := r.engine.Reload(t.Context(), r.watched, r.opt.Channels, r.opt.Incident, r.now); err == nil {
		t.Error("a history that cannot be read is an error")
	}
	r.schedule()
	r.run(2 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	if got := len(r.engine.Status().Canaries); got != 2 {
		t.Errorf("%d canaries watched, want 2", got)
	}
}

func TestImportedHistoryIsJudged(t *testing.T) {
	w := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r := newRig(t, w).start().run(time.Hour)
	if got := r.state(KindTTFT); got != StateLearning {
		t.Fatalf("without history: %s, want learning", got)
	}
	for at := r.now.AddDate(0, 0, -9); at.Before(r.now.Add(-2 * time.Hour)); at = at.Add(5 * time.Minute) {
		r.log.records["gw/chat/short"][at.UnixNano()] = Record{Sample: healthy(w.Canary, at)}
	}
	if err := r.engine.Imported(t.Context(), r.now); err != nil {
		t.Fatal(err)
	}
	if got := r.state(KindTTFT); got != StateOK {
		t.Errorf("after the import: %s, want ok", got)
	}
	judged := 0
	for _, rec := range r.log.records["gw/chat/short"] {
		if rec.Residuals[probe.TTFT].Judged {
			judged++
		}
	}
	if judged < 500 {
		t.Errorf("%d imported samples have residuals in the store", judged)
	}
	begin := r.now.Add(10 * time.Minute)
	r.world = during(begin, begin.Add(30*time.Minute), slower(2))
	r.run(2 * time.Hour)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
}

func TestSpecChangedWhileTheDaemonWasDown(t *testing.T) {
	w := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r := newRig(t, w).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(4*time.Hour), slower(2))
	r.run(90 * time.Minute)
	w.Spec = "s2"
	r.watched = []Watched{w}
	r.start()
	if got := r.state(KindTTFT); got != StateLearning {
		t.Errorf("state %s after a start with another spec, want learning", got)
	}
	r.run(time.Minute)
	if got, want := r.log.acts(), "open resolve"; got != want {
		t.Errorf("acts %q, want %q", got, want)
	}
	if a := r.log.fired(KindTTFT)[0]; a.Reason != whySpec {
		t.Errorf("reason %q", a.Reason)
	}
	if b := r.engine.watches["gw/chat/short"].series[probe.TTFT].Band(r.now); b.State == bandReady {
		t.Errorf("the old spec's band judges the new one: %+v", b)
	}
}

// TestStateOfTheGoneIsDeleted: votes of canaries that left while the daemon was down do not pile up in the store.
func TestStateOfTheGoneIsDeleted(t *testing.T) {
	one := target1("gw", 5*time.Minute, DefaultRule(), probe.Short)[0]
	two := target1("two", 5*time.Minute, DefaultRule(), probe.Short)[0]
	r := newRig(t, one, two).learn(9).start().run(time.Hour)
	before := len(r.log.blobs)
	r.log.blobs["foreign"] = "{}"
	r.watched = []Watched{two}
	r.start().run(time.Minute)
	r.tick()
	if got := len(r.log.blobs); before != 6 || got != 4 {
		t.Errorf("%d blobs, then %d; want 3 a canary and the foreign one", before, got)
	}
}
