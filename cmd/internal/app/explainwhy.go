package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"serin/alert"
	"serin/alert/replay"
)

// overTargets answers for what the canaries of each target decide together.
func (b casebook) overTargets(ctx context.Context, found []subject, tape *replay.Tape, from, until time.Time) ([]verdictOver, error) {
	var list []verdictOver
	for i := range found {
		name := found[i].Canary.Target.Name
		for _, m := range found[i].series() {
			if slices.ContainsFunc(list, func(v verdictOver) bool { return v.Series == name && v.Metric == m }) {
				continue
			}
			subs := slices.DeleteFunc(slices.Clone(found), func(s subject) bool {
				return s.Canary.Target.Name != name || !slices.Contains(s.series(), m)
			})
			if !pooled(subs) {
				continue
			}
			v := verdictOver{Series: name, Metric: m, Alerts: []string{}, Together: true}
			if err := b.highest(ctx, &v, subs, tape, from, until); err != nil {
				return nil, err
			}
			if err := b.fired(ctx, &v, from, until); err != nil {
				return nil, err
			}
			v.Why = v.words()
			list = append(list, v)
		}
	}
	return list, nil
}

// highest finds how near a series came to firing by a step up, from the samples and by the config of now: nothing stores
// that of observations that did not fire.
func (b casebook) highest(ctx context.Context, v *verdictOver, subs []subject, tape *replay.Tape, from, until time.Time) error {
	_, err := b.trace(ctx, subs, tape, from.Add(-lookBack), until, func(a alert.Alert) {
		n := len(a.Votes)
		if a.Series != v.Series || a.Kind != alert.Kind(v.Metric) || n == 0 || a.Votes[n-1].At.Before(from) {
			return
		}
		last := a.Votes[n-1]
		v.again = v.again || a.Open() && !a.Fired.Before(from)
		if v.Together {
			v.Samples++
			if last.Verdict.Ratio > v.PeakRatio {
				v.PeakRatio, v.PeakAt = last.Verdict.Ratio, last.At.UTC()
			}
		}
		if f := a.Fit; f != nil && !(a.Open() && a.Fired.Before(from)) && (v.Fires == 0 || f.Score > v.Score) {
			v.Score, v.Fires, v.ScoreAt = f.Score, f.Fires, last.At.UTC()
		}
	})
	return err
}

// alone is a canary that is judged by itself: its target's other canaries are not brought along.
func alone(s subject) subject {
	s.Rule.Corroborate = false
	return s
}

func (v *verdictOver) words() string {
	switch {
	case len(v.Alerts) > 0:
		return fmt.Sprintf("it fired (%d alerts)", len(v.Alerts))
	case v.again:
		return "no alert is stored; by the config of now it would have fired"
	case v.Fires > 0 && v.Score > v.Fires:
		return "the score was high enough, but the step too small, or not of enough canaries"
	case v.Fires > 0:
		return fmt.Sprintf("a score of more than %g is needed", v.Fires)
	case v.Together:
		return "no rounds: fewer than 3 canaries with bands spoke at a time"
	case v.Samples == 0 && v.Learning > 0:
		return fmt.Sprintf("no band was kept for its %d values: it was learning, or they were imported", v.Learning)
	case v.Samples == 0 && v.Missing > 0:
		return fmt.Sprintf("nothing to judge: all %d probes failed, were the first after a start, or were spoiled by the client", v.Missing)
	case v.Samples == 0:
		return "no samples"
	case v.Breaches == 0:
		return "no value was above the limit"
	case v.Most < v.Needed:
		return fmt.Sprintf("%d of %d are needed", v.Needed, v.Of)
	}
	return "enough values were above the limit, but too far apart, or not the newest"
}
