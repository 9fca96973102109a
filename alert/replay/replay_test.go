package replay

import (
	"math"
	"slices"
	"testing"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

var start = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// minutes is a canary's samples, one a minute, each 200 ms but for what slow says.
func minutes(from, to int, slow func(minute int) float64) []probe.Sample {
	var list []probe.Sample
	for m := from; m < to; m++ {
		noise := .05 * math.Sin(float64(m)*1.7)
		v := time.Duration(200 * slow(m) * math.Exp(noise) * float64(time.Millisecond))
		list = append(list, probe.Sample{Time: start.Add(time.Duration(m) * time.Minute), Target: "t", Scene: "s", Size: probe.Short, Outcome: probe.OK,
			TTFT: probe.Known(v)})
	}
	return list
}

func watched(interval time.Duration) []alert.Watched {
	target := probe.DefaultTarget()
	target.Name = "t"
	scene := &probe.Scene{Name: "s", Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT}}
	return []alert.Watched{{Canary: &probe.Canary{Target: &target, Scene: scene, Size: probe.Short, Interval: interval}, Rule: alert.DefaultRule()}}
}

func play(t *testing.T, o TapeOptions, samples ...probe.Sample) Result {
	t.Helper()
	tape := NewTape()
	tape.Add(samples...)
	if o.Baseline.Window == 0 {
		o.Baseline = baseline.DefaultOptions()
	}
	r, err := Run(t.Context(), tape, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const day = 24 * 60

// from10 doubles from 10:00 of the ninth day on for an hour.
func from10(m int) float64 {
	if at := m - 8*day - 600; at >= 0 && at < 60 {
		return 2
	}
	return 1
}

// TestReprobesAreAnsweredByTheNextUnusedSamples: the run of 10:00 asks for three looks 30 s apart, and the samples of
// 10:01, 10:02 and 10:03 answer them, so that the alert opens with the last.
func TestReprobesAreAnsweredByTheNextUnusedSamples(t *testing.T) {
	o := TapeOptions{Cut: Cut{Every: 5 * time.Minute}, Options: Options{Watched: watched(5 * time.Minute)}}
	r := play(t, o, minutes(0, 9*day, from10)...)
	i := slices.IndexFunc(r.Events, func(e Event) bool { return e.Event == EventOpen })
	if i < 0 {
		t.Fatalf("no alert: %+v", r.Events)
	}
	e := r.Events[i]
	if want := start.Add(8*24*time.Hour + 10*time.Hour + 3*time.Minute); e.Time.Sub(want) < 0 || e.Time.Sub(want) > time.Second {
		t.Errorf("opened at %s, want %s", e.Time, want)
	}
	if want := start.Add(8*24*time.Hour + 10*time.Hour); !e.FirstBreach.Equal(want) {
		t.Errorf("first breach %s, want %s", e.FirstBreach, want)
	}
	if r.Regular != 9*day/5 || r.Extra != 3 {
		t.Errorf("%d regular samples and %d re-probes judged", r.Regular, r.Extra)
	}
	if last := r.Events[len(r.Events)-1]; last.Event != EventResolve || last.Time.Sub(start.Add(8*24*time.Hour+11*time.Hour+10*time.Minute)).Abs() > time.Second {
		t.Errorf("the end: %+v", last)
	}
}

// TestAnswersMustComeInTime: without samples between the runs, or with later ones only, nothing answers.
func TestAnswersMustComeInTime(t *testing.T) {
	o := TapeOptions{Cut: Cut{Every: 10 * time.Minute}, Options: Options{Watched: watched(10 * time.Minute)}}
	f := func(keep func(minute int) bool, opened, extra, unanswered int) {
		t.Helper()
		samples := slices.DeleteFunc(minutes(0, 9*day, from10), func(s probe.Sample) bool { return !keep(int(s.Time.Sub(start) / time.Minute)) })
		r := play(t, o, samples...)
		i := slices.IndexFunc(r.Events, func(e Event) bool { return e.Event == EventOpen })
		if i < 0 {
			t.Fatalf("no alert")
		}
		if at := int(r.Events[i].Time.Sub(start)/time.Minute) - 8*day - 600; at != opened || r.Extra != extra || r.Unanswered != unanswered {
			t.Errorf("opened at 10:%02d with %d re-probes and %d unanswered, want 10:%02d with %d and %d", at, r.Extra, r.Unanswered, opened, extra, unanswered)
		}
	}
	f(func(m int) bool { return m%10 == 0 }, 30, 0, 9)
	f(func(m int) bool { return m%10 == 0 || m%10 == 5 }, 30, 0, 9)              // over 2 min after the last was due
	f(func(m int) bool { return m%10 == 0 || m%10 == 2 }, 12, 2, 4)              // one answer a run
	f(func(m int) bool { return m%10 == 0 || m%10 == 2 || m%10 == 3 }, 10, 2, 1) // two answers, and 10:10 is the fourth
}

// TestTriggersDecideWithoutEvery: what was a re-probe is never regular, and checks are nothing.
func TestTriggersDecideWithoutEvery(t *testing.T) {
	samples := slices.DeleteFunc(minutes(0, 9*day, from10), func(s probe.Sample) bool { return s.Time.Minute()%5 > 3 })
	for i := range samples {
		if samples[i].Time.Minute()%5 != 0 {
			samples[i].Trigger = probe.Reprobe
		}
	}
	check := samples[0]
	check.Time, check.Trigger = check.Time.Add(time.Second), probe.Check
	r := play(t, TapeOptions{Options: Options{Watched: watched(5 * time.Minute)}}, append(samples, check)...)
	if r.Regular != 9*day/5 || r.Extra != 3 {
		t.Errorf("%d regular samples and %d re-probes judged", r.Regular, r.Extra)
	}
	tape := NewTape()
	tape.Add(samples...)
	if got := tape.Canaries(Cut{})[0]; got.Gap != 5*time.Minute || got.Samples != len(samples) || !slices.Equal(got.Metrics, []probe.Metric{probe.TTFT}) {
		t.Errorf("canary %+v", got)
	}
}

// TestOrderAndDuplicatesChangeNothing.
func TestOrderAndDuplicatesChangeNothing(t *testing.T) {
	samples := minutes(0, 9*day, from10)
	o := TapeOptions{Cut: Cut{Every: 5 * time.Minute}, Options: Options{Watched: watched(5 * time.Minute)}}
	want := play(t, o, samples...)
	mixed := append(slices.Clone(samples), samples[:500]...)
	slices.Reverse(mixed)
	got := play(t, o, mixed...)
	if len(got.Events) != len(want.Events) || got.Regular != want.Regular || got.Extra != want.Extra {
		t.Fatalf("%d events, %d and %d judged; want %d, %d and %d", len(got.Events), got.Regular, got.Extra, len(want.Events), want.Regular, want.Extra)
	}
	for i := range want.Events {
		if got.Events[i].Time != want.Events[i].Time || got.Events[i].Event != want.Events[i].Event || got.Events[i].Ratio != want.Events[i].Ratio {
			t.Errorf("event %d: %+v, want %+v", i, got.Events[i], want.Events[i])
		}
	}
}

// TestAChangedSpecLearnsAnew: twice the level under another spec is another normal, not an alert.
func TestAChangedSpecLearnsAnew(t *testing.T) {
	samples := minutes(0, 12*day, func(m int) float64 {
		if m >= 9*day {
			return 2
		}
		return 1
	})
	for i := range samples {
		samples[i].Spec = "a"
		if i >= 9*day {
			samples[i].Spec = "b"
		}
	}
	r := play(t, TapeOptions{Cut: Cut{Every: 5 * time.Minute}, Options: Options{Watched: watched(5 * time.Minute)}}, samples...)
	for _, e := range r.Events {
		if e.Event == EventOpen {
			t.Errorf("an alert: %+v", e)
		}
	}
}

// TestASeverityRisesWhenItIsJudged: the probe of 10:15 takes twelve minutes and opens the alert at 10:27; that of 10:25, which
// takes eight, makes it critical when it ends, not when it was sent.
func TestASeverityRisesWhenItIsJudged(t *testing.T) {
	slow := func(m int) float64 {
		switch at := m - 8*day - 600; {
		case at == 15:
			return 3600
		case at == 25:
			return 2400
		case at > 0 && at < 60:
			return 4
		}
		return from10(m)
	}
	samples := slices.DeleteFunc(minutes(0, 9*day, slow), func(s probe.Sample) bool {
		at := int(s.Time.Sub(start)/time.Minute) - 8*day - 600
		return at == 20 || at == 30 || at%5 != 0
	})
	r := play(t, TapeOptions{Options: Options{Watched: watched(5 * time.Minute)}}, samples...)
	f := func(what string, from time.Duration) {
		t.Helper()
		i := slices.IndexFunc(r.Events, func(e Event) bool { return e.Event == what })
		if i < 0 {
			t.Fatalf("no %s", what)
		}
		want := start.Add(8*24*time.Hour + 10*time.Hour + from)
		if d := r.Events[i].Time.Sub(want); d.Abs() > time.Minute {
			t.Errorf("%s at %s, want %s", what, r.Events[i].Time, want)
		}
	}
	f(EventOpen, 27*time.Minute)
	f(EventEscalate, 33*time.Minute)
}
