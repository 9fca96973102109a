package alert

// Why an alert ended other than by good checks: Alert.Reason of a resolved one. Nothing recovered then, and its message says so.
const (
	EndRemoved   = "removed from the config"
	EndAccepted  = "accepted as normal" // by Alert.By, the level is Alert.Accepted
	EndRelearned = "the last days are like this now"
	EndSpec      = "the config changed what is measured"
	EndReset     = "history reset"
	EndLearning  = whyLearning // the band is gone, so that nothing can be compared
)

// Recovered reports whether a resolved alert ended because its checks were good again.
func (a Alert) Recovered() bool {
	switch a.Reason {
	case EndRemoved, EndAccepted, EndRelearned, EndSpec, EndReset, EndLearning:
		return false
	}
	return true
}
