package alert

import (
	"fmt"
	"math"

	"serin/baseline/level"
)

// Fit is what the sharp rule said of an alert's newest votes: how well they fit a lasting step up, beside a level that moves by
// itself. Levels are ratios of usual, without today's offset. nil: that rule was not in force.
type Fit struct {
	Score      float64     `json:"score,omitempty"`  // ln of how much likelier the newest Of votes are on a level that rose just before them
	Of         int         `json:"of,omitempty"`     // six and more, those that score best
	Fires      float64     `json:"fires,omitempty"`  // the score from which it fires
	Votes      int         `json:"votes,omitempty"`  // how many of the newest, be they fewer, fit a step best: since then it is slow; with Away all that were weighed
	Checks     int         `json:"checks,omitempty"` // values of canaries in them
	Ratio      float64     `json:"ratio,omitempty"`  // how slow the canaries agree that they are, today's offset taken off
	Before     float64     `json:"before,omitempty"` // the level believed just before them
	Hours      float64     `json:"hours,omitempty"`  // the level of hours after them
	Reach      float64     `json:"reach,omitempty"`  // as far as that goes by itself
	Away       bool        `json:"away,omitempty"`   // not the score fires but the level of hours, which is far beyond its reach
	LevelModel level.Model `json:"wander,omitzero"`  // how the level moves, ln²; its key is older than its name, and stores have it
}

// Moves is how far the level moves by itself, the share of itself that is one standard deviation: 0.06 is 6 %.
func (f *Fit) Moves() float64 { return math.Expm1(f.LevelModel.SD()) }

// why is the reason for history and log.
func (f *Fit) why() string {
	if f.Away {
		return fmt.Sprintf("the level of hours is ×%.2f of usual, and by itself it rarely goes beyond ×%.2f", f.Hours, f.Reach)
	}
	return fmt.Sprintf("the newest %d observations fit a lasting step up, to ×%.2f of usual: score %.1f, more than %g fires", f.Votes, f.Ratio, f.Score, f.Fires)
}

// Lines says in full what decided, or would, a line each, for people who ask. What is each observation: "round" or "check".
func (f *Fit) Lines(what string) []string {
	if f == nil {
		return nil
	}
	return append(f.step(what), fmt.Sprintf("by itself this level moves by %.1f %% (one standard deviation)", 100*f.Moves()), f.hours())
}

// WhyFired says in full why an alert fired by a step up, a line each; nil where another rule decided.
func (a Alert) WhyFired() []string { return a.Fit.Lines(observation(a)) }

func (f *Fit) step(what string) []string {
	switch {
	case f.Of == 0:
		return []string{fmt.Sprintf("no score yet: it is of %d %ss and more; more than %g fires", sharpLeast, what, f.Fires)}
	case f.Score <= 0:
		return []string{fmt.Sprintf("no step up: the newest %d %ss are likelier on a level that moves as it always does (score %.1f; more than %g fires)",
			f.Of, what, f.Score, f.Fires)}
	}
	newest := "the newest " + count(f.Votes, what)
	if f.Checks > f.Votes {
		newest += " (" + count(f.Checks, "check") + ")"
	}
	return []string{fmt.Sprintf("%s fit a lasting step up best, from %s to %s of usual", newest, times(f.Before), times(f.Ratio)),
		fmt.Sprintf("score %.1f over the newest %d: ln of how much likelier they are with a step than without; more than %g fires", f.Score, f.Of, f.Fires)}
}

func (f *Fit) hours() string {
	text := fmt.Sprintf("the level of hours is %s of usual; by itself it rarely goes beyond %s", times(f.Hours), times(f.Reach))
	if f.Away {
		return text + ": this alone fired"
	}
	return text + ", and that did not fire"
}
