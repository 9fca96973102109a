// Command simulate runs the quality benchmark of the drift rule: the rules on simulated endpoints, in virtual time, with the
// numbers held against the gates of the benchmark. It takes minutes and ends with 1 when a gate is missed, 2 when its flags
// are wrong.
//
//	go run ./alert/sim/simulate -seeds 201-212 -preset balanced
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"serin/alert/sim"
	"serin/configs"
)

// workers is how many worlds are run at once.
const workers = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	opt, asJSON, err := options(args, errs)
	switch {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2 // the flag package has said why
	}
	opt.Progress = func(done, all int) { _, _ = fmt.Fprintf(errs, "\r%d of %d parts ", done, all) }
	report, err := sim.Benchmark(ctx, opt)
	_, _ = fmt.Fprintln(errs)
	if err == nil {
		err = write(out, report, asJSON)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(errs, "simulate:", err)
		return 3
	case !report.Held():
		return 1
	}
	return 0
}

// options reads the flags.
func options(args []string, errs io.Writer) (opt sim.Options, asJSON bool, err error) {
	opt.Workers = workers
	var presets []string
	f := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Func("seeds", "numbers and ranges, separated by commas; compare rules on the same seeds, and on at least 12 (default 101-112)", func(text string) (err error) {
		opt.Seeds, err = parseSeeds(text)
		return err
	})
	f.Func("preset", "preset to run, repeatable (default all)", func(name string) error {
		presets = append(presets, name)
		_, err := presetsNamed(presets)
		return err
	})
	f.BoolVar(&asJSON, "json", false, "write JSON")
	if err := f.Parse(args); err != nil {
		return opt, false, err
	}
	if opt.Seeds == nil {
		opt.Seeds, _ = parseSeeds("101-112") // well formed
	}
	opt.Presets, err = presetsNamed(presets)
	return opt, asJSON, err
}

func write(w io.Writer, r *sim.Report, asJSON bool) error {
	if !asJSON {
		return r.WriteText(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r.Summary())
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
