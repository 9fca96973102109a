package alert

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"serin/baseline"
	"serin/probe"
)

// Record is a sample with what judging left of it, per metric.
type Record struct {
	Sample    probe.Sample
	Residuals map[probe.Metric]baseline.Residual
	Excluded  map[probe.Metric]bool // left out of that metric's bands
}

// Exclusion flips samples of one series in or out of its bands, From and To included.
type Exclusion struct {
	Canary   string
	Metric   probe.Metric
	From, To int64 // unix nanoseconds
	Excluded bool
}

// Blob is state that only its writer understands, kept under a key.
type Blob struct {
	Key  string
	Body json.RawMessage // nil deletes
}

// Journal stores changes.
//
// Commit keeps the change in order behind all earlier ones. With a notice, a silence or a mark inside, it returns once the change is on disk;
// without, at once (the writer batches up to a second). An error means only that the change is not on disk yet: it stays
// in memory and is written when the store heals, so the caller goes on.
type Journal interface {
	Commit(ctx context.Context, c Change) error
}

// History reads a canary's past: records from since on, by time, oldest first. A record whose Residuals are empty (an
// imported one) has not been judged yet.
type History interface {
	History(ctx context.Context, canary string, since time.Time) iter.Seq2[Record, error]
}

// Snapshot is what a start finds in the store.
type Snapshot struct {
	Alerts    []Alert    // not resolved
	Settled   []Alert    // resolved, of these incidents
	Incidents []Incident // not closed, or closed within the last day: they may fire again
	// Notices are the pending and blocked ones, and every opening (sent or dropped too) of an incident that is not closed,
	// closed within the last day, or still has a pending or blocked notice: without its receipt a resolve could not edit the
	// message.
	Notices  []Notice
	Blobs    []Blob
	Silences []Silence // those that are over too, as long as they are kept
	Marks    []Mark    // the newest ones
}
