package alert

import (
	"serin/baseline"
	"serin/probe"
)

// SpeaksFor reports whether a vote counts towards trouble of a kind. Rounds fire by what they agree on: of them all count that
// are not calm.
func (v Vote) SpeaksFor(k Kind) bool {
	switch k {
	case KindTimeout:
		return timedOut(v.Outcome)
	case KindError:
		return v.Outcome.Family() == probe.FamilyError && v.Outcome != ""
	case KindLimit:
		return v.Outcome.Family() == probe.FamilyLimit
	}
	return v.Verdict.Call == baseline.Breach || v.pooled() && v.Verdict.Call == baseline.Neither
}

// TimedOut reports whether the probe behind the numbers ran into a timeout.
func (e Evidence) TimedOut() bool { return timedOut(e.Outcome) }
