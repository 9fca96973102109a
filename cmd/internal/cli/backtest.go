package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline/store"
	"serin/configs"
	"serin/probe"
)

type backtestCmd struct {
	configFlag
	Samples string         `placeholder:"FILE" help:"File with samples as JSON lines in any order, or - for standard input. Without it: the store."`
	Store   string         `placeholder:"PATH" help:"Store file (default: that of the config, else the default place)."`
	Since   string         `default:"40d" placeholder:"D" help:"Of the store: how far back, a duration (24h, 7d) or an RFC 3339 time."`
	Every   time.Duration  `placeholder:"D" help:"Take samples at multiples of D since 00:00 UTC for regular ones; the others answer re-probes. Without it a sample's trigger decides."`
	Preset  string         `placeholder:"NAME" help:"Judge by this preset."`
	Set     []string       `placeholder:"KEY=VALUE" sep:"none" help:"Change one key of the rule, as in [rule] (repeatable)."`
	Vs      string         `placeholder:"RULE" help:"A second rule to compare: a preset's name, or settings such as sigma=3,m=3."`
	Metric  []probe.Metric `placeholder:"NAME" help:"Metrics to judge: ttft, ttfa, tpot, e2e (repeatable). Default: the config's, else ttft and tpot."`
	Pattern string         `arg:"" optional:"" help:"Only canaries (target/scene/size) or targets that match this glob."`
	Format  string         `enum:"text,json" default:"text" help:"text, or json (one decision a line)."`
}

// Help shows an example.
func (backtestCmd) Help() string {
	return "Examples:\n  serin backtest -c serin.toml --since 14d --vs sigma=3\n  serin backtest --samples month.jsonl --every 5m --preset sharp --format json\nRuns the daemon's own engine over recorded samples, in virtual time, and prints the alerts that the rule would have raised. Needs no config: without one the series are those of the samples, in UTC. A re-probe is answered by the first unused sample at or after the time it was due, within 2 minutes. Ends with 0 whether or not it alerted."
}

// collectAt is how much may be allocated, in percent of what is in use, before the garbage is collected. What is in use is
// mostly samples, which hold no pointers: to look at it twice as often costs little, and memory is what a long file needs.
const collectAt = 50

// Run replays samples.
func (c *backtestCmd) Run(ctx context.Context, o Options) error {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	rules, err := c.rules()
	if err != nil {
		return fail(ExitUsage, err)
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	tape, err := c.read(ctx, o)
	if err != nil {
		return err
	}
	cut := replay.Cut{Every: c.Every}
	list := slices.DeleteFunc(tape.Canaries(cut), func(x replay.Canary) bool { return !matchesPattern(c.Pattern, x.Key) })
	found, unknown := subjects(list, cfg, c.Every, c.Metric)
	if len(unknown) > 0 {
		_, _ = fmt.Fprintf(o.Stderr, "left out, not in the config: %s\n", strings.Join(unknown, ", "))
	}
	if err := c.offGrid(o.Stderr, found); err != nil {
		return fail(ExitUsage, err)
	}
	unmeasured(o.Stderr, found)
	var tests []backtested
	for _, rule := range rules {
		t := backtested{Rule: rule.label(c.Config), Subjects: found}
		if t.Result, err = replayAll(ctx, tape, found, rule, replay.TapeOptions{Cut: cut, Options: replay.Options{Baseline: baselineOptions(cfg)}}); err != nil {
			return err
		}
		tests = append(tests, t)
	}
	out := bufio.NewWriter(o.Stdout)
	if c.Format == "json" {
		err = writeEvents(out, tests)
	} else {
		err = writeBacktest(out, tests)
	}
	return errors.Join(err, out.Flush())
}

// rules returns the one or two rules asked for, checked.
func (c *backtestCmd) rules() ([]ruleChoice, error) {
	list := []ruleChoice{ruleOf(c.Preset, c.Set)}
	if c.Vs != "" {
		list = append(list, ruleFromText(c.Vs))
	}
	for _, r := range list {
		if _, err := r.over(alert.DefaultRule()); err != nil {
			return nil, err
		}
	}
	for _, m := range c.Metric {
		if !slices.Contains([]probe.Metric{probe.TTFT, probe.TTFA, probe.TPOT, probe.E2E}, m) {
			return nil, fmt.Errorf("--metric %q: it must be ttft, ttfa, tpot or e2e", m)
		}
	}
	if c.Every < 0 || c.Every%time.Minute != 0 || c.Every > 24*time.Hour {
		return nil, fmt.Errorf("--every %s: it must be whole minutes, at most a day", c.Every)
	}
	return list, checkRules(list)
}

func (c *backtestCmd) config() (*configs.Config, error) {
	if c.Config == "" {
		return nil, nil
	}
	cfg, problems := configs.Load(configs.Options{Path: c.Config, NoSecrets: true})
	if err := configs.AsError(problems); err != nil {
		return nil, fail(ExitUsage, err)
	}
	return cfg, nil
}

// read reads the samples of the file or the store.
func (c *backtestCmd) read(ctx context.Context, o Options) (*replay.Tape, error) {
	if c.Samples != "" {
		in, closeIn, err := openInput(c.Samples, o.Stdin)
		if err != nil {
			return nil, fail(ExitUsage, err)
		}
		defer closeIn()
		tape, err := readTape(ctx, in, c.Samples)
		if err != nil {
			return nil, fail(ExitUsage, err)
		}
		return tape, nil
	}
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return nil, fail(ExitUsage, fmt.Errorf("--since: %w", err))
	}
	path, err := storePath(c.Store, c.Config)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, path, o.Stderr, true)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	tape, err := storeTape(ctx, st, store.Query{Since: since, Pattern: c.Pattern})
	return tape, errors.Join(err, st.Close())
}

