package alert

import (
	"time"

	"serin/baseline"
	"serin/probe"
)

// Target is one target with its canaries, as incidents and messages see it. Nothing in it changes later.
type Target struct {
	*probe.Target
	Canaries []CanaryStatus // by key; none: it left the config
}

// CanaryStatus is what the engine knows of one canary. It is a copy: nothing in it changes later.
type CanaryStatus struct {
	*probe.Canary
	Rule   Rule
	States map[Kind]State                 // every kind of the canary
	Fails  Kind                           // its newest probe failed so: timeout or error; "" = it did not
	Bands  map[probe.Metric]baseline.Band // the newest; absent before the first
	Last   time.Time                      // of the newest regular probe; zero = none
}

// Recent is what a canary's newest regular probes (about an hour) say of one metric beside an alert.
type Recent struct {
	Values   []float64     // seconds, oldest first; NaN = a failed probe
	Since    float64       // median since the trouble began, seconds; 0 = none
	Connect  BeforeAfter   // TCP connect time, seconds
	Cached   BeforeAfter   // cached input tokens
	Buffered bool          // the probes since are flagged buffered_suspect and those before were not
	Interval time.Duration // of the canary's schedule
}

// BeforeAfter is a number since the trouble began and before it; a zero Before is not known.
type BeforeAfter struct{ Before, After float64 }

// IsDown reports whether the canary's timeouts or errors fire.
func (c CanaryStatus) IsDown() bool {
	return c.States[KindTimeout].IsFiring() || c.States[KindError].IsFiring()
}
