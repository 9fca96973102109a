package daemon

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// TestOwnResourcesAreSaidOnce: probes that fail and pass by turns are one alert, which ends once none has failed for a while.
func TestOwnResourcesAreSaidOnce(t *testing.T) {
	var notices []alert.Notice
	o := &ownResources{alert: &selfAlert{name: "resources", tell: func(n ...alert.Notice) { notices = append(notices, n...) }, names: func() []string { return []string{"slack"} }}}
	now := time.Unix(1_800_000_000, 0)
	lacks := &probe.Sample{Outcome: probe.Client, Reason: probe.ReasonOwnResources + ": serin is out of file descriptors"}
	passes := &probe.Sample{Outcome: probe.OK, Conn: "new"}
	o.observe(&probe.Sample{Outcome: probe.Client, Reason: "shutdown"}, now)
	o.observe(passes, now)
	if len(notices) != 0 {
		t.Fatalf("%d notices without a fault", len(notices))
	}
	for range 20 {
		now = now.Add(time.Minute)
		o.observe(lacks, now)
		o.observe(passes, now)
	}
	o.observe(passes, now.Add(resourcesCalm-1))
	if len(notices) != 1 {
		t.Fatalf("%d notices, want 1", len(notices))
	}
	o.observe(passes, now.Add(resourcesCalm))
	if len(notices) != 2 {
		t.Errorf("%d notices, want the end too", len(notices))
	}
}
