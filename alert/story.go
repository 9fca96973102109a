package alert

import "time"

// Story is all that one message tells; Compose turns it into a Message. It holds no clock and no link to live state.
//
// What the acts need: ActOpen, ActUpdate and ActResolve tell the whole incident; ActThread tells News, or with Reminder
// that it still fires; ActTest needs Now, Zone and Instance alone. Fields left zero are left out of the message.
type Story struct {
	Act       Act
	Reminder  bool // ActThread only: still firing
	Escalated bool // the severity rose with this message: with ActThread it mentions, as an opening does
	Now       time.Time
	Incident  Incident
	Alerts    []Alert       // of the incident, the leading one first; resolved ones too
	News      []News        // ActThread only: what changed, one line each
	Parts     []Part        // where the leading alert is of a whole target: its canaries, the slowest against its normal first
	Siblings  []Sibling     // other series of the same target, and sibling targets, with their state now
	Spark     []float64     // the leading series' values of the last hour, seconds, oldest first; NaN or 0 = a failed probe
	SparkOf   string        // what they are: "TTFT"
	Interval  time.Duration // of the leading series' schedule
	M, N      int           // the votes of the leading alert's kind: M of N fire
	Title     string        // of the target, "" = its name
	Zone      *time.Location
	Runbook   string
	Instance  string
	Region    string
	URL       string   // [http] external_url, "" = none
	SameKey   []string // of a refused key: the other targets that it is also for
	Marks     []Mark   // around the trouble, oldest first

	// Of an incident of a whole provider.
	Kin    []Kin  // all its targets, those in trouble first
	Merged string // with ActResolve: it is not over, it goes on as part of this provider's incident

	// Evidence for the hint line; a hint is printed only where these and the siblings support it.
	Connect  Moved // TCP connect time, seconds
	Cached   Moved // cached input tokens
	Buffered bool  // the leading series' last probes were flagged buffered_suspect and the ones before were not
}

// Part is one canary of a whole target: its value since the trouble began and what is normal for it, seconds.
type Part struct {
	Name              string // "short"
	Value, Low, Limit float64
	Ratio             float64
}

// Moved is a number now and as it usually is; a zero Usual is not known.
type Moved struct{ Now, Usual float64 }

// News is one change that a thread line tells.
type News struct {
	What   Turn   `json:"what"`
	Alert  string `json:"alert,omitempty"`  // the id of the alert it is about, one of Story.Alerts; "" = the leading one
	Target string `json:"target,omitempty"` // it is about all of this target, in an incident of its provider
	Detail string `json:"detail,omitempty"` // "suppressed by …", who acknowledged; foreign text, not escaped
}

// Kin is one target of a provider.
type Kin struct {
	Target string
	State  State // of the worst of its alerts
	In     bool  // it is part of the incident
	Left   bool  // it was, and is well again
}

// Turn names what happened to an alert or its incident.
type Turn string

// The turns.
const (
	TurnJoined     Turn = "joined"     // an alert joined the incident
	TurnResolved   Turn = "resolved"   // one of its alerts ended, others fire on
	TurnEscalated  Turn = "escalated"  // the severity rose
	TurnSuppressed Turn = "suppressed" // it is held back by Detail
	TurnFlapping   Turn = "flapping"   // it opens and closes so often that it is told once for all
	TurnAcked      Turn = "acked"      // by Detail
	TurnWidened    Turn = "widened"    // it is about the whole provider now
)

// Of says what a sibling is of the incident's target.
type Of string

// What siblings are; the zero Of is guessed from the name.
const (
	OfMetric Of = "metric" // another metric of the leading canary: "TPOT"
	OfSize   Of = "size"   // another size or canary of the target: "short"
	OfTarget Of = "target" // another target: "gw-us"
)

// Sibling is another series seen beside an incident.
type Sibling struct {
	Name  string // "TPOT", "short", "gw-us"
	State State
	Of    Of
}
