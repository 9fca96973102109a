package alert

import (
	"time"

	"serin/baseline"
	"serin/probe"
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
	ExcludeAfter       time.Duration `koanf:"exclude_after"` // an alert that lasts so long leaves its samples out of the band …
	ExcludeFor         time.Duration `koanf:"exclude_for"`   // … those of its first ExcludeFor; later ones are learned
	Corroborate        bool          `koanf:"corroborate"`

	TTFTLimit map[probe.Size]Limit `koanf:"ttft_limit"`
	TPOTLimit map[probe.Size]Limit `koanf:"tpot_limit"`
}

// DefaultRule returns the balanced preset.
func DefaultRule() Rule {
	return Rule{Preset: "balanced", Threshold: baseline.DefaultThreshold(), M: 4, N: 5, Window: time.Hour, Reprobes: 3,
		ReprobeEvery: 30 * time.Second, ResolveN: 3, ResolveFor: 10 * time.Minute, ExcludeAfter: time.Hour,
		ExcludeFor: 24 * time.Hour, Corroborate: true}
}

// Literal reports whether the rule is the user's sentence word for word.
func (r Rule) Literal() bool { return r.Threshold.Literal || r.Preset == "literal" }

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
