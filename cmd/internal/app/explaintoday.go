package app

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline"
	"serin/cmd/internal/human"
	"serin/configs"
)

// before is a history up to a time.
type before struct {
	history alert.History
	until   time.Time
}

var _ alert.History = before{}

// History yields what lies before the time.
func (b before) History(ctx context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	return func(yield func(alert.Record, error) bool) {
		for r, err := range b.history.History(ctx, canary, since) {
			if err == nil && !r.Sample.Time.Before(b.until) || !yield(r, err) {
				return
			}
		}
	}
}

// today brings the samples around to the config of now, by the engine that would have judged them, and says where it
// decides otherwise.
func (b casebook) today(ctx context.Context, x *Explanation, sub subject, tape *replay.Tape, series *baseline.Series) (*today, error) {
	from, until := x.At.Add(-lookBack), x.At.Add(lookAhead)
	if a := x.Alert; a != nil {
		from = a.FirstBreach.Add(-time.Hour)
		until = a.Fired.Add(lookAhead)
	}
	t := &today{Threshold: sub.Rule.Threshold.Hash(), Opened: []time.Time{}}
	w := sub.Watched
	w.Rule.Corroborate = false // this series alone: the others of its target are not brought along
	r, err := replay.Run(ctx, tape, replay.Options{Watched: []alert.Watched{w}, Baseline: baselineOptions(b.cfg),
		History: before{b.st, from}, From: from, Until: until, Trace: x.follow(sub)})
	if err != nil {
		return nil, fmt.Errorf("judge by today's config: %w", err)
	}
	for _, e := range r.Events {
		if e.Event == replay.EventOpen && e.Metric == x.Metric {
			t.Opened = append(t.Opened, e.Time)
		}
	}
	band := series.Band(x.At)
	t.Mean, t.Limit = band.Mean, band.Limit
	t.compare(x, from, until)
	t.alone(b, sub)
	return t, nil
}

// follow takes what today's config makes of the newest votes, where a step up decides and no alert has kept it.
func (x *Explanation) follow(sub subject) func(alert.Alert) {
	if x.Alert != nil || sub.Rule.Preset != "sharp" {
		return nil
	}
	return func(a alert.Alert) {
		if n := len(a.Votes); a.Kind == alert.Kind(x.Metric) && n > 0 && !a.Votes[n-1].At.After(x.At) {
			x.Step = stepOf(a.Fit, a.Votes, false)
		}
	}
}

// compare says where today's decision is another.
func (t *today) compare(x *Explanation, from, until time.Time) {
	var words []string
	if n := len(x.Votes); n > 0 && t.Limit > 0 && x.Votes[n-1].Value > 0 {
		v := x.Votes[n-1]
		t.Call = baseline.Calm
		if v.Value > t.Limit {
			t.Call = baseline.Breach
		}
		if was := v.Call == baseline.Breach; v.Call != baseline.NotJudged && was != (t.Call == baseline.Breach) {
			words = append(words, fmt.Sprintf("the newest value against %s: %s instead of %s", human.Seconds(t.Limit), t.Call, v.Call))
		}
	}
	fired := x.Alert != nil
	switch {
	case fired && len(t.Opened) == 0:
		words = append(words, fmt.Sprintf("no alert between %s and %s", human.Time(from), human.Time(until)))
	case !fired && len(t.Opened) > 0 && !x.openedAround(t.Opened[0]):
		words = append(words, "an alert at "+human.Time(t.Opened[0]))
	case fired && (t.Opened[0].Sub(x.Alert.Fired)).Abs() > time.Minute:
		words = append(words, fmt.Sprintf("the alert opens at %s instead of %s", human.Time(t.Opened[0]), human.Time(x.Alert.Fired)))
	}
	if x.Band != nil && x.Band.Threshold != t.Threshold {
		words = append(words, fmt.Sprintf("the threshold is another now (%s, then %s)", t.Threshold, x.Band.Threshold))
		t.Differs = len(words) > 1
	} else {
		t.Differs = len(words) > 0
	}
	t.Words = strings.Join(words, "; ")
	if len(words) == 0 {
		t.Words = "decides the same"
	}
}

// alone says that a series was judged by itself where its target's canaries are judged together too.
func (t *today) alone(b casebook, sub subject) {
	if !sub.Rule.Corroborate || sub.Rule.Literal() || b.cfg != nil && siblings(b.cfg, sub.Canary.Target.Name) < togetherLeast {
		return
	}
	t.Words += fmt.Sprintf(" (this series by itself; what the canaries of its target decide together: serin explain %s --at TIME)", sub.Canary.Target.Name)
}

// togetherLeast is how many canaries of a target are judged together.
const togetherLeast = 3

func siblings(cfg *configs.Config, target string) (n int) {
	for i := range cfg.Runs {
		if cfg.Runs[i].Canary.Target.Name == target {
			n++
		}
	}
	return n
}

// openedAround reports whether the series fired at about a time.
func (x *Explanation) openedAround(at time.Time) bool {
	for _, c := range x.Changes {
		if c.To == alert.StateFiring && c.At.Sub(at).Abs() < 5*time.Minute {
			return true
		}
	}
	return false
}
