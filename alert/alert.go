package alert

import (
	"hash/fnv"
	"strings"
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// Vote is one observation's say in one alert.
type Vote struct {
	At      time.Time       `json:"at"`
	Trigger probe.Trigger   `json:"trigger,omitempty"`
	Verdict baseline.Ruling `json:"verdict"`
	Outcome probe.Outcome   `json:"outcome,omitempty"`
	Said    []Contribution  `json:"said,omitempty"` // of the step test: what each canary contributed
}

// Contribution is what one canary added to a vote: how far from usual it was, without today's offset, and the scatter of its
// probes, ln, to four digits. Who is its CanaryID; 0 = there is but one.
type Contribution struct {
	Who uint32  `json:"who,omitempty"`
	E   float32 `json:"e,omitempty"`
	SW  float32 `json:"sw,omitempty"`
}

// CanaryID is a canary's number among contributions, by its key.
func CanaryID(key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key)) // never fails
	return h.Sum32()
}

// Evidence is the numbers of one moment of an alert. Value, Mean, Low and Limit are seconds; Mean is 0 where the limit is fixed.
type Evidence struct {
	At        time.Time     `json:"at,omitzero"`
	Value     float64       `json:"value,omitempty"`
	Mean      float64       `json:"mean,omitempty"`
	Low       float64       `json:"low,omitempty"`
	Limit     float64       `json:"limit,omitempty"`
	Ratio     float64       `json:"ratio,omitempty"`
	Z         float64       `json:"z,omitempty"`
	Canaries  int           `json:"canaries,omitempty"` // of a whole target: how many the ratio is the median of
	Outcome   probe.Outcome `json:"outcome,omitempty"`
	Reason    string        `json:"reason,omitempty"`
	RequestID string        `json:"request_id,omitempty"`
}

// Alert is one series' trouble of one kind, with its state and evidence: what was seen, nothing of what people were told. It is
// stored whole, as JSON, under ID.
type Alert struct {
	ID          string             `json:"id"` // series + kind + first opening time: unique
	Series      string             `json:"series"`
	Kind        Kind               `json:"kind"`
	State       State              `json:"state"`
	Severity    Severity           `json:"severity"` // as SeverityOf last found it; it never falls while the alert fires
	Since       time.Time          `json:"since"`    // of the state
	FirstBreach time.Time          `json:"first_breach,omitzero"`
	LastBreach  time.Time          `json:"last_breach,omitzero"` // the newest bad check: when the trouble ended, once it is resolved
	Fired       time.Time          `json:"fired,omitzero"`
	Resolved    time.Time          `json:"resolved,omitzero"`
	Reason      string             `json:"reason,omitempty"`
	Fixed       bool               `json:"fixed,omitempty"`    // held against a fixed limit, not a band
	Learned     string             `json:"learned,omitempty"`  // "day 2 of 7, 180 samples"
	Accepted    float64            `json:"accepted,omitempty"` // with reason new_normal: the new level, a ratio of the old one
	By          string             `json:"by,omitempty"`       // with Accepted: who accepted it
	Votes       []Vote             `json:"votes,omitempty"`    // newest last
	Decided     []Vote             `json:"decided,omitempty"`  // the votes that it fired by
	Last        Evidence           `json:"last,omitzero"`
	Worst       Evidence           `json:"worst,omitzero"`
	Probes      int                `json:"probes,omitempty"` // observations while firing
	Timeouts    int                `json:"timeouts,omitempty"`
	Errors      int                `json:"errors,omitempty"`
	Threshold   string             `json:"threshold,omitempty"` // hash
	Config      string             `json:"config,omitempty"`    // revision of the config it was decided by
	Urgent      bool               `json:"urgent,omitempty"`    // above a critical limit of the user's, once
	Steep       time.Time          `json:"steep,omitzero"`      // since when every judged value has been at ×3 of usual or more
	Excluding   bool               `json:"excluding,omitempty"` // its samples are left out of the band
	Watched     time.Time          `json:"watched,omitzero"`    // while recovering: until when it is watched at the earliest
	Slower      float64            `json:"slower,omitempty"`    // slower still: ratio of the provisional level of the last 24 h that is exceeded
	Band        *baseline.Band     `json:"band,omitempty"`      // that the observation it fired by was held against
	KalmanState *level.KalmanState `json:"track,omitempty"`     // of the step test: where the level was before the votes
	Fit         *Fit               `json:"fit,omitempty"`       // of the step test: what it fired by; before, what it said of the newest vote
}

// IsFiring reports whether the alert has fired and not resolved.
func (a Alert) IsFiring() bool { return a.State.IsFiring() }

// Target returns the name of the target that the alert is about.
func (a Alert) Target() string {
	name, _, _ := strings.Cut(a.Series, "/")
	return name
}

// WholeTarget reports whether the series is a whole target and not one canary.
func (a Alert) WholeTarget() bool { return !strings.Contains(a.Series, "/") }

// Began returns when the trouble began: the first breach, else when it fired, else since when it has its state.
func (a Alert) Began() time.Time {
	for _, t := range []time.Time{a.FirstBreach, a.Fired} {
		if !t.IsZero() {
			return t
		}
	}
	return a.Since
}

// Event is something worth knowing that changes no state and pages nobody.
type Event string

// The events. Those of the last group are the incidents'.
const (
	EventSeverity Event = "severity" // the severity of an alert rose; Transition.After has it
	EventSlower   Event = "slower"   // a firing alert is slower still than its last 24 h
	EventSpike    Event = "spike"    // one probe far from usual
	EventLow      Event = "low"      // literal: below mean − 2 sd
	EventAccept   Event = "accept"   // a person accepted a slower level
	EventUndo     Event = "undo"     // … and took it back
	EventReset    Event = "reset"    // the history was forgotten by command
	EventModel    Event = "model"    // the endpoint answers as another model; Series is the target
	EventSpec     Event = "spec"     // the config changed what a canary measures; Series is the target

	EventMuted   Event = "muted"
	EventUnmuted Event = "unmuted"
)

// Transition is one row of history: a change of an alert's state with its reason, or with Event something worth knowing
// that changed no state.
type Transition struct {
	At       time.Time `json:"at"`
	Series   string    `json:"series"`
	Kind     Kind      `json:"kind"`
	From, To State
	Reason   string   `json:"reason"`
	Alert    string   `json:"alert,omitempty"`
	Event    Event    `json:"event,omitempty"`
	Evidence Evidence `json:"evidence,omitzero"` // of an Event, where there are numbers
	After    *Alert   `json:"-"`                 // the alert after it; nil where none is meant. Not stored
}

// Fired reports whether the transition is an alert's first firing.
func (t Transition) Fired() bool { return t.To.IsFiring() && !t.From.IsFiring() }

// Resolved reports whether the transition is an alert's end.
func (t Transition) Resolved() bool { return t.From.IsFiring() && !t.To.IsFiring() }

// AboutCredential reports whether the trouble is a refused key or a used-up quota, and not the endpoint itself.
func (a Alert) AboutCredential() bool {
	return a.Kind == KindError && (a.Last.Outcome == probe.Auth || a.Last.Outcome == probe.Quota)
}

// IsDown reports whether the kind means that no answers come.
func (k Kind) IsDown() bool { return k == KindTimeout || k == KindError }
