package alert

import (
	"time"

	"serin/baseline"
)

// Reprobe asks the scheduler for extra probes of a canary. Those asked for earlier are replaced: At is all that is still wanted.
type Reprobe struct {
	Canary string
	At     []time.Time // by time; none = cancel
}

// Judged is what the engine made of one call. It knows nothing of messages.
type Judged struct {
	Records     []Record
	Exclusions  []Exclusion
	Bands       []baseline.Band
	Alerts      []Alert // those that changed
	Transitions []Transition
	Blobs       []Blob
	Reprobes    []Reprobe // not stored
}

// Told is what incidents made of it: what people are to hear.
type Told struct {
	Incidents []Incident // upserts by id
	Notices   []Notice   // upserts by key
	Silences  []Silence  // upserts by id
	Marks     []Mark
	History   []Transition // events: muted, unmuted
	State     []Blob
}

// Change is one transaction: all of it is stored, or none.
type Change struct {
	Judged
	Told
}

// IsEmpty reports whether there is nothing to store.
func (c *Change) IsEmpty() bool {
	return len(c.Records)+len(c.Exclusions)+len(c.Bands)+len(c.Alerts)+len(c.Transitions)+len(c.Blobs)+
		len(c.Incidents)+len(c.Notices)+len(c.Silences)+len(c.Marks)+len(c.History)+len(c.State) == 0
}
