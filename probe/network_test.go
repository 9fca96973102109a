package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestB106LongHealthyStream(t *testing.T) {
	c := testCanary()
	c.Target.TotalTimeout, c.Target.StallTimeout = 60*time.Second, 5*time.Second
	s := probeOnce(t, scripted(steps(role(), times(35, tok("a"), sleep(time.Second)), tail("stop", 35))), c)
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 34*time.Second)
}

func TestB107Stall(t *testing.T) {
	s := probeOnce(t, scripted(steps(role(), times(3, sleep(10*ms), tok("a")), sleep(time.Hour))), testCanary())
	wantOutcome(t, s, TimeoutStall, "idle: no byte after 3 token events")
	wantSpan(t, "ttft", s.TTFT, 10*ms)
	wantSpan(t, "max_gap", s.MaxGap, 10*ms)
	if s.Family != FamilyTimeout || s.Chunks != 3 {
		t.Errorf("family %s, chunks %d", s.Family, s.Chunks)
	}
}

func TestB108PingsAreNoProgress(t *testing.T) {
	ping := steps(raw(": ping\n\n"), sleep(time.Second))
	s := probeOnce(t, scripted(steps(role(), tok("a"), times(600, ping...))), testCanary())
	wantOutcome(t, s, TimeoutStall, "no_progress")
}

func TestB108SlowLongLineIsProgress(t *testing.T) {
	line := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("x", 1<<20) + "\"}}]}\n\n"
	script := steps(role(), tok("a"))
	for len(line) > 0 {
		n := min(len(line), 10<<10)
		script = append(script, raw(line[:n]), sleep(time.Second))
		line = line[n:]
	}
	s := probeOnce(t, scripted(steps(script, tail("stop", 2))), testCanary())
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 102*time.Second)
}

// timeoutCases are the deadlines, one at a time and all at once (B107, B115).
func TestB115Timers(t *testing.T) {
	hang := sleep(time.Hour)
	for _, c := range []struct {
		name   string
		set    func(*Target)
		delay  time.Duration
		script []step
		want   Outcome
		reason string
		after  time.Duration
	}{
		{"connect", nil, time.Hour, nil, TimeoutConnect, "", 10 * time.Second},
		{"no head", nil, 0, steps(hang), TimeoutFirstToken, "no event", 30 * time.Second},
		{"head, no token", nil, 0, steps(role(), hang), TimeoutFirstToken, "1 events, but no token", 30 * time.Second},
		{"pings, no token", nil, 0, times(60, raw(": x\n\n"), sleep(time.Second)), TimeoutFirstToken, "no event", 30 * time.Second},
		{"idle", nil, 0, steps(role(), tok("a"), hang), TimeoutStall, "idle", 60 * time.Second},
		{"total", func(t *Target) { t.TotalTimeout = 90 * time.Second }, 0, times(100, tok("a"), sleep(time.Second)), TimeoutTotal, "after 91", 90 * time.Second},
		{"all at once", func(t *Target) {
			t.ConnectTimeout, t.FirstTokenTimeout, t.TotalTimeout = 5*time.Second, 5*time.Second, 5*time.Second
		}, 0, steps(role(), hang), TimeoutFirstToken, "", 5 * time.Second},
		{"all at once, connecting", func(t *Target) {
			t.ConnectTimeout, t.FirstTokenTimeout, t.TotalTimeout = 5*time.Second, 5*time.Second, 5*time.Second
		}, time.Hour, nil, TimeoutConnect, "", 5 * time.Second},
		{"total and idle at once", func(t *Target) {
			t.StallTimeout, t.TotalTimeout = 5*time.Second, 5*time.Second
		}, 0, steps(tok("a"), hang), TimeoutStall, "idle", 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			canary := testCanary()
			if c.set != nil {
				c.set(canary.Target)
			}
			srv := scripted(c.script)
			srv.delay = c.delay
			var s Sample
			synctest.Test(t, func(t *testing.T) {
				defer srv.stop()
				p := New(Options{Dial: srv.dial})
				defer p.Close()
				start := time.Now()
				s, _ = p.Do(t.Context(), Shot{Canary: canary})
				if took := time.Since(start); took != c.after+grace {
					t.Errorf("took %v, want %v", took, c.after+grace)
				}
			})
			wantOutcome(t, s, c.want, c.reason)
		})
	}
}

// TestDeadlineIsDecidedByTheStamp: bytes at the very deadline count, a nanosecond later they do not.
func TestDeadlineIsDecidedByTheStamp(t *testing.T) {
	for range 20 {
		s := probeOnce(t, scripted(steps(role(), sleep(30*time.Second), tok("a"), sleep(ms), tok("b"), tail("stop", 2))), testCanary())
		wantOutcome(t, s, OK, "")
		s = probeOnce(t, scripted(steps(role(), sleep(30*time.Second+1), tok("a"), tail("stop", 2))), testCanary())
		wantOutcome(t, s, TimeoutFirstToken, "")
	}
}

func TestShutdownIsOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(steps(role(), tok("a"), sleep(time.Hour)))
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		s, err := p.Do(ctx, Shot{Canary: testCanary()})
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, s, Client, "shutdown")
	})
}

