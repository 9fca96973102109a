package baseline

import (
	"time"

	"serin/probe"
)

// Key names one series and what its history needs to know.
type Key struct {
	Canary   string
	Metric   probe.Metric
	Spec     string
	Zone     *time.Location
	Interval time.Duration // shortest gap between two regular runs
}

// State is what a restart must find again besides the points: JSON, opaque to others.
type State struct {
	Slot    time.Time `json:"slot,omitzero"` // the slot Mu belongs to
	Mu      float64   `json:"mu,omitempty"`
	Renewed time.Time `json:"renewed,omitzero"` // when SW and SL were last renewed
	SW      float64   `json:"sw,omitempty"`
	SL      float64   `json:"sl,omitempty"`
	Frozen  bool      `json:"frozen,omitempty"` // today's offset is held at Offset
	Offset  float64   `json:"offset,omitempty"`
}

// Series is the history of one canary's metric and the judge of its values. It is not safe for concurrent use.
type Series struct {
	key Key
	opt Options
	th  Threshold
	pts []Point // by time
}

// NewSeries returns an empty series. A nil zone is UTC.
func NewSeries(k Key, opt Options, th Threshold) *Series { return &Series{key: k, opt: opt, th: th} }

// Load replaces the history: at start, after an import, after a reload. points may come in any order; those with
// Res.Judged keep their residuals, the others are replayed in time order, and those that got residuals by it are
// returned (to be stored). st is what State returned before the stop, or nil. Points from the last 8 days are needed;
// 15 days where some were never judged, so that seven days of residuals can be made.
func (s *Series) Load(points []Point, st *State, now time.Time) []Point { return nil }

// Recompute drops the frozen mean, sw and sL: the next value's slot is computed anew. For what changes the past:
// accept, down, reset, import.
func (s *Series) Recompute() {}

// Judge holds a value against the band of its slot. It does not add it. At learning and for a value ≤ 0 the call is
// NotJudged; at learning Band says what has been learned.
func (s *Series) Judge(at time.Time, v time.Duration) Verdict { return Verdict{Call: NotJudged} }

// Add puts an observation into the history, in its place by time. Points that are not regular, not finite, older than
// the rule needs, or of a time that is there already are ignored.
func (s *Series) Add(p Point) {}

// Points returns the history, by time.
func (s *Series) Points() []Point { return nil }

// Exclude leaves the points from from to to, both included, out of bands and residuals (out), or takes them back in.
// It returns how many changed. The mean of the running slot stays as it is.
func (s *Series) Exclude(from, to time.Time, out bool) int { return 0 }

// Freeze holds today's offset at its last value (while firing), or lets it go.
func (s *Series) Freeze(on bool) {}

// Band returns what is normal at a time. It may lie ahead; then nothing is frozen by asking.
func (s *Series) Band(at time.Time) Band { return Band{} }

// State returns what Load needs after a restart besides the points.
func (s *Series) State() State { return State{} }

// Key returns the series' key.
func (s *Series) Key() Key { return s.key }

// Forget drops the whole history: learning starts again.
func (s *Series) Forget() {}

// Respec names the spec of the values from now on. A band pools one spec only: unless keep, the history is forgotten.
func (s *Series) Respec(spec string, keep bool) {}
