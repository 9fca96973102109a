// Package alert decides when people are told, and sees to it that they are. The step function and the message text are
// pure; Engine (Observe, Tick) carries a sample from the prober to the outbox; Outbox delivers.
package alert

import (
	"time"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

// Kind is the kind of trouble.
type Kind string

// The kinds; the latency kinds carry the name of their metric.
const (
	KindTTFT    Kind = "ttft"
	KindTPOT    Kind = "tpot"
	KindTTFA    Kind = "ttfa"
	KindE2E     Kind = "e2e"
	KindTimeout Kind = "timeout"
	KindError   Kind = "error"
	KindLimit   Kind = "limit"
	KindNoData  Kind = "no_data"
)

// State is the state of an alert.
type State string

// The states.
const (
	StateLearning   State = "learning"
	StateOK         State = "ok"
	StatePending    State = "pending"
	StateFiring     State = "firing"
	StateRecovering State = "recovering"
	StateNoData     State = "no_data"
	StateSuppressed State = "suppressed"
	StateFlapping   State = "flapping" // opened and closed so often that it stays open until it has been calm for long
)

// Severity orders what is told: info pages nobody.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Limit is a fixed limit set by the user, in time; 0 = none.
type Limit struct {
	Warning  time.Duration `koanf:"warning"`
	Critical time.Duration `koanf:"critical"`
}

// Rule is the keys of [rule] and [scene.rule] with its preset already applied.
type Rule struct {
	Preset             string `koanf:"preset"` // balanced, sharp, literal
	baseline.Threshold `koanf:",squash"`
	M                  int           `koanf:"m"` // breaches …
	N                  int           `koanf:"n"` // … of the last N observations
	Window             time.Duration `koanf:"window"`
	Reprobes           int           `koanf:"reprobes"`
	ReprobeEvery       time.Duration `koanf:"reprobe_every"`
	ResolveN           int           `koanf:"resolve_n"`
	ResolveFor         time.Duration `koanf:"resolve_for"`
	ExcludeAfter       time.Duration `koanf:"exclude_after"`
	ExcludeFor         time.Duration `koanf:"exclude_for"` // longest that an open latency alert keeps its samples out of the band
	AcceptAfter        time.Duration `koanf:"accept_after"`
	DownAfter          time.Duration `koanf:"down_after"`
	PromoteAfter       time.Duration `koanf:"promote_after"`
	Corroborate        bool          `koanf:"corroborate"`

	TTFTLimit map[probe.Size]Limit `koanf:"ttft_limit"`
	TPOTLimit map[probe.Size]Limit `koanf:"tpot_limit"`
}

// DefaultRule returns the balanced preset.
func DefaultRule() Rule {
	return Rule{Preset: "balanced", Threshold: baseline.DefaultThreshold(), M: 4, N: 5, Window: time.Hour, Reprobes: 3,
		ReprobeEvery: 30 * time.Second, ResolveN: 3, ResolveFor: 10 * time.Minute, ExcludeAfter: time.Hour, ExcludeFor: 24 * time.Hour,
		AcceptAfter: 24 * time.Hour, DownAfter: 72 * time.Hour, PromoteAfter: 30 * time.Minute, Corroborate: true}
}

// IncidentOptions are the keys of [incident].
type IncidentOptions struct {
	GroupBy      string        `koanf:"group_by"` // GroupByProvider, GroupByTarget
	GroupWait    time.Duration `koanf:"group_wait"`
	ReopenWithin time.Duration `koanf:"reopen_within"` // 0 = never
	RemindEvery  time.Duration `koanf:"remind_every"`  // 0 = never
}

// What alerts share an incident.
const (
	GroupByProvider = "provider" // of one provider; where none is named, of one host and port
	GroupByTarget   = "target"
)

// DefaultIncident returns the defaults of [incident].
func DefaultIncident() IncidentOptions {
	return IncidentOptions{GroupBy: GroupByProvider, GroupWait: 30 * time.Second, ReopenWithin: 30 * time.Minute, RemindEvery: 4 * time.Hour}
}

// Watched is one canary as the engine sees it.
type Watched struct {
	Canary *probe.Canary
	Spec   string
	Rule   Rule
	Config string                          // revision of the config, for the record
	Due    func(after time.Time) time.Time // next run of its own schedule (spread included) strictly after a time; zero = never
}

// Vote is one observation's say in one alert.
type Vote struct {
	At      time.Time       `json:"at"`
	Trigger probe.Trigger   `json:"trigger,omitempty"`
	Verdict baseline.Ruling `json:"verdict"`
	Outcome probe.Outcome   `json:"outcome,omitempty"`
	Said    []Said          `json:"said,omitempty"` // of the sharp rule: what each canary said
}

// Said is what one canary added to a vote: how far from usual it was, without today's offset, and the scatter of its probes, ln, to
// four digits. Who is its voice; 0 = there is but one.
type Said struct {
	Who uint32  `json:"who,omitempty"`
	E   float32 `json:"e,omitempty"`
	SW  float32 `json:"sw,omitempty"`
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

// Alert is one series' trouble of one kind, with its state and evidence. It is stored whole, as JSON, under ID.
type Alert struct {
	ID          string             `json:"id"` // series + kind + first opening time: unique
	Series      string             `json:"series"`
	Kind        Kind               `json:"kind"`
	State       State              `json:"state"`
	Severity    Severity           `json:"severity"`
	Since       time.Time          `json:"since"` // of the state
	FirstBreach time.Time          `json:"first_breach,omitzero"`
	Fired       time.Time          `json:"fired,omitzero"`
	Resolved    time.Time          `json:"resolved,omitzero"`
	Reason      string             `json:"reason,omitempty"`
	Fixed       bool               `json:"fixed,omitempty"`    // held against a fixed limit, not a band
	Learned     string             `json:"learned,omitempty"`  // "day 2 of 7, 180 samples"
	Accepted    float64            `json:"accepted,omitempty"` // with reason new_normal: the new level, a ratio of the old one
	Unasked     bool               `json:"unasked,omitempty"`  // with Accepted: by itself, nobody ordered it
	Undo        string             `json:"undo,omitempty"`     // with Accepted: the command that takes it back; "" = none
	Cycles      []time.Time        `json:"cycles,omitempty"`   // when the latest alerts of this series and kind ended
	Votes       []Vote             `json:"votes,omitempty"`    // newest last
	Calm        []time.Time        `json:"calm,omitempty"`     // consecutive calm observations while firing
	Decided     []Vote             `json:"decided,omitempty"`  // the votes that it fired by
	Last        Evidence           `json:"last,omitzero"`
	Worst       Evidence           `json:"worst,omitzero"`
	Probes      int                `json:"probes,omitempty"` // observations while open
	Timeouts    int                `json:"timeouts,omitempty"`
	Errors      int                `json:"errors,omitempty"`
	Incident    string             `json:"incident,omitempty"`
	Threshold   string             `json:"threshold,omitempty"`  // hash
	Config      string             `json:"config,omitempty"`     // revision of the config it was decided by
	Suppressed  string             `json:"suppressed,omitempty"` // by what
	Steep       time.Time          `json:"steep,omitzero"`       // since when every judged value has been at ×3 of usual or more
	Excluding   bool               `json:"excluding,omitempty"`  // its samples are left out of the band
	Announced   bool               `json:"announced,omitempty"`  // its incident's message has told it
	Mute        Mute               `json:"mute,omitzero"`        // by a silence or a maintenance window
	KalmanState *level.KalmanState `json:"track,omitempty"`      // of the sharp rule: the level before the votes; its key is older than its name, and stores have it
	Fit         *Fit               `json:"fit,omitempty"`        // of the sharp rule: what it fired by; before, what it said of the newest vote
}

// Incident is what people are told: the alerts of one scope that belong together.
type Incident struct {
	ID       string    `json:"id"`                 // short, e.g. 7f3k
	Scope    string    `json:"scope"`              // name of the target, or of the provider
	Provider string    `json:"provider,omitempty"` // the whole provider is meant: its name; "" = one target
	Targets  []string  `json:"targets,omitempty"`  // with Provider: those that were in it, in the order they came
	Merged   string    `json:"merged,omitempty"`   // closed because it goes on as part of this incident
	Severity Severity  `json:"severity"`
	State    string    `json:"state"` // waiting (group_wait), open, closed
	Opened   time.Time `json:"opened"`
	Closed   time.Time `json:"closed,omitzero"`
	Announce time.Time `json:"announce,omitzero"` // when group_wait ends
	Alerts   []string  `json:"alerts"`            // alert ids
	Revision int       `json:"revision"`          // of its message
	Reminded time.Time `json:"reminded,omitzero"`
	Acked    string    `json:"acked,omitempty"` // who has it and why
	// AckedUntil is when reminders begin again; zero = not while it is open.
	AckedUntil time.Time `json:"acked_until,omitzero"`
	Channels   []string  `json:"channels,omitempty"` // that it is told on, for its whole life; nil before it is announced
	Spoken     time.Time `json:"spoken,omitzero"`    // of its newest message that is no edit
	Owed       []News    `json:"owed,omitempty"`     // with Provider: lines for its thread that wait for more
}

// Transition is one row of history: a change of an alert's state with its reason, or with Event something worth knowing
// that changed no state.
type Transition struct {
	At       time.Time `json:"at"`
	Series   string    `json:"series"`
	Kind     Kind      `json:"kind"`
	From, To State
	Reason   string   `json:"reason"`
	Alert    string   `json:"alert,omitempty"`
	Incident string   `json:"incident,omitempty"`
	Event    Event    `json:"event,omitempty"`
	Evidence Evidence `json:"evidence,omitzero"` // of an Event, where there are numbers
}
