// Package engine turns samples into alerts: it holds each sample against what is normal, lets it vote, and returns what came of
// it as data. It knows nothing of incidents, messages or stores.
package engine

import (
	"context"
	"log/slog"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// Options wire an Engine to the world. History, Trace and Log may be nil.
type Options struct {
	History  alert.History
	Baseline baseline.Options
	Reprobes bool              // somebody runs the re-probes that are asked for
	Recorded bool              // samples come from a record: they are not returned as records, and a run without one is no missing data
	Trace    func(alert.Alert) // hears of every observation: the alert that it was brought to, after it
	Log      *slog.Logger
}

// Engine judges samples. Load comes first; then everything else, all from one goroutine. Status may be asked from any.
type Engine struct {
	opt Options
}

// New returns an engine that watches nothing yet.
func New(opt Options) *Engine { return &Engine{opt: opt} }

// Load starts the engine from what the store holds. It emits no transition and no re-probe.
func (e *Engine) Load(ctx context.Context, watched []alert.Watched, windows []alert.Maintenance, snap alert.Snapshot, now time.Time) (alert.Judged, error) {
	panic("unreachable")
}

// Observe judges one sample, which has ended.
func (e *Engine) Observe(s probe.Sample) alert.Judged { panic("unreachable") }

// Answer observes a sample that answers the re-probe that was due at a time, however long after it was sent.
func (e *Engine) Answer(s probe.Sample, due time.Time) alert.Judged { panic("unreachable") }

// Begun says that a regular probe of a canary was begun.
func (e *Engine) Begun(canary string, at time.Time) alert.Judged { panic("unreachable") }

// Tick does what no sample can trigger.
func (e *Engine) Tick(now time.Time) alert.Judged { panic("unreachable") }

// Reload watches another set of canaries.
func (e *Engine) Reload(ctx context.Context, watched []alert.Watched, windows []alert.Maintenance, now time.Time) (alert.Judged, error) {
	panic("unreachable")
}

// Imported takes in history that changed underneath.
func (e *Engine) Imported(ctx context.Context, now time.Time) (alert.Judged, error) {
	panic("unreachable")
}

// Accept makes the level of every firing latency alert that matches the new normal.
func (e *Engine) Accept(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	panic("unreachable")
}

// Undo takes back the acceptances of the last 7 days of every series that matches.
func (e *Engine) Undo(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	panic("unreachable")
}

// ResetBaseline forgets the history of every series that matches, for good.
func (e *Engine) ResetBaseline(pattern, who, why string, now time.Time) (alert.Judged, []string, error) {
	panic("unreachable")
}

// Status returns what the engine shows now. It is safe for concurrent use.
func (e *Engine) Status() (at time.Time, canaries []alert.CanaryStatus, firing []alert.Alert) {
	panic("unreachable")
}

// Targets lists the targets by name.
func (e *Engine) Targets() []alert.Target { panic("unreachable") }

// Firing lists the alerts of a target that have fired and not resolved, canaries' first, then rates, then whole-target; "" is all targets.
func (e *Engine) Firing(target string) []alert.Alert { panic("unreachable") }

// Recent says what a canary's newest regular probes say of one metric beside an alert that began at since.
func (e *Engine) Recent(canary string, m probe.Metric, since time.Time) alert.Recent {
	panic("unreachable")
}
