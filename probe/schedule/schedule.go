// Package schedule fires entries on cron schedules: deterministic spread, bounded lanes, extra runs, missed ticks
// counted and never replayed. It knows no LLM.
package schedule

import (
	"context"
	"time"

	"github.com/robfig/cron/v3"
)

// Entry is one thing that is fired on a cron schedule.
type Entry struct {
	Key      string
	Schedule cron.Schedule // made by Parse, in the zone already
	Spread   time.Duration // bound of the deterministic delay; 0 = none (see Offset)
	Lanes    []Lane        // what it shares with others; a run needs room in all of them
}

// Lane bounds how many runs go on at once: one a target, one a provider.
type Lane struct {
	Name string
	Max  int // 0 = no bound; where entries differ, the smallest bound counts
}

// Tick is one run of an entry.
type Tick struct {
	Key   string
	Due   time.Time // what the cron schedule says
	Sched time.Time // Due + spread: when it was meant to be sent; a monotonic instant where the clock gave one
	Extra bool      // asked for by Runner.Extra, not by the schedule
}

// Skip says why a run was not fired.
type Skip string

// The skips.
const (
	SkipNoRoom  Skip = "in_flight" // waited Wait for a lane
	SkipOverlap Skip = "overlap"   // as SkipNoRoom, and earlier runs of the same entry are what hangs there
	SkipMissed  Skip = "missed"    // the machine slept or the clock jumped
)

// Options wire a Runner to what it fires.
type Options struct {
	Fire    func(ctx context.Context, t Tick) // called in its own goroutine; holds its lanes until it returns
	Skipped func(t Tick, why Skip, n int)     // n runs were not fired, t the first of them; one call at a time, never by the loop; nil = not told
	Wait    time.Duration                     // how long a due run waits for room; default 10 s

	// BaseContext is what Fire's contexts are made of; default context.Background. It outlives the context of Run: cancel it to
	// cut the runs that are still going on after Run's context ended.
	BaseContext context.Context
}
