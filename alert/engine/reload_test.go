package engine_test

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

func TestReloadKeepsEverything(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), slower(2))
	r.run(time.Hour + 40*time.Second) // one regular breach, one re-probe
	r.reload(r.watched...)
	r.run(30 * time.Minute)
	r.reload(r.watched...)
	r.run(3 * time.Hour)
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Fired.Sub(begin) > 110*time.Second {
		t.Errorf("fired %s after the start: the reload lost votes or re-probes", a.Fired.Sub(begin))
	}
}

func TestCanaryLeaves(t *testing.T) {
	one := canaries("gw", 5*time.Minute, single(), probe.Short)[0]
	other := canaries("two", 5*time.Minute, single(), probe.Short)[0]
	f := func(how string, leave func(r *rig)) {
		t.Helper()
		r := newRig(t, one, other).learn(9).start()
		begin := r.now.Add(time.Hour)
		r.world = func(c *probe.Canary, at time.Time) probe.Sample {
			if c.Target.Name == "gw" && !at.Before(begin) {
				return bad(c, at, probe.HTTP5xx)
			}
			return healthy(c, at)
		}
		r.run(90 * time.Minute)
		r.store.blobs["foreign"] = "{}"
		leave(r)
		r.run(time.Hour)
		if a := r.one("gw/chat/short", alert.KindError); a.Reason != alert.EndRemoved || a.Resolved.IsZero() {
			t.Errorf("%s: reason %q, resolved %s", how, a.Reason, a.Resolved)
		}
		if _, list, firing := r.engine.Status(); len(list) != 1 || len(firing) != 0 {
			t.Errorf("%s: %d canaries, %d alerts fire", how, len(list), len(firing))
		}
		if len(r.engine.Targets()) != 1 {
			t.Errorf("%s: %d targets", how, len(r.engine.Targets()))
		}
		for key := range r.store.blobs {
			switch key {
			case "foreign", "canary/two/chat/short", "series/two/chat/short/ttft", "series/two/chat/short/tpot":
			default:
				t.Errorf("%s: %s is still stored", how, key)
			}
		}
	}
	f("by a reload", func(r *rig) { r.reload(other) })
	f("while the daemon was down", func(r *rig) {
		r.watched = []alert.Watched{other}
		r.start()
	})
}

func TestSpecChangeRelearns(t *testing.T) {
	f := func(how string, change func(r *rig)) {
		t.Helper()
		r := shortRig(t)
		begin := r.now.Add(time.Hour)
		r.world = during(begin, begin.Add(4*time.Hour), slower(2))
		r.run(90 * time.Minute)
		w := r.watched[0]
		w.Spec = "s2"
		r.watched = []alert.Watched{w}
		change(r)
		r.tick()
		if a := r.one("gw/chat/short", alert.KindTTFT); a.Reason != alert.EndSpec || r.state(alert.KindTTFT) != alert.StateLearning {
			t.Errorf("%s: reason %q, state %s", how, a.Reason, r.state(alert.KindTTFT))
		}
		if got := r.happened(alert.EventSpec); len(got) != 1 || got[0].Series != "gw" {
			t.Errorf("%s: %+v", how, got)
		}
		w.Spec = "s1"
		r.reload(w)
		if got := r.state(alert.KindTTFT); got != alert.StateOK {
			t.Errorf("%s: back to the old spec: %s, want ok: its history is there", how, got)
		}
	}
	f("reload", func(r *rig) { r.reload(r.watched...) })
	f("restart", func(r *rig) { r.start() })
}

func TestReloadWithABrokenStoreGoesOn(t *testing.T) {
	r := shortRig(t)
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(20*time.Minute), slower(2))
	r.run(time.Hour + 2*time.Minute)
	r.store.broken = true
	r.watched = append(r.watched, canaries("two", 5*time.Minute, single(), probe.Short)...)
	j, err := r.engine.Reload(t.Context(), r.watched, nil, r.now)
	if err == nil {
		t.Error("a history that cannot be read is an error")
	}
	r.take(j)
	r.schedule()
	r.run(2 * time.Hour)
	if a := r.one("gw/chat/short", alert.KindTTFT); a.Resolved.IsZero() {
		t.Errorf("%s", a.State)
	}
	if _, list, _ := r.engine.Status(); len(list) != 2 {
		t.Errorf("%d canaries watched, want 2", len(list))
	}
}

func TestImportedHistoryIsJudged(t *testing.T) {
	w := canaries("gw", 5*time.Minute, single(), probe.Short)[0]
	r := newRig(t, w).start().run(time.Hour)
	if got := r.state(alert.KindTTFT); got != alert.StateLearning {
		t.Fatalf("without history: %s, want learning", got)
	}
	for at := r.now.AddDate(0, 0, -9); at.Before(r.now.Add(-2 * time.Hour)); at = at.Add(5 * time.Minute) {
		r.store.add(alert.Record{Sample: healthy(w.Canary, at)})
	}
	j, err := r.engine.Imported(t.Context(), r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.take(j)
	if got := r.state(alert.KindTTFT); got != alert.StateOK {
		t.Errorf("after the import: %s, want ok", got)
	}
	judged := 0
	for _, rec := range r.store.records["gw/chat/short"] {
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
	r.one("gw/chat/short", alert.KindTTFT)
}
