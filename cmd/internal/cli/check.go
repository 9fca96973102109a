package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"serin/cmd/internal/check"
	"serin/cmd/internal/daemon"
	"serin/configs"
	"serin/probe"
	"serin/probe/glob"
	"serin/probe/secret"
)

type checkCmd struct {
	configFlag
	Pattern string `arg:"" optional:"" help:"Only canaries (target/scene/size) or targets that match this glob."`
	All     bool   `help:"Every canary of the config, not one short probe a target; says first what it costs."`

	BaseURL   string `name:"base-url" placeholder:"URL" help:"Check an endpoint without a config."`
	Model     string `placeholder:"M" help:"With --base-url: the model."`
	Protocol  string `default:"openai-chat" help:"With --base-url: openai-chat, openai-responses, anthropic, gemini, ollama or azure-openai."`
	APIKeyEnv string `name:"api-key-env" placeholder:"VAR" help:"With --base-url: environment variable that holds the key. Without it no key is sent."`
	Size      string `enum:"short,medium,long" default:"short" help:"With --base-url: size of the prompt: short, medium or long."`

	N                 int            `short:"n" default:"1" help:"Probes of each canary, one after the other."`
	FirstTokenTimeout *time.Duration `placeholder:"D" help:"Override first_token_timeout."`
	StallTimeout      *time.Duration `placeholder:"D" help:"Override stall_timeout."`
	TotalTimeout      *time.Duration `placeholder:"D" help:"Override total_timeout."`
	MaxTokens         *int           `placeholder:"N" help:"Override the output cap."`
	Curl              bool           `help:"Print the same request for curl instead of sending it; the key as $VAR."`
	Verbose           bool           `short:"v" help:"Print every event of each answer with its instant."`
	ShowText          bool           `name:"show-text" help:"Print the answers too."`
	Format            string         `enum:"text,json" default:"text" help:"text or json (one sample a line)."`
}

// Help shows an example.
func (checkCmd) Help() string {
	return "Examples:\n  serin check --base-url http://127.0.0.1:8000/v1 --model my-model -n 5\n  serin check -c serin.toml gw-eu\nWrites nothing to the store. Ends with 1 when a probe failed."
}

// Run probes and reports.
func (c *checkCmd) Run(ctx context.Context, o Options) error {
	if err := c.mistake(); err != nil {
		return fail(ExitUsage, err)
	}
	runs, redactor, err := c.canaries()
	if err != nil {
		return err
	}
	if c.Curl {
		return c.curl(o, runs, redactor)
	}
	if c.All {
		c.sayCost(o, runs)
	}
	level := daemon.NewLevel("warn")
	redact := &daemon.Redaction{}
	redact.Add(redactor)
	p := probe.New(probe.Options{Version: daemon.Version, Redactor: redactor, Log: daemon.NewLogger(o.Stderr, "text", level, redact)})
	defer p.Close()
	bad := 0
	out := check.NewReport(o.Stdout, configs.Keys(runs))
	out.Details, out.Events, out.Answers = c.N == 1 || c.Verbose, c.Verbose, c.ShowText
	for _, r := range runs {
		failed, err := c.one(ctx, o, p, r, out)
		if err != nil {
			return err
		}
		bad += failed
	}
	if c.Format == "text" {
		out.Accuracy()
	}
	if ctx.Err() != nil {
		return fail(ExitBad, errors.New("interrupted"))
	}
	if bad > 0 {
		return fail(ExitBad, errQuiet)
	}
	return nil
}

// canaries returns what is to be probed.
func (c *checkCmd) canaries() ([]configs.Run, *secret.Redactor, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, nil, fail(ExitUsage, err)
	}
	runs := selectRuns(cfg.Runs, c.Pattern, c.All)
	if len(runs) == 0 {
		return nil, nil, fail(ExitUsage, fmt.Errorf("no canary and no target matches %q", c.Pattern))
	}
	for i := range runs {
		runs[i].Canary = c.override(runs[i].Canary)
	}
	return runs, cfg.Redactor, nil
}

