package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/secret"
)

// A first token that carries the stamp of the whole answer is a stamp taken too late.
func TestB16FirstTokenIsNotTheWholeAnswer(t *testing.T) {
	s := probeOnce(t, scripted(okScript()), testCanary())
	wantSpan(t, "ttft", s.TTFT, 50*ms)
	wantSpan(t, "e2e", s.E2E, 140*ms)
	if s.TTFT.D >= s.E2E.D {
		t.Errorf("ttft %s, e2e %s", s.TTFT.D, s.E2E.D)
	}
}

// No compression is asked for, so that a middleware has no reason to hold tokens back.
func TestB31NothingIsAskedToBeCompressed(t *testing.T) {
	srv := scripted(okScript())
	if s := probeOnce(t, srv, testCanary()); s.Has(Gzip) {
		t.Error("a plain answer carries the flag gzip")
	}
	if got := srv.requests[0].Header.Get("Accept-Encoding"); got != "identity" {
		t.Errorf("Accept-Encoding %q", got)
	}
}

// Connection set-up is inside ttft and outside ttft_warm, for every target alike.
func TestB32OneRuleForSetUp(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		srv := scripted(okScript())
		srv.delay = 100 * ms
		c := testCanary()
		c.Target.Name = name
		s := probeOnce(t, srv, c)
		wantSpan(t, name+" ttft", s.TTFT, 150*ms)
		wantSpan(t, name+" ttft_warm", s.TTFTWarm, 50*ms)
	}
}

// Tokens that were generated without a word after the last text are counted but were not watched: no pace is made of them.
func TestUnseenTailGivesNoPace(t *testing.T) {
	f := func(name string, tail time.Duration, tokens int, want string) {
		t.Helper()
		s := probeOnce(t, scripted(steps(role(), sleep(50*ms), tok("a"), times(9, sleep(10*ms), tok("b")), sleep(tail), fin("stop"), usage(tokens), done(), end())), testCanary())
		if s.TPOTReason != want || s.TPOT.Known != (want == "") {
			t.Errorf("%s: tpot %v, reason %q, want %q", name, s.TPOT, s.TPOTReason, want)
		}
	}
	f("held back", 2*time.Second, 100, "unseen_tail")
	f("several tokens an event", 0, 100, "")
	f("a little later", 200*ms, 100, "")
	f("every token seen", 2*time.Second, 10, "")
}

// The nonce stands at the very front and is another one each time; a byte-identical instant answer is a cache's.
func TestB33ResponseCache(t *testing.T) {
	srv := scripted(okScript())
	synctest.Test(t, func(t *testing.T) {
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		for range 2 {
			if _, err := p.Do(t.Context(), Shot{Canary: testCanary()}); err != nil {
				t.Fatal(err)
			}
		}
	})
	front := func(body string) string {
		_, rest, _ := strings.Cut(body, `"content":"`)
		return rest[:8]
	}
	if a, b := front(srv.bodies[0]), front(srv.bodies[1]); a == b {
		t.Errorf("both prompts begin with %q", a)
	}
	slow, fast := say("m", "", "same", 400*ms, 10), steps(role(), sleep(ms), tok("same"), times(9, tok("b")), fin("stop"), usage(10), done(), end())
	if got := changes(t, testCanary(), -1, slow, fast); got[1] != "same_answer " {
		t.Errorf("flags of an instant identical answer: %q", got[1])
	}
}

// A key file ends in a line end; what goes out is the bare key, and what no header can carry is refused without showing it.
func TestB103KeyFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sk-planted\r\n")
	key, err := secret.FromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	srv := scripted(okScript())
	c := testCanary()
	c.Target.APIKey = key
	probeOnce(t, srv, c)
	if got := srv.requests[0].Header.Get("Authorization"); got != "Bearer sk-planted" {
		t.Errorf("Authorization %q", got)
	}
	write("sk-planted\nsecond line")
	if _, err := secret.FromFile(path); err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("a key with a line end inside: %v", err)
	}
	write(" \n")
	if _, err := secret.FromFile(path); err == nil {
		t.Error("an empty key file is taken")
	}
}