// replayAll replays each target on its own, as many at once as there are cores. Events are in the order of time.
func replayAll(ctx context.Context, tape *replay.Tape, list []subject, rule ruleChoice, opt replay.TapeOptions) (replay.Result, error) {
	byTarget := map[string][]alert.Watched{}
	var names []string
	for _, s := range list {
		w := s.Watched
		var err error
		if w.Rule, err = rule.over(w.Rule); err != nil {
			return replay.Result{}, fail(ExitUsage, fmt.Errorf("rule of scene %s: %w", w.Canary.Scene.Name, err))
		}
		name := w.Canary.Target.Name
		if byTarget[name] == nil {
			names = append(names, name)
		}
		byTarget[name] = append(byTarget[name], w)
	}
	results, errs := make([]replay.Result, len(names)), make([]error, len(names))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, name := range names {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			own := opt
			own.Watched = byTarget[name]
			results[i], errs[i] = replay.Run(ctx, tape, own)
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return replay.Result{}, fail(ExitBad, errors.New("interrupted"))
	}
	var all replay.Result
	for _, r := range results {
		all.Events = append(all.Events, r.Events...)
		all.Regular += r.Regular
		all.Extra += r.Extra
		all.Unanswered += r.Unanswered
	}
	slices.SortStableFunc(all.Events, func(a, b replay.Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Series, b.Series), cmp.Compare(a.Kind, b.Kind))
	})
	return all, errors.Join(errs...)
}

// matchesPattern is the store's way to read a glob: over target, target/scene or the whole key, by its slashes.
func matchesPattern(pattern, key string) bool {
	return store.Query{Pattern: pattern}.Matches(key)
}

// ruleChoice says how a rule differs from the one it is laid over.
type ruleChoice struct {
	Name string // as people see it
	sets []string
}

// ruleOf reads --preset and --set.
func ruleOf(preset string, sets []string) ruleChoice {
	c := ruleChoice{sets: sets}
	if preset != "" {
		c.sets = append([]string{"preset=" + preset}, sets...)
	}
	c.Name = strings.Join(c.sets, ",")
	if len(sets) == 0 {
		c.Name = preset
	}
	return c
}

// ruleFromText reads --vs: a preset's name, or settings.
func ruleFromText(text string) ruleChoice {
	if !strings.Contains(text, "=") {
		return ruleOf(text, nil)
	}
	return ruleOf("", strings.Split(text, ","))
}

// over lays the choice over a rule.
func (c ruleChoice) over(base alert.Rule) (alert.Rule, error) {
	rule, problems := configs.SetRule(base, c.sets...)
	if !configs.HasErrors(problems) {
		return rule, nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return rule, errors.New(strings.Join(lines, "\n  "))
}

// label is the choice's name, or what stands for none.
func (c ruleChoice) label(config string) string {
	switch {
	case c.Name != "":
		return c.Name
	case config != "":
		return "config"
	}
	return "balanced"
}

// checkRules refuses two rules that cannot be told apart.
func checkRules(list []ruleChoice) error {
	if len(list) == 2 && list[0].Name == list[1].Name {
		return fmt.Errorf("--vs names the same rule twice (%s)", list[0].Name)
	}
	return nil
}
