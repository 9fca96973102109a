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
}

// Series is the history of one canary's metric and the judge of its values. It is not safe for concurrent use.
type Series struct {
	key Key
	opt Options
	th  Threshold
	pts []Point // by time
}
