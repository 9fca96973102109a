package probe

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestB24ColdStart: the first answer after 20 s is that of a server that had to load; the next is not.
func TestB24ColdStart(t *testing.T) {
	cold := steps(role(), sleep(20*time.Second), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2))
	warm := steps(role(), sleep(50*ms), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2))
	slow := steps(role(), sleep(20*time.Second), tok("a"), sleep(10*ms), tok("b"), tail("stop", 2))
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(cold, warm, slow)
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		for i, want := range []bool{true, false, false} {
			s, err := p.Do(t.Context(), Shot{Canary: testCanary()})
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, s, OK, "")
			if s.First != (i == 0) || s.Has(ColdStart) != want {
				t.Errorf("probe %d: first %t, flags %v", i+1, s.First, s.Flags)
			}
		}
	})
}
