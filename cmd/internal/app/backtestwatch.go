package app

import (
	"slices"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/configs"
	"serin/probe"
)

// subject is one canary of a tape with the rule that its config, or the default, gives it.
type subject struct {
	alert.Watched
	tape replay.Canary
}

// series counts what is judged.
func (s *subject) series() []probe.Metric { return s.Canary.Scene.Metrics }

// unknownInterval stands for the gap of a canary with a single sample.
const unknownInterval = 5 * time.Minute

// subjects pairs the tape's canaries with the config's, or makes them up where there is none. Canaries that the config
// does not have are named in unknown.
func subjects(list []replay.Canary, cfg *configs.Config, every time.Duration, metrics []probe.Metric) (found []subject, unknown []string) {
	targets := map[string]*probe.Target{}
	for _, c := range list {
		var s subject
		if cfg == nil {
			s = madeUp(c, targets)
		} else {
			i := slices.IndexFunc(cfg.Runs, func(r configs.Run) bool { return r.Canary.Key() == c.Key })
			if i < 0 {
				unknown = append(unknown, c.Key)
				continue
			}
			s = configured(cfg.Runs[i], c)
		}
		if every > 0 {
			s.Canary.Interval = every
		}
		if len(metrics) > 0 {
			s.Canary.Scene.Metrics = metrics
		}
		found = append(found, s)
	}
	return found, unknown
}

// madeUp is a canary that only its samples describe: judged in UTC by the default rule.
func madeUp(c replay.Canary, targets map[string]*probe.Target) subject {
	t := targets[c.Target]
	if t == nil {
		own := probe.DefaultTarget()
		t = &own
		t.Name = c.Target
		targets[c.Target] = t
	}
	scene := &probe.Scene{Name: c.Scene, Zone: time.UTC, Metrics: judgedMetrics(c.Metrics)}
	gap := c.Gap
	if gap == 0 {
		gap = unknownInterval
	}
	return subject{alert.Watched{Canary: &probe.Canary{Target: t, Scene: scene, Size: c.Size, Interval: gap}, Rule: alert.DefaultRule()}, c}
}

// judgedMetrics are the default's of those that were measured; where neither was, what was measured.
func judgedMetrics(seen []probe.Metric) []probe.Metric {
	usual := []probe.Metric{probe.TTFT, probe.TPOT}
	both := slices.DeleteFunc(slices.Clone(seen), func(m probe.Metric) bool { return !slices.Contains(usual, m) })
	switch {
	case len(both) > 0:
		return both
	case len(seen) > 0:
		return seen
	}
	return usual
}

// configured is a canary of a config, copied so that overrides stay here.
func configured(r configs.Run, c replay.Canary) subject {
	canary, scene := *r.Canary, *r.Canary.Scene
	canary.Scene = &scene
	return subject{alert.Watched{Canary: &canary, Spec: r.Spec, Rule: r.Rule, Due: r.Due}, c}
}

// baselineOptions returns the config's, or the default.
func baselineOptions(cfg *configs.Config) baseline.Options {
	if cfg == nil {
		return baseline.DefaultOptions()
	}
	return cfg.Baseline
}