// load makes a config of the flags, or reads one.
func (c *checkCmd) load() (*configs.Config, error) {
	if c.BaseURL != "" || c.Model != "" {
		cfg, problems := configs.LoadAdHoc(configs.AdHoc{BaseURL: c.BaseURL, Model: c.Model, Protocol: c.Protocol, APIKeyEnv: c.APIKeyEnv, Size: probe.Size(c.Size), NoSecrets: c.Curl})
		return cfg, flagError(problems)
	}
	cfg, problems := configs.Load(configs.Options{Path: c.Config, NoSecrets: c.Curl, ProbesOnly: true, Pattern: c.Pattern})
	return cfg, configs.AsError(problems)
}

// selectRuns filters by pattern; without all, and where the pattern names only targets, it keeps the smallest size of each.
func selectRuns(runs []configs.Run, pattern string, all bool) []configs.Run {
	var out []configs.Run
	at := map[string]int{}
	rank := map[probe.Size]int{probe.Short: 0, probe.Medium: 1, probe.Long: 2}
	for _, r := range runs {
		target := r.Canary.Target.Name
		if pattern != "" && !glob.MatchKey(pattern, r.Canary.Key()) {
			continue
		}
		i, have := at[target]
		switch {
		case all || strings.Contains(pattern, "/"):
			out = append(out, r)
		case !have:
			at[target] = len(out)
			out = append(out, r)
		case rank[r.Canary.Size] < rank[out[i].Canary.Size]:
			out[i] = r
		}
	}
	return out
}

// override returns the canary with the flags' values in place of the config's.
func (c *checkCmd) override(old *probe.Canary) *probe.Canary {
	t, out := *old.Target, *old
	for _, o := range []struct{ flag, key *time.Duration }{
		{c.FirstTokenTimeout, &t.FirstTokenTimeout}, {c.StallTimeout, &t.StallTimeout}, {c.TotalTimeout, &t.TotalTimeout}} {
		if o.flag != nil {
			*o.key = *o.flag
		}
	}
	if c.MaxTokens != nil {
		t.MaxTokens = *c.MaxTokens // goes before the size's
	}
	out.Target = &t
	return &out
}

// one sends the canary's probes and reports them; it returns how many failed.
func (c *checkCmd) one(ctx context.Context, o Options, p *probe.Prober, r configs.Run, out *check.Report) (failed int, err error) {
	var samples []probe.Sample
	attempt := 1
	for i := 0; i < c.N && ctx.Err() == nil; i++ {
		diary := probe.Diary{WantText: c.ShowText}
		s, err := p.Do(ctx, probe.Shot{Canary: r.Canary, Spec: r.Spec, Sched: time.Now(), Trigger: probe.Check, Attempt: attempt, Diary: &diary})
		if err != nil {
			return failed, fmt.Errorf("probe %s: %w", r.Canary.Key(), err)
		}
		if s.Reason == probe.ReasonLearningParameter && attempt == 1 { // the same probe once more, in the form just learned
			attempt, i = 2, i-1
		} else {
			attempt = 1
		}
		if !s.Outcome.Success() || s.Check == "fail" {
			failed++
		}
		if s.Reason == probe.ReasonLearningParameter {
			failed--
		}
		samples = append(samples, s)
		if c.Format == "json" {
			if err := json.NewEncoder(o.Stdout).Encode(s); err != nil {
				return failed, err
			}
			continue
		}
		out.Probe(check.Findings{Target: r.Canary.Target, Canary: r.Canary, Sample: &s, Diary: &diary,
			Models: func() ([]string, error) { return p.Models(ctx, r.Canary.Target) }})
	}
	if c.Format == "text" && len(samples) > 1 {
		out.Spread(samples)
	}
	return failed, nil
}
