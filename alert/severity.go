package alert

import (
	"slices"
	"time"
)

// Graver returns the higher of two severities; "" is below all.
func Graver(a, b Severity) Severity {
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

// aloneFor is how long a single canary must have been slow before it pages beside a target that is judged as a whole. Chance makes
// one of nine canaries slow for a while: most of such alerts are over by then.
const aloneFor = 30 * time.Minute

// ConfirmAlone returns when a canary on a slow schedule is probed again after it was slow first, so that it is known by aloneFor
// whether that lasts; none where its own runs say so.
func ConfirmAlone(began time.Time, interval time.Duration) []time.Time {
	if interval <= rareInterval {
		return nil
	}
	return []time.Time{began.Add(aloneFor / 2), began.Add(aloneFor)}
}

// Surroundings are what a severity depends on beside the alert itself: what else fires on its target.
type Surroundings struct {
	Canaries int  // of the target
	Down     int  // of them, those whose timeouts or errors fire
	Judged   bool // the target is judged as a whole in the alert's metric: a canary slow alone is borne out, or not
	Grown    bool // every canary of the target has a whole window of history
	Whole    bool // the target as a whole fires in the alert's metric: that alert speaks for its canaries
}

// SeverityOf returns the severity of an alert that fires.
func SeverityOf(a Alert, s Surroundings) Severity {
	switch {
	case a.Kind == KindNoData:
		return Critical
	case a.Kind.IsDown() && !a.WholeTarget() && 2*s.Down >= s.Canaries:
		return Critical
	case a.Kind.Metric() == "":
		return Warning
	case a.Urgent, !a.Steep.IsZero() && a.Last.At.Sub(a.Steep) >= SteepFor:
		return Critical
	case a.WholeTarget() && !s.Grown:
		return Info
	case !a.WholeTarget() && s.Judged && !a.Fixed && (s.Whole || a.State == StateRecovering || a.LastBreach.Sub(a.FirstBreach) < aloneFor):
		return Info
	}
	return Warning
}
