package incident

import (
	"fmt"

	"serin/alert"
)

// inhibitedBy says what holds an alert back, "" for nothing: what is down inhibits what is slow or silent. The alert keeps its state.
func inhibitedBy(a alert.Alert, t alert.Target) string {
	if a.Kind.IsDown() || a.Kind == alert.KindLimit {
		return ""
	}
	down := 0
	for _, c := range t.Canaries {
		if !c.IsDown() {
			continue
		}
		down++
		switch {
		case c.Key() != a.Series:
		case c.States[alert.KindTimeout].IsFiring():
			return "timeouts of " + a.Series
		default:
			return "errors of " + a.Series
		}
	}
	if down > 0 && 2*down >= len(t.Canaries) {
		return fmt.Sprintf("timeouts or errors on %d of %d canaries", down, len(t.Canaries))
	}
	return ""
}