func TestB102RedirectIsRefused(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := scripted(answer(status, "", "Location: https://other.test/v1?key=x"))
		s := probeOnce(t, srv, testCanary())
		wantOutcome(t, s, Redirect, "https://other.test/v1,")
		if srv.count() != 1 || srv.dials != 1 {
			t.Errorf("%d: %d requests over %d connections", status, srv.count(), srv.dials)
		}
	}
}

func TestB28Connections(t *testing.T) {
	for _, mode := range []string{"new", "reuse"} {
		synctest.Test(t, func(t *testing.T) {
			srv := scripted(okScript())
			srv.delay = 100 * ms
			defer srv.stop()
			p := New(Options{Dial: srv.dial})
			defer p.Close()
			c := testCanary()
			c.Target.Connection = mode
			first, _ := p.Do(t.Context(), Shot{Canary: c})
			second, _ := p.Do(t.Context(), Shot{Canary: c})
			fresh, _ := p.Do(t.Context(), Shot{Canary: c, FreshConn: true})
			wantSpan(t, "first ttft", first.TTFT, 150*ms)
			want, conn := 150*ms, "new"
			if mode == "reuse" {
				want, conn = 50*ms, "reused"
			}
			wantSpan(t, mode+" second ttft", second.TTFT, want)
			wantSpan(t, "warm", second.TTFTWarm, 50*ms)
			wantSpan(t, "fresh ttft", fresh.TTFT, 150*ms)
			if first.Conn != "new" || second.Conn != conn || fresh.Conn != "new" {
				t.Errorf("conn %s, %s, %s", first.Conn, second.Conn, fresh.Conn)
			}
			if !first.First || second.First {
				t.Errorf("first %v, %v", first.First, second.First)
			}
		})
	}
}

func TestReusedConnectionClosedByServerIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(okScript(), steps(cutOff()))
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		c := testCanary()
		c.Target.Connection = "reuse"
		_, _ = p.Do(t.Context(), Shot{Canary: c})
		s, _ := p.Do(t.Context(), Shot{Canary: c})
		wantOutcome(t, s, Reset, "")
		if s.Conn != "reused" || srv.count() != 2 {
			t.Errorf("conn %s, %d requests", s.Conn, srv.count())
		}
	})
}

func TestDialFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want Outcome
		kind string
	}{
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "gw.test", Err: "no such host", IsNotFound: true}}, DNS, "no_such_host"},
		{"resolver silent", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "gw.test", Err: "i/o timeout", IsTimeout: true}}, TimeoutConnect, "timeout"},
		{"other", &net.OpError{Op: "dial", Err: errors.New("boom")}, Connect, "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, c.err }})
			defer p.Close()
			d := &Diary{}
			s, err := p.Do(t.Context(), Shot{Canary: testCanary(), Diary: d})
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, s, c.want, "")
			if d.Cause.Kind != c.kind {
				t.Errorf("cause %+v", d.Cause)
			}
		})
	}
}

func TestB96RetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	date := now.Format(http.TimeFormat)
	f := func(want time.Duration, known bool, lines ...string) {
		t.Helper()
		h := http.Header{}
		for i := 0; i < len(lines); i += 2 {
			h.Set(lines[i], lines[i+1])
		}
		got, ok := retryAfter(h, 0, now)
		if got != want || ok != known {
			t.Errorf("%v: %v %v, want %v %v", lines, got, ok, want, known)
		}
	}
	f(0, true, "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")
	f(30*time.Second, true, "Retry-After", now.Add(30*time.Second).Format(http.TimeFormat), "Date", date)
	f(1500*ms, true, "Retry-After", "1.5")
	f(0, true, "Retry-After", "-1")
	f(0, false, "Retry-After", "abc")
	f(0, false, "Retry-After", "")
	f(0, false)
	f(250*ms, true, "Retry-After-Ms", "250", "Retry-After", "9")
	f(250*ms, true, "X-Ms-Retry-After-Ms", "250")
	f(6*time.Minute, true, "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6m0s")
	f(0, false, "X-Ratelimit-Remaining-Tokens", "5", "X-Ratelimit-Reset-Tokens", "6m0s")
	f(20*time.Second, true, "Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", "2026-01-01T12:00:20Z", "Date", date)
	f(1000*time.Hour, true, "Retry-After", "1e300")
	for _, none := range []string{"Inf", "Infinity", "-Infinity", "NaN", "1e400"} {
		f(0, false, "Retry-After", none)
		f(0, false, "Retry-After-Ms", none)
		f(0, false, "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", none)
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	s := probeOnce(t, scripted(answer(429, "", "Retry-After: 7", "X-Ratelimit-Limit-Requests: 60", "X-Request-Id: req_1")), testCanary())
	if s.RetryAfter != 7*time.Second || s.RateLimit["x-ratelimit-limit-requests"] != "60" || s.RequestID != "req_1" {
		t.Errorf("retry after %v, limits %v, id %q", s.RetryAfter, s.RateLimit, s.RequestID)
	}
	s = probeOnce(t, scripted(answer(429, "", "Retry-After: 86400")), testCanary())
	if s.RetryAfter != time.Hour {
		t.Errorf("retry after %v, want the clamp", s.RetryAfter)
	}
}
