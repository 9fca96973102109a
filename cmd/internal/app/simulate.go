package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"serin/alert/sim"
	"serin/cmd/internal/human"
	"serin/configs"
)

type simulateCmd struct {
	Seeds  string   `default:"101-112" placeholder:"RANGE" help:"Seeds: numbers and ranges, separated by commas. Compare rules on the same seeds, and on at least 12."`
	Preset []string `placeholder:"NAME" help:"Presets to run (repeatable). Default: all."`
	Format string   `enum:"text,json" default:"text" help:"text or json."`
}

// Help shows an example.
func (simulateCmd) Help() string {
	return "Example: serin simulate --seeds 201-212 --preset balanced\n\nRuns the rules on simulated endpoints, in virtual time, and holds the numbers against the gates of the benchmark. Takes minutes. Ends with 1 when a gate is missed."
}

// simulateWorkers is how many worlds are run at once.
const simulateWorkers = 2

// Run runs the quality benchmark.
func (c *simulateCmd) Run(ctx context.Context, o Options) error {
	seeds, err := parseSeeds(c.Seeds)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--seeds %q: %w", c.Seeds, err))
	}
	presets, err := presetsNamed(c.Preset)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("--preset: %w", err))
	}
	opt := sim.Options{Seeds: seeds, Presets: presets, Workers: simulateWorkers}
	if human.IsTerminal(o.Stderr) {
		opt.Progress = func(done, all int) { _, _ = fmt.Fprintf(o.Stderr, "\r%d of %d parts ", done, all) }
	}
	report, err := sim.Benchmark(ctx, opt)
	if opt.Progress != nil {
		_, _ = fmt.Fprintln(o.Stderr)
	}
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	if err := c.print(o.Stdout, report); err != nil {
		return err
	}
	if !report.Held() {
		return fail(ExitBad, errQuiet)
	}
	return nil
}

func (c *simulateCmd) print(w io.Writer, r *sim.Report) error {
	if c.Format == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r.Summary())
	}
	return r.WriteText(w)
}

// simulated lists what is run when no preset is named.
func simulated() []string { return append(configs.Presets(), corroborated) }

// corroborated is the default rule with its targets' own alerts, which are what is scored then.
const corroborated = "corroborated"

// presetsNamed returns the rules of presets, of all when none is named.
func presetsNamed(names []string) ([]sim.Preset, error) {
	if len(names) == 0 {
		names = simulated()
	}
	var list []sim.Preset
	for _, name := range names {
		preset, ok := presetNamed(name)
		if !ok {
			return nil, fmt.Errorf("%q is unknown; use one of: %s", name, strings.Join(simulated(), ", "))
		}
		if !slices.ContainsFunc(list, func(p sim.Preset) bool { return p.Name == name }) {
			list = append(list, preset)
		}
	}
	return list, nil
}

// presetNamed returns one preset. The canaries' own alerts are measured without the target's, whose further probes and
// exclusions would stand in their numbers.
func presetNamed(name string) (sim.Preset, bool) {
	if name == corroborated {
		rule, ok := configs.Preset(sim.DefaultPreset)
		return sim.Preset{Name: name, Rule: rule, PerTarget: true}, ok
	}
	rule, ok := configs.Preset(name)
	rule.Corroborate = false
	return sim.Preset{Name: name, Rule: rule}, ok
}

// maxSeeds bounds a range, so that a slip of the finger does not run for days.
const maxSeeds = 1000

// parseSeeds reads "101-112" or "1,5,9-12".
func parseSeeds(text string) ([]uint64, error) {
	var list []uint64
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no seed", low)
		}
		to, err := strconv.ParseUint(high, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no seed", high)
		}
		if to < from || to-from >= maxSeeds || len(list) >= maxSeeds {
			return nil, fmt.Errorf("%q: from low to high, at most %d seeds", part, maxSeeds)
		}
		for s := from; s <= to; s++ {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
