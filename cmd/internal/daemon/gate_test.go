package daemon

import (
	"testing"
	"time"

	"serin/probe"
)

func TestGate(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	gw := &probe.Target{Name: "gw", Provider: "p"}
	sibling := &probe.Target{Name: "gw2", Provider: "p"}
	other := &probe.Target{Name: "x", Provider: "q"}
	var g *gate
	allow := func(t2 *probe.Target, after time.Duration, want string) {
		t.Helper()
		reason, ok := g.allow(t2, now.Add(after))
		if reason != want || ok != (want == "") {
			t.Errorf("%s after %s: %q %v, want %q", t2.Name, after, reason, ok, want)
		}
	}
	see := func(o probe.Outcome, wait, after time.Duration) {
		g.observe(gw, &probe.Sample{Outcome: o, RetryAfter: wait}, now.Add(after))
	}

	g = newGate()
	allow(gw, 0, "")
	see(probe.RateLimited, time.Minute, 0)
	allow(gw, 59*time.Second, "retry_after")
	allow(sibling, 59*time.Second, "")
	allow(gw, time.Minute, "")

	g = newGate()
	see(probe.Auth, 0, 0)
	allow(gw, time.Minute, "auth")
	allow(sibling, time.Minute, "auth") // one credential
	allow(other, time.Minute, "")
	allow(sibling, 15*time.Minute, "") // one canary of the credential looks again
	allow(gw, 15*time.Minute+time.Second, "auth")
	allow(gw, 30*time.Minute, "")
	g.unsent(gw, now.Add(30*time.Minute)) // the budget said no: another canary may look
	allow(sibling, 30*time.Minute+time.Second, "")
	g.unsent(gw, now.Add(30*time.Minute)) // not its turn any more
	allow(gw, 31*time.Minute, "auth")
	see(probe.OK, 0, 32*time.Minute)
	allow(gw, 33*time.Minute, "")

	g = newGate()
	see(probe.Quota, 0, 0)
	allow(gw, time.Minute, "quota")
	g.reset()
	allow(gw, time.Minute, "")
}
