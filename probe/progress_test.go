package probe

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress looks at a probe in flight: role and usage are no tokens, and each token moves the instant on.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(steps(role(), sleep(100*ms), tok("a"), sleep(100*ms), tok("b"), sleep(100*ms), fin("stop"), usage(2), sleep(100*ms), done(), end()))
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		var progress Progress
		var probing sync.WaitGroup
		start := time.Now()
		probing.Go(func() {
			if s, err := p.Do(t.Context(), Shot{Canary: testCanary(), Progress: &progress}); err != nil || s.Outcome != OK {
				t.Errorf("%s %q, %v", s.Outcome, s.Reason, err)
			}
		})
		time.Sleep(50 * ms)
		if at := progress.LastToken(); !at.IsZero() {
			t.Errorf("a token at %v", at.Sub(start))
		}
		for _, want := range []time.Duration{100 * ms, 200 * ms, 200 * ms} {
			time.Sleep(100 * ms)
			if at := progress.LastToken(); at.Sub(start) != want {
				t.Errorf("after %v: the last token at %v, want %v", time.Since(start), at.Sub(start), want)
			}
		}
		probing.Wait()
	})
}
