package alert

import (
	"slices"
	"time"
)

// graver returns the higher of two severities.
func graver(a, b Severity) Severity {
	if rankOf(b) > rankOf(a) {
		return b
	}
	return a
}

func rankOf(s Severity) int { return slices.Index([]Severity{Info, Warning, Critical}, s) }

// SteepRatio held for SteepFor makes a drift critical.
const (
	SteepRatio = 3
	SteepFor   = 15 * time.Minute
)

// Surroundings are what a severity depends on beside the alert itself: what else fires on its target.
type Surroundings struct {
	Canaries int           // of the target
	Down     int           // of them, those whose timeouts or errors fire
	Judged   bool          // the target is judged as a whole in the alert's metric: a canary slow alone is borne out, or not
	Firing   bool          // … and that whole-target alert fires
	Grown    bool          // every canary of the target has a whole window of history
	Interval time.Duration // of the alert's canary, or of the target's fastest
	Now      time.Time
}
