package demo

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"serin/cmd/internal/daemon"
	"serin/configs"
	"serin/probe"
	"serin/probe/fakellm"
)

// usual is how the demo's fake models answer when all is well.
func usual() fakellm.Behaviour {
	return fakellm.Behaviour{TTFT: 100 * time.Millisecond, PerInputToken: 80 * time.Microsecond, TPOT: 8 * time.Millisecond, Jitter: 0.05, OutputTokens: 40}
}

// inputTokens asks the fake models once for each canary, so that the made history has prompts of the right length.
func inputTokens(ctx context.Context, cfg *configs.Config) (map[string]int, error) {
	p := probe.New(probe.Options{Version: daemon.Version, Redactor: cfg.Redactor})
	defer p.Close()
	inputs := map[string]int{}
	for _, r := range cfg.Runs {
		s, err := p.Do(ctx, probe.Shot{Canary: r.Canary, Spec: r.Spec, Trigger: probe.Check})
		if err != nil {
			return nil, err
		}
		if !s.InputTokens.Known {
			return nil, fmt.Errorf("the fake endpoint did not answer %s: %s %s", s.Key(), s.Outcome, s.Reason)
		}
		inputs[r.Canary.Key()] = int(s.InputTokens.V)
	}
	return inputs, nil
}

// history yields seven days of made samples of every canary, one every five minutes up to now: what the fake models
// would have given.
func history(cfg *configs.Config, inputs map[string]int, now time.Time) iter.Seq2[probe.Sample, error] {
	rng := rand.New(rand.NewPCG(1, 2))
	return func(yield func(probe.Sample, error) bool) {
		for at := now.Add(-7 * 24 * time.Hour).Truncate(time.Second); at.Before(now); at = at.Add(5 * time.Minute) {
			for _, r := range cfg.Runs {
				if !yield(sampleAt(rng, r.Canary, inputs[r.Canary.Key()], at), nil) {
					return
				}
			}
		}
	}
}

func sampleAt(rng *rand.Rand, c *probe.Canary, input int, at time.Time) probe.Sample {
	b := usual()
	plan := b.Plan(rng, at, input, b.OutputTokens)
	first, last := plan[0], plan[len(plan)-1]
	return probe.Sample{Time: at, Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Outcome: probe.OK, Family: probe.FamilyOK, Side: probe.SideServer,
		HTTPStatus: 200, FinishReason: "stop", TTFT: probe.Known(first), TTFA: probe.Known(first), E2E: probe.Known(last),
		TPOT:        probe.Known((last - first) / time.Duration(len(plan)-1)),
		InputTokens: probe.Some(int64(input)), OutputTokens: probe.Some(int64(len(plan))), TokensSource: "usage"}
}
