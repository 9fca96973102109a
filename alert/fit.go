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
