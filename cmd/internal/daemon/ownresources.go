package daemon

import (
	"strings"
	"sync"
	"time"

	"serin/probe"
)

// resourcesCalm is how long no probe may lack anything before the alert about it ends: near a limit some probes pass.
const resourcesCalm = 10 * time.Minute

// ownResources tells people once that this machine lacks what probes need: descriptors, ports, memory, a permission.
type ownResources struct {
	alert *selfAlert

	mu   sync.Mutex
	last time.Time // of the latest probe that lacked something
}

// observe takes in a finished probe.
func (o *ownResources) observe(s *probe.Sample, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case s.Outcome == probe.Client && strings.HasPrefix(s.Reason, probe.ReasonOwnResources):
		o.last = now
		o.alert.begin("serin cannot send all its probes: this machine lacks resources", s.Reason,
			"no endpoint is blamed for these probes: they vote nothing and enter no band")
	case s.Conn != "" && now.Sub(o.last) >= resourcesCalm:
		o.alert.end("serin can send its probes again")
	}
}
