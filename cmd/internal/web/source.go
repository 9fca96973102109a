package web

import (
	"context"
	"errors"
	"iter"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// ErrNotFound is what Alerts.Incident returns (wrapped or not) for an id that no incident has.
var ErrNotFound = errors.New("not found")

// Query is what a client asks of a list. Since is included, Until is not; both are set.
type Query struct {
	Since, Until time.Time
	Canary       string // a glob, see Match; "" = all
	Limit        int    // at least 1
}

// Measurements is what was measured and what is normal.
//
// A source yields, in any order, at least what lies in [Since, Until): by Sample.Time, and by Band.Slot. It may yield
// more: the caller selects, and keeps the newest Limit. It asks for one window after another, backwards. A source stops soon after ctx ends, with its error.
type Measurements interface {
	Samples(ctx context.Context, q Query) iter.Seq2[probe.Sample, error]
	Bands(ctx context.Context, q Query) iter.Seq2[baseline.Band, error]
}

// Alerts is what was decided and told.
//
// The lists are as in Measurements; in them is what was open at some time in [Since, Until), also when it began before.
// Incident returns ErrNotFound for an unknown id.
type Alerts interface {
	Alerts(ctx context.Context, q Query) iter.Seq2[alert.Alert, error]
	Incidents(ctx context.Context, q Query) iter.Seq2[alert.Incident, error]
	Incident(ctx context.Context, id string) (Dossier, error)
	// History is what changed in [Since, Until); of one incident where that is not "".
	History(ctx context.Context, q Query, incident string) iter.Seq2[alert.Transition, error]
}

// Dossier is all that is known about one incident: its alerts, their history by time, and what was said about it.
type Dossier struct {
	Incident    alert.Incident
	Alerts      []alert.Alert
	Transitions []alert.Transition
	Notices     []alert.Notice
	Marks       []alert.Mark // around it, of its targets
	Decisions   any          // how each of its alerts was decided, to be shown as JSON; nil = not known
}

// Status is /api/v1/status: what this process is and how each canary stands.
type Status struct {
	Version  string         `json:"version"`
	Commit   string         `json:"commit,omitempty"`
	Instance string         `json:"instance"`
	Region   string         `json:"region,omitempty"`
	Started  time.Time      `json:"started"`
	Ready    bool           `json:"ready"`
	Why      string         `json:"why,omitempty"` // of not ready
	Config   ConfigStatus   `json:"config"`
	Store    StoreStatus    `json:"store"`
	Outbox   OutboxStatus   `json:"outbox"`
	Silences []Silenced     `json:"silences,omitempty"`    // in force and planned
	Windows  []Window       `json:"maintenance,omitempty"` // that run now
	Canaries []CanaryStatus `json:"canaries"`
}

// ConfigStatus says which config is in force, and whether the last reload was taken.
type ConfigStatus struct {
	Revision string    `json:"revision"`
	Loaded   time.Time `json:"loaded"`
	ReloadOK bool      `json:"reload_ok"`
	Warnings []string  `json:"warnings,omitempty"`
}

// StoreStatus says whether the store can be written.
type StoreStatus struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// OutboxStatus counts the notices that are owed. OldestSeconds is the age of the oldest.
type OutboxStatus struct {
	Pending       int     `json:"pending"`
	OldestSeconds float64 `json:"oldest_seconds"`
}

// Window is a maintenance window that runs.
type Window struct {
	Name  string         `json:"name"`
	Until time.Time      `json:"until"`
	Cap   alert.Severity `json:"cap,omitempty"`
}

// CanaryStatus is one canary: when it was and will be probed, and the state of its alerts by kind.
type CanaryStatus struct {
	Canary      string                     `json:"canary"`
	Schedule    string                     `json:"schedule"`
	Next        time.Time                  `json:"next,omitzero"`
	Last        time.Time                  `json:"last,omitzero"`
	LastOutcome probe.Outcome              `json:"last_outcome,omitempty"`
	LastMS      map[probe.Metric]float64   `json:"last_ms,omitempty"` // newest success, milliseconds
	Alerts      map[alert.Kind]alert.State `json:"alerts,omitempty"`
	Muted       map[alert.Kind]string      `json:"muted,omitempty"` // of open alerts: by what and until when
}
