package engine

import (
	"slices"
	"testing"
	"time"

	"serin/probe"
)

// after lists times as seconds after a start.
func after(at time.Time, list []time.Time) []int {
	out := []int{}
	for _, t := range list {
		out = append(out, int(t.Sub(at).Seconds()))
	}
	return out
}

func TestReprobeTimes(t *testing.T) {
	f := func(name string, every, late time.Duration, want ...int) {
		t.Helper()
		w := target1("gw", every, DefaultRule(), probe.Short)[0]
		from := w.Due(day0).Add(late)
		if got := after(from, reprobeTimes(from, w)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("5 min", 5*time.Minute, 0, 30, 60, 90)
	f("15 min", 15*time.Minute, 0, 30, 60, 90, 120)
	f("1 min", time.Minute, 0)
	f("2 min, near the next run", 2*time.Minute, 20*time.Second, 30, 60)
	f("2 min, all far enough", 2*time.Minute, 10*time.Second, 30, 60, 90)
}

func TestCalmTimes(t *testing.T) {
	f := func(every time.Duration, want ...int) {
		t.Helper()
		w := target1("gw", every, DefaultRule(), probe.Short)[0]
		from := w.Due(day0)
		if got := after(from, calmTimes(from, w)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", every, got, want)
		}
	}
	f(5 * time.Minute)
	f(10 * time.Minute)
	f(15*time.Minute, 300, 600)
	f(time.Hour, 300, 600)
}

func TestRequestMergesAndPays(t *testing.T) {
	m := memo{Tokens: 2.5}
	at := []time.Time{day0.Add(30 * time.Second), day0.Add(60 * time.Second)}
	m, fresh := m.request(at, []Kind{KindTTFT}, true, 0)
	if len(fresh) != 2 || m.Tokens != .5 {
		t.Fatalf("%d asked, %.2f tokens left; want 2 and 0.5", len(fresh), m.Tokens)
	}
	m, fresh = m.request(at, []Kind{KindTPOT}, true, 0)
	if len(fresh) != 0 || m.Tokens != .5 {
		t.Errorf("one re-probe serves all: %d asked, %.2f tokens", len(fresh), m.Tokens)
	}
	m, fresh = m.request([]time.Time{day0.Add(90 * time.Second)}, []Kind{KindTTFT}, true, 0)
	if len(fresh) != 0 {
		t.Error("a re-probe without a token")
	}
	m, got, ok := m.answer(day0.Add(62 * time.Second))
	if !ok || !got.At.Equal(at[1]) || !slices.Equal(got.Kinds, []Kind{KindTTFT, KindTPOT}) {
		t.Errorf("answer %+v %t", got, ok)
	}
	m, cut := m.drop(KindTTFT, true)
	if cut || len(m.Asks) != 1 || !slices.Equal(m.Asks[0].Kinds, []Kind{KindTPOT}) {
		t.Errorf("tpot still wants its re-probe: %+v", m.Asks)
	}
	m, cut = m.drop(KindTPOT, true)
	if !cut || len(m.Asks) != 0 || m.Tokens != 1.5 {
		t.Errorf("nobody wants it: %+v, %.2f tokens", m.Asks, m.Tokens)
	}
	if _, _, ok := m.answer(day0.Add(30 * time.Second)); ok {
		t.Error("an answer that nobody asked for")
	}
}

func TestReprobesStopWhenTheAlertOpens(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Hour), ends(probe.HTTP5xx))
	r.run(4 * time.Hour)
	if r.sent != 2 {
		t.Errorf("%d re-probes, want 2: the third failure opens the alert", r.sent)
	}
}

// TestOtherKindIsNotFedByAReprobe shows that a re-probe is an observation only of what asked for it.
func TestOtherKindIsNotFedByAReprobe(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(time.Hour)
	r.world = during(begin, begin.Add(time.Minute), slower(2))
	r.run(time.Hour)
	before := len(r.engine.watches["gw/chat/short"].alerts[KindTPOT].Votes)
	votes := r.engine.watches["gw/chat/short"].alerts[KindTTFT].Votes
	r.run(2 * time.Minute)
	if n := len(r.engine.watches["gw/chat/short"].alerts[KindTTFT].Votes); r.sent != 3 || n != 5 {
		t.Errorf("%d re-probes, %d ttft votes (before %d)", r.sent, n, len(votes))
	}
	for _, v := range r.engine.watches["gw/chat/short"].alerts[KindTPOT].Votes {
		if v.Trigger == probe.Reprobe {
			t.Errorf("tpot counts a re-probe that ttft asked for (%d votes before)", before)
		}
	}
}

func TestHourlyCanaryDoesNotStayRed(t *testing.T) {
	r := newRig(t, target1("gw", time.Hour, DefaultRule(), probe.Short)...).learn(9).start()
	begin := r.now.Add(2 * time.Hour)
	r.world = during(begin, begin.Add(90*time.Minute), slower(3))
	r.run(12 * time.Hour)
	list := r.log.fired(KindTTFT)
	if len(list) != 1 {
		t.Fatalf("%d alerts, want 1", len(list))
	}
	if d := list[0].Resolved.Sub(begin); d < 2*time.Hour || d > 2*time.Hour+11*time.Minute {
		t.Errorf("resolved %s after the start, want 10 min after the first calm regular probe", d)
	}
}
