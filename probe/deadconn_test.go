package probe

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// deafProxy stands between: after deaf is set it passes nothing on, and says nothing.
func deafProxy(t *testing.T, to string, deaf *atomic.Bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = l.Close() })
	pipe := func(dst, src net.Conn) {
		buf := make([]byte, 32<<10)
		for {
			n, err := src.Read(buf)
			if err != nil {
				_ = dst.Close()
				return
			}
			if !deaf.Load() {
				_, _ = dst.Write(buf[:n])
			}
		}
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go pipe(far, near)
			go pipe(near, far)
			context.AfterFunc(ctx, func() { _ = near.Close(); _ = far.Close() })
		}
	}()
	return l.Addr().String()
}

func TestB110DeadHTTP2Connection(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	srv := tlsServer(t, cert, true)
	var deaf atomic.Bool
	c := testCanary()
	c.Target.BaseURL = "https://" + deafProxy(t, srv.Listener.Addr().String(), &deaf)
	c.Target.CAFile, c.Target.Connection = ca, "reuse"
	p := New(Options{})
	defer p.Close()
	do := func(fresh bool) Sample {
		c.Target.FirstTokenTimeout = time.Minute
		if deaf.Load() {
			c.Target.FirstTokenTimeout = 300 * time.Millisecond
		}
		s, err := p.Do(t.Context(), Shot{Canary: c, FreshConn: fresh})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := do(false)
	wantOutcome(t, s, OK, "")
	if s = do(false); s.Outcome != OK || s.Conn != "reused" || s.Proto != "HTTP/2.0" {
		t.Fatalf("%s %q, conn %s, %s", s.Outcome, s.Reason, s.Conn, s.Proto)
	}
	deaf.Store(true)
	s = do(false)
	wantOutcome(t, s, TimeoutFirstToken, "")
	if s.Conn != "reused" {
		t.Errorf("conn %s: the label tells that a new connection is worth a try", s.Conn)
	}
	deaf.Store(false)
	s = do(true)
	wantOutcome(t, s, OK, "")
	if s.Conn != "new" {
		t.Errorf("conn %s", s.Conn)
	}
	if s = do(false); s.Outcome != OK || s.Conn != "new" {
		t.Errorf("%s over a %s connection: the dead one was kept", s.Outcome, s.Conn)
	}
}

func TestResetOfARealSocket(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for _, c := range []struct {
		sent string
		want Outcome
	}{{"", Reset}, {head, Reset}, {head + "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", Truncated}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<16))
			_, _ = io.WriteString(conn, c.sent)
			_ = conn.(*net.TCPConn).SetLinger(0) // a reset; what loopback delivered before, Linux hands out first
			_ = conn.Close()
		}()
		p := New(Options{})
		canary, d := testCanary(), &Diary{}
		canary.Target.BaseURL = "http://" + l.Addr().String()
		s, err := p.Do(t.Context(), Shot{Canary: canary, Diary: d})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		_ = l.Close()
		<-served
		wantOutcome(t, s, c.want, "reset")
		if d.Cause.Kind != "reset" {
			t.Errorf("cause %+v", d.Cause)
		}
	}
}
