package probe

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/fakellm"
	"serin/probe/wire"
)

// TestFakeAndProberAgree: the fake shares no code with the prober; what it sends by plan is what is measured, in every
// protocol.
func TestFakeAndProberAgree(t *testing.T) {
	for _, name := range wire.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipe := fakellm.NewPipe()
				fake := fakellm.New(fakellm.Options{Default: fakellm.Behaviour{TTFT: 300 * ms, TPOT: 20 * ms, OutputTokens: 20, Reasoning: 5}})
				srv := &http.Server{Handler: fake}
				ended := make(chan error, 1)
				go func() { ended <- srv.Serve(pipe) }()
				p := New(Options{Dial: pipe.DialContext})
				s, err := p.Do(t.Context(), Shot{Canary: speak(name)})
				if err != nil {
					t.Fatal(err)
				}
				fake.Set("", fakellm.Behaviour{TTFT: 300 * ms, TPOT: 20 * ms, OutputTokens: 20, Fault: fakellm.Fault{Kind: fakellm.Error, After: 3}})
				broken, err := p.Do(t.Context(), Shot{Canary: speak(name)})
				if err != nil {
					t.Fatal(err)
				}
				p.Close()
				if err := srv.Close(); err != nil {
					t.Error(err)
				}
				if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
				time.Sleep(time.Second) // net/http lingers on
				wantOutcome(t, s, OK, "")
				wantSpan(t, "ttft", s.TTFT, 300*ms)
				wantSpan(t, "ttfa", s.TTFA, 400*ms)
				wantSpan(t, "tpot", s.TPOT, 20*ms)
				wantSpan(t, "e2e", s.E2E, 680*ms)
				if s.OutputTokens.V != 20 || s.Chunks != 20 || s.FirstKind != "reasoning" || len(s.Flags) > 0 {
					t.Errorf("out %v, %d chunks, first %q, flags %v", s.OutputTokens, s.Chunks, s.FirstKind, s.Flags)
				}
				if broken.Family != FamilyError || broken.Side != SideServer || broken.Chunks != 3 {
					t.Errorf("broken: %s %q, %d chunks", broken.Outcome, broken.Reason, broken.Chunks)
				}
			})
		})
	}
}
