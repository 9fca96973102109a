package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe"
	"serin/probe/fakellm"
	"serin/probe/secret"
)

const beatToml = "allow_plain_secrets = true\n" + rigToml + `
[heartbeat]
url = "http://beat.test/ping/5f0c1d2e-4b5a"
`

// beats is a watcher that notes when it is pinged.
type beats struct {
	mu   sync.Mutex
	at   []time.Duration // since start
	from time.Time
	code int
}

func (b *beats) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Method == http.MethodGet && q.URL.Path == "/ping/5f0c1d2e-4b5a" {
		b.at = append(b.at, time.Since(b.from))
	}
	w.WriteHeader(b.code)
}

// between counts pings.
func (b *beats) between(from, to time.Duration) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.at {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// watched makes a rig whose daemon pings b.
func watchedRig(t *testing.T, b *beats) *rig {
	r := newRig(t, beatToml)
	pipe := fakellm.NewPipe()
	srv := &http.Server{Handler: b}
	go func() { _ = srv.Serve(pipe) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close() })
	r.dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if strings.HasPrefix(addr, "beat.test") {
			return pipe.DialContext(ctx, network, addr)
		}
		return r.pipe.DialContext(ctx, network, addr)
	}
	return r
}

// TestHeartbeatStopsWithTheRounds pings after each round while runs end, whatever their outcome; when one canary hangs the
// pings stop, although the daemon lives and the others go on, and they come back with it.
func TestHeartbeatStopsWithTheRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &beats{from: time.Now(), code: http.StatusOK}
		r := watchedRig(t, b)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		time.AfterFunc(30*time.Minute, func() { r.llm.Set("m", fakellm.Behaviour{Fault: fakellm.Fault{Kind: fakellm.Status}}) })
		freed := make(chan struct{})
		time.AfterFunc(150*time.Minute, func() { close(freed) })
		r.each = func(s probe.Sample) {
			if s.Size == probe.Long && time.Since(b.from) > time.Hour {
				<-freed
			}
		}
		r.run(3 * time.Hour)
		if n := b.between(0, 30*time.Minute); n < 6 || n > 10 {
			t.Errorf("%d pings while all is well, want one for each of 6 rounds and the longer canaries", n)
		}
		if n := b.between(30*time.Minute, time.Hour); n < 6 || n > 10 {
			t.Errorf("%d pings while the endpoint fails, want as many: the rounds complete", n)
		}
		if n := b.between(80*time.Minute, 150*time.Minute); n != 0 {
			t.Errorf("%d pings while a canary hangs", n)
		}
		if n := b.between(150*time.Minute, 3*time.Hour); n < 5 {
			t.Errorf("%d pings after it is free again", n)
		}
		if strings.Contains(r.log.String(), "5f0c1d2e") {
			t.Error("the log shows the URL")
		}
	})
}

// TestHeartbeatRefused counts a watcher that says no, once in the log, without its URL.
func TestHeartbeatRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &beats{from: time.Now(), code: http.StatusNotFound}
		r := watchedRig(t, b)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.run(time.Hour)
		if n := strings.Count(r.log.String(), "heartbeat not taken"); n != 1 || !strings.Contains(r.log.String(), "HTTP 404") || strings.Contains(r.log.String(), "5f0c1d2e") {
			t.Errorf("log says it %d times:\n%s", n, r.log.String())
		}
	})
}

func TestPingHidesTheURL(t *testing.T) {
	to, err := secret.FromValue("url", "http://beat.test/ping/5f0c1d2e")
	if err != nil {
		t.Fatal(err)
	}
	broken := heartbeatClient(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") })
	if err := ping(t.Context(), broken, to); err == nil || strings.Contains(err.Error(), "5f0c") || !strings.Contains(err.Error(), "no route") {
		t.Errorf("ping: %v", err)
	}
}

// TestRoundsKnowTheNewestRun: two runs that hung come in the wrong order: the newer counts; after a clock that was set back
// the newest to come does.
func TestRoundsKnowTheNewestRun(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	hourly := func(after time.Time) time.Time { return after.Truncate(time.Hour).Add(time.Hour) }
	r := &rounds{canaries: map[string]*lastRun{"c": {at: at(0), due: hourly, grace: time.Minute}}}
	r.ended("c", at(120), at(150))
	r.ended("c", at(60), at(150))
	if !r.complete(at(150)) {
		t.Error("the run of 02:00 has ended, the next is due at 03:00: nothing is overdue")
	}
	r.ended("c", at(10), at(11))
	if r.judged = true; r.complete(at(62)) {
		t.Error("the clock was set back to 00:11: the run of 01:00 is overdue at 01:02")
	}
}

// TestHeartbeatKeepsItsURL: no redirect takes the secret URL to another host.
func TestHeartbeatKeepsItsURL(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with Referer %q", r.Referer())
	}))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer srv.Close()
	secret, err := secret.FromValue("heartbeat", srv.URL+"/planted-ping-id")
	if err != nil {
		t.Fatal(err)
	}
	if err := ping(t.Context(), heartbeatClient(nil), secret); err == nil || !strings.Contains(err.Error(), "302") || strings.Contains(err.Error(), "planted") {
		t.Errorf("the error is %v", err)
	}
}
