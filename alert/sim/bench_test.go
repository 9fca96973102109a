package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// small is a steady and a typical endpoint for three weeks.
func small(workers int, presets ...Preset) Options {
	return Options{Seeds: []uint64{303, 304}, Days: 22, Small: true, Workers: workers, Presets: presets}
}

func balanced() Preset {
	r := alert.DefaultRule()
	r.Corroborate = false
	return Preset{Name: DefaultPreset, Rule: r}
}

func sharp() Preset {
	p := balanced()
	p.Name, p.Rule.Preset, p.Rule.Threshold.Sharp, p.Rule.Reprobes = "sharp", "sharp", true, 9
	return p
}

func literal() Preset {
	r := alert.DefaultRule()
	r.Preset, r.Threshold.Literal = "literal", true
	return Preset{Name: "literal", Rule: r}
}

// TestSmallBenchmark holds the production rule against bounds that a sound one keeps on any seed.
func TestSmallBenchmark(t *testing.T) {
	r, err := Benchmark(t.Context(), small(2, balanced()))
	if err != nil {
		t.Fatal(err)
	}
	most := func(what string, get func(*RuleReport) (float64, bool), at float64) {
		t.Helper()
		if got, known := get(r.Rule(DefaultPreset)); !known || got > at {
			t.Errorf("%s: %g (known %t), want at most %g", what, got, known, at)
		}
	}
	most("false alerts", falseOn(Healthy), .6)
	most("false alerts beside incidents", falseOn(Incidents), .8)
	most("first 8 days", earlyFalse, .7)
	most("extra requests", extra, 5)
	most("delay", delay(.5), 10)
	most("flaps", flaps, .4)
	hits, of := 0, 0
	for _, name := range []string{x2for10, x2for60, x5for10, x5for60} {
		share := r.Rule(DefaultPreset).Courses[Incidents].Event(name)
		hits, of = hits+share.Caught, of+share.Of
	}
	if of < 6 || float64(hits) < .8*float64(of) {
		t.Errorf("caught %d of %d incidents of ×2 and more", hits, of)
	}
	shows(t, r)
}

// shows reads the report's two forms.
func shows(t *testing.T, r *Report) {
	t.Helper()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"doubled wander", "balanced caught", "≤ 0.15", "–"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, text.String())
		}
	}
	body, err := json.Marshal(r.Summary())
	if err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := json.Unmarshal(body, &s); err != nil || len(s.Rules) != 1 || len(s.Gates) != len(r.Gates) || s.Held != r.Held() {
		t.Errorf("the JSON has %d rules and %d gates, error %v", len(s.Rules), len(s.Gates), err)
	}
}

// TestLiteralIsHardToLiveWith shows that the workload is hard for the plain rule.
func TestLiteralIsHardToLiveWith(t *testing.T) {
	o := small(2, literal())
	o.Seeds, o.Days = o.Seeds[1:], 10
	r, err := Benchmark(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, known := falseOn(Healthy)(r.Rule("literal")); !known || got < 150 {
		t.Errorf("%.0f false alerts per series-month, want hundreds", got)
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	run := func(workers int) string {
		o := small(workers, balanced())
		o.Seeds, o.Days = o.Seeds[:1], 9
		r, err := Benchmark(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(r.Summary())
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if one, three := run(1), run(3); one != three {
		t.Errorf("one worker: %s\nthree: %s", one, three)
	}
}

func TestBenchmarkEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Benchmark(ctx, small(2, literal())); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}

func TestGates(t *testing.T) {
	f := func(g Gate, missed bool) {
		t.Helper()
		if g.Missed() != missed {
			t.Errorf("%+v: missed %t", g, !missed)
		}
	}
	f(Gate{Got: .15, Known: true, Bound: .15}, false)
	f(Gate{Got: .16, Known: true, Bound: .15}, true)
	f(Gate{Got: 96, Known: true, AtLeast: true, Bound: 97}, true)
	f(Gate{Got: 97, Known: true, AtLeast: true, Bound: 97}, false)
	f(Gate{AtLeast: true, Bound: 97}, false)

	r := &Report{Gates: []Gate{{Known: true, Bound: 1}, {Got: 2, Known: true, Bound: 1}}}
	if r.Held() {
		t.Error("a report with a missed gate holds")
	}
	if r.Gates = r.Gates[:1]; !r.Held() {
		t.Error("a report without a missed gate does not hold")
	}
}

// TestEverythingIsRun wants each course and schedule of the default preset, and the right ones of the others.
func TestEverythingIsRun(t *testing.T) {
	o := Options{}
	f := func(preset string, want ...Course) {
		t.Helper()
		var got []Course
		for _, c := range courses() {
			if o.runs(preset, c) {
				got = append(got, c)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s runs %v, want %v", preset, got, want)
		}
	}
	f(DefaultPreset, courses()...)
	f("sharp", Healthy, Incidents, Wander, Ramp)
	f("corroborated", Healthy, Incidents, Wander, Shift)
	f("literal", Healthy, Incidents)
	o.Small = true
	f(DefaultPreset, Healthy, Incidents)
}

// TestSharpSeesMoreHourly: whoever asks for the sharper rule gets it on slow schedules too.
func TestSharpSeesMoreHourly(t *testing.T) {
	caught := map[string]int{}
	of := 0
	for _, m := range []probe.Metric{probe.TTFT, probe.TPOT} {
		w := NewWorld(305, m, Incidents, worldDays) // a noisy endpoint
		for _, p := range []Preset{balanced(), sharp()} {
			out, err := Run(t.Context(), w, p.Rule, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			tally := Score(w, out, false)
			for _, name := range []string{x15for60, x15for360, x2for60, x5for60} {
				caught[p.Name] += tally.Event(name).Caught
			}
			if n := tally.AllFalse().Alerts; n > 3 {
				t.Errorf("%s, %s: %d false alerts", p.Name, m, n)
			}
			of += tally.Event(x15for60).Of
		}
	}
	if of == 0 || caught["sharp"] < caught["balanced"] {
		t.Errorf("caught: %v", caught)
	}
}
