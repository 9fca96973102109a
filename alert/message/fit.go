package message

import "fmt"

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
