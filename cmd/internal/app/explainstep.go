package app

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/alert/replay"
	"serin/baseline/store"
	"serin/probe"
)

// step says how the newest observations fit a lasting step up, which decides for whole targets and with preset sharp.
type step struct {
	alert.Fit
	Since  time.Time `json:"since,omitzero"` // of the votes that fit best
	Moves  float64   `json:"moves"`          // how far the level moves by itself, one standard deviation: 0.06 is 6 %
	Stored bool      `json:"stored"`         // false: worked out again from the samples, by the config of now
}

// told is what one canary added to a round. Ratio is of usual for its half hour, without today's offset.
type told struct {
	Canary string  `json:"canary,omitempty"` // "" = not known any more
	Ratio  float64 `json:"ratio"`

	who uint32 // its voice
}

// stepOf takes what an alert keeps of its newest votes; nil where the rule that fired was another.
func stepOf(f *alert.Fit, votes []alert.Vote, stored bool) *step {
	if f == nil {
		return nil
	}
	s := &step{Fit: *f, Moves: f.Moves(), Stored: stored}
	if first := len(votes) - f.Votes; f.Votes > 0 && first >= 0 {
		s.Since = votes[first].At.UTC()
	}
	return s
}

// ballotOf is a vote as it was cast; a whole target's has no value.
func ballotOf(v alert.Vote, stored bool) ballot {
	d := v.Verdict
	b := ballot{At: v.At.UTC(), Trigger: v.Trigger, Value: d.Value, Mean: d.Mean, Limit: d.Limit, Ratio: d.Ratio, Z: d.Z, Call: d.Call, Stored: stored}
	if v.Outcome != probe.OK {
		b.Why = string(v.Outcome)
	}
	for _, x := range v.Said {
		b.Shares = append(b.Shares, told{Ratio: math.Exp(float64(x.E)), who: x.Who})
	}
	return b
}

// name says which canaries spoke in a round; those that nobody knows any more have no name.
func (b *ballot) name(subs []subject) {
	for i := range b.Shares {
		for j := range subs {
			if key := subs[j].Canary.Key(); alert.Voice(key) == b.Shares[i].who {
				b.Shares[i].Canary = key
			}
		}
	}
}

// canaries are those of a target that judge a metric, with the tape that tells of them around a time.
func (b casebook) canaries(ctx context.Context, target string, m probe.Metric, at time.Time) ([]subject, *replay.Tape, error) {
	tape, err := storeTape(ctx, b.st, store.Query{Since: at.Add(-targetBack), Until: at.Add(24 * time.Hour), Pattern: target})
	if err != nil {
		return nil, nil, err
	}
	found, _ := subjects(tape.Canaries(replay.Cut{}), b.cfg, 0, nil)
	found = slices.DeleteFunc(found, func(s subject) bool { return s.Canary.Target.Name != target || !slices.Contains(s.series(), m) })
	return found, tape, nil
}

// targetBack is how far back a target's schedules are looked for.
const targetBack = 3 * 24 * time.Hour

// pooled reports whether canaries are enough to be judged as a whole.
func pooled(subs []subject) bool {
	n := 0
	for i := range subs {
		if subs[i].Rule.Corroborate && !subs[i].Rule.Literal() {
			n++
		}
	}
	return n >= togetherLeast
}

// shortName is a canary's name inside its target.
func shortName(canary string) string {
	_, rest, _ := strings.Cut(canary, "/")
	return rest
}

// writeStep tells how the newest observations fit a step up, where that decides.
func (x *Explanation) writeStep(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, "  "+format+"\n", args...) }
	s := x.Step
	switch {
	case s == nil && x.Together && x.Alert != nil:
		p("step      not kept: the version of serin that decided this alert stored its votes alone")
		return
	case s == nil:
		return
	}
	what := "check"
	if x.Together {
		what = "round"
	}
	name := "step     "
	for _, line := range s.Lines(what) {
		p("%s %s", name, line)
		name = "         "
	}
	if !s.Stored {
		p("          no alert kept this: it is worked out again from the samples, by the config of now")
	}
	if x.Together {
		p("rounds    the median of the canaries, today's offset taken off [each canary before that], all of usual")
	}
}

// shares says what each canary added to a vote, of usual for its half hour: before today's offset is taken off.
func (x *Explanation) shares(v *ballot) string {
	if x.Step == nil && !x.Together || len(v.Shares) == 0 {
		return ""
	}
	if !x.Together {
		return fmt.Sprintf("  [×%.2f before today's offset]", v.Shares[0].Ratio)
	}
	var list []string
	for _, s := range v.Shares {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s ×%.2f", shortName(s.Canary), s.Ratio)))
	}
	return "  [" + strings.Join(list, ", ") + "]"
}

// whyText says in words why a value was not judged, or not used.
func whyText(why string) string {
	switch why {
	case noBand:
		return "no band was kept: imported, or learning"
	case "learning":
		return "still learning"
	case "first":
		return "the first after a start, whose connection is cold"
	case "cold_start":
		return "the model was loaded for it"
	case "client_suspect":
		return "this machine was late itself"
	case "spec":
		return "of another prompt or model"
	case "absent":
		return "it could not be measured"
	}
	return strings.ReplaceAll(why, "_", " ")
}
