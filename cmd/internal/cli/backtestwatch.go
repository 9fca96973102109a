package cli

import (
	"slices"
	"time"

	"fmt"
	"io"
	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/configs"
	"serin/probe"
	"strings"
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

// offGrid refuses samples of which none falls on the grid of --every, or so few that nothing is judged, and says which
// canaries have none or too few there.
func (c *backtestCmd) offGrid(w io.Writer, list []subject) error {
	var without, thin []string
	judged := false
	for i := range list {
		switch x := &list[i].tape; {
		case x.Regular == 0:
			without = append(without, list[i].Canary.Key())
		case 4*x.Regular < 3*x.Due:
			thin = append(thin, fmt.Sprintf("%s (%d of %d)", list[i].Canary.Key(), x.Regular, x.Due))
			judged = judged || 10*x.Regular >= x.Due
		default:
			judged = true
		}
	}
	if len(list) > 0 && !judged {
		return c.refused(list[0].tape.First, thin)
	}
	if len(without) > 0 {
		_, _ = fmt.Fprintf(w, "%d of %d canaries are not judged, they have no regular sample: %s\n", len(without), len(list), strings.Join(without, ", "))
	}
	if len(thin) > 0 {
		_, _ = fmt.Fprintf(w, "%d of %d canaries have samples after a time of --every %dm and none in its first minute, those runs are not judged: %s; leave --every out to let each sample's trigger decide\n",
			len(thin), len(list), c.Every/time.Minute, strings.Join(thin, ", "))
	}
	return nil
}

// unmeasured says which canaries have none of the metrics that are judged in any sample.
func unmeasured(w io.Writer, list []subject) {
	var names []string
	for i := range list {
		if x := &list[i]; !slices.ContainsFunc(x.series(), func(m probe.Metric) bool { return slices.Contains(x.tape.Metrics, m) }) {
			names = append(names, x.Canary.Key())
		}
	}
	if len(names) == 0 {
		return
	}
	var keys []string
	for _, m := range list[0].series() {
		keys = append(keys, string(m)+"_ms")
	}
	_, _ = fmt.Fprintf(w, "%d of %d canaries are judged by failures alone, no sample of theirs has %s: %s\n", len(names), len(list), strings.Join(keys, " or "), strings.Join(names, ", "))
}

// refused says why nothing would be judged.
func (c *backtestCmd) refused(first time.Time, thin []string) error {
	at := first.Format(time.RFC3339Nano)
	if c.Every == 0 {
		return fmt.Errorf("no sample is a regular one: every trigger says reprobe; name the schedule with --every (the first sample is at %s)", at)
	}
	what := "no sample falls"
	if len(thin) > 0 {
		what = "hardly a sample falls"
	}
	return fmt.Errorf("--every %dm: %s on a multiple of it since 00:00 UTC, cut to the minute (the first is at %s): give the schedule that the samples have, or leave --every out so that each one's trigger decides", c.Every/time.Minute, what, at)
}
