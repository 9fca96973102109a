package probe

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/prompt"
)

const ms = time.Millisecond

// okTokens is the middle of the normal script: a token after 50 ms and nine more 10 ms apart.
func okTokens() []step {
	return steps(sleep(50*ms), tok("a"), times(9, sleep(10*ms), tok("b")))
}

func okScript() []step { return steps(role(), okTokens(), fin("stop"), usage(10), done(), end()) }

func testCanary() *Canary {
	t := DefaultTarget()
	t.Name, t.BaseURL, t.Model = "gw", "http://gw.test/v1", "m"
	return &Canary{Target: &t, Scene: &Scene{Name: "chat"}, Size: Short, MaxTokens: 4096,
		Prompts: []prompt.Prompt{{ID: "p", User: "Why is the sky blue?"}}}
}

// probeOnce sends one probe of c against srv in virtual time.
func probeOnce(t *testing.T, srv *server, c *Canary) (s Sample) {
	t.Helper()
	s, _ = probeDiary(t, srv, c)
	return s
}

func probeDiary(t *testing.T, srv *server, c *Canary) (s Sample, d *Diary) {
	t.Helper()
	d = &Diary{WantText: true}
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Version: "1.2", Dial: srv.dial})
		defer p.Close()
		var err error
		if s, err = p.Do(t.Context(), Shot{Canary: c, Diary: d}); err != nil {
			t.Fatal(err)
		}
	})
	return s, d
}

// wantSpan checks a span exactly; a negative want means unknown.
func wantSpan(t *testing.T, name string, got Span, want time.Duration) {
	t.Helper()
	if want < 0 {
		if got.Known {
			t.Errorf("%s = %v, want none", name, got.D)
		}
		return
	}
	if !got.Known || got.D != want {
		t.Errorf("%s = %v (known %v), want %v", name, got.D, got.Known, want)
	}
}

func wantOutcome(t *testing.T, s Sample, o Outcome, reason string) {
	t.Helper()
	if s.Outcome != o || !strings.Contains(s.Reason, reason) {
		t.Errorf("outcome %s (%q), want %s (%q)", s.Outcome, s.Reason, o, reason)
	}
}
