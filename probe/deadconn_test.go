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
	c.Target.CAFile, c.Target.Connection, c.Target.FirstTokenTimeout = ca, "reuse", 300*time.Millisecond
	p := New(Options{})
	defer p.Close()
	do := func(fresh bool) Sample {
		s, err := p.Do(t.Context(), Shot{Canary: c, FreshConn: fresh})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := do(false)
	wantOutcome(t, s, OK, "")
	if s = do(false); s.Conn != "reused" || s.Proto != "HTTP/2.0" {
		t.Fatalf("conn %s, %s", s.Conn, s.Proto)
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
	for _, tokens := range []int{0, 1} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<16))
			if tokens > 0 {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
				time.Sleep(50 * time.Millisecond) // a real peer: let the bytes be read before the reset drops them
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}()
		c := testCanary()
		c.Target.BaseURL = "http://" + l.Addr().String()
		s, d := probeLoopback(t, c)
		_ = l.Close()
		want := Reset
		if tokens > 0 {
			want = Truncated
		}
		wantOutcome(t, s, want, "reset")
		if d.Cause.Kind != "reset" {
			t.Errorf("cause %+v", d.Cause)
		}
	}
}
