package alert

import (
	"context"
	"encoding/json"

	"serin/baseline"
	"serin/probe"
)

// Record is a sample with what judging left of it, per metric.
type Record struct {
	Sample    probe.Sample
	Residuals map[probe.Metric]baseline.Residual
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

// Change is one transaction: all of it is stored, or none.
type Change struct {
	Records     []Record
	Exclusions  []Exclusion
	Bands       []baseline.Band
	Alerts      []Alert
	Incidents   []Incident
	Notices     []Notice // upserts by key
	Transitions []Transition
	Blobs       []Blob
}

// Journal stores changes.
//
// Commit keeps the change in order behind all earlier ones. With a notice inside, it returns once the change is on disk;
// without, at once (the writer batches up to a second). An error means only that the change is not on disk yet: it stays
// in memory and is written when the store heals, so the caller goes on.
type Journal interface {
	Commit(ctx context.Context, c Change) error
}

// Snapshot is what a start finds in the store.
type Snapshot struct {
	Alerts    []Alert    // not resolved
	Incidents []Incident // not closed
	Notices   []Notice   // not sent or dropped, and the sent openings of incidents not closed
	Blobs     []Blob
}
