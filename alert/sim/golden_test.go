package sim_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"serin/alert/sim"
	"serin/configs"
)

var update = flag.Bool("update", false, "write testdata anew")

// TestSummaryIsTheSame pins the numbers of every preset on a small workload: a change of the code that is none of the rule
// moves none of them.
func TestSummaryIsTheSame(t *testing.T) {
	opt := sim.Options{Seeds: []uint64{304}, Days: 16, Small: true, Workers: 2}
	for _, name := range configs.Presets() {
		rule, _ := configs.Preset(name)
		rule.Corroborate = false
		opt.Presets = append(opt.Presets, sim.Preset{Name: name, Rule: rule})
	}
	rule, _ := configs.Preset(sim.DefaultPreset)
	opt.Presets = append(opt.Presets, sim.Preset{Name: "corroborated", Rule: rule, PerTarget: true})
	if testing.Short() {
		opt.Presets = opt.Presets[:1]
	}
	report, err := sim.Benchmark(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/summary.json"
	got := report.Summary()
	got.Gates, got.Held = nil, false // gates are for the whole workload
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want sim.Summary
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&want); err != nil {
		t.Fatal(err)
	}
	want.Rules = want.Rules[:len(got.Rules)]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
	}
}
