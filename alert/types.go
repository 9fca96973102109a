package alert

import "serin/probe"

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

// KindChange is the kind of a row of history that is about the endpoint, not about an alert: another model, counts that are
// gone, and the like. Its To names what changed, as the flag of the sample does; its Reason says it in words.
const KindChange Kind = "change"

// Kinds lists all kinds of trouble.
func Kinds() []Kind {
	return []Kind{KindTTFT, KindTPOT, KindTTFA, KindE2E, KindTimeout, KindError, KindLimit, KindNoData}
}

// Metric returns the metric of a latency kind, "" for the others.
func (k Kind) Metric() probe.Metric {
	switch k {
	case KindTTFT, KindTPOT, KindTTFA, KindE2E:
		return probe.Metric(k)
	}
	return ""
}

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
)

// IsFiring reports whether an alert in this state has fired and not resolved.
func (s State) IsFiring() bool { return s == StateFiring || s == StateRecovering }

// Severity orders alerts: info pages nobody.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)
