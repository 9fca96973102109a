//go:build linux && (amd64 || arm64 || riscv64 || ppc64le || s390x || loong64)

package probe

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestKernelStamps(t *testing.T) {
	near, far := tcpPair(t)
	warm(t, newMeteredConn(near), far)
	srv := httptest.NewServer(http.HandlerFunc(stream))
	t.Cleanup(srv.Close)
	c := testCanary()
	c.Target.BaseURL = srv.URL
	s, _ := probeLoopback(t, c)
	wantOutcome(t, s, OK, "")
	if s.Stamp != "kernel" || !s.Lag.Known || s.Lag.D < 0 || s.Lag.D > time.Second {
		t.Errorf("stamp %q, lag %v", s.Stamp, s.Lag)
	}
}

// TestKernelStampIsOlderThanTheRead: bytes that lie in the socket while the reader is busy keep their time of arrival.
func TestKernelStampIsOlderThanTheRead(t *testing.T) {
	near, far := tcpPair(t)
	c := newMeteredConn(near)
	if c.sock == nil {
		t.Fatal("no kernel stamps on a TCP socket")
	}
	warm(t, c, far)
	wrote := time.Now()
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	const idle = 60 * time.Millisecond
	for time.Since(wrote) < idle { // busy, as a loaded client is
	}
	if n, err := c.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	rd := c.read()
	if !rd.kernel || rd.lag < idle/2 || rd.at.Sub(wrote) > idle/2 {
		t.Errorf("kernel %v, lag %v, %v after the write", rd.kernel, rd.lag, rd.at.Sub(wrote))
	}
}

// warm sends bytes until the kernel stamps them, which it begins to do a moment after the first socket asks.
func warm(t *testing.T, c *meteredConn, far net.Conn) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); { // a loaded machine takes its time
		_, _ = far.Write([]byte("x"))
		if _, err := c.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if rd := c.read(); rd.kernel {
			return
		}
	}
	t.Fatal("the kernel stamps nothing")
}

func TestReadAllocatesNothing(t *testing.T) {
	near, far := tcpPair(t)
	c := newMeteredConn(near)
	buf, one := make([]byte, 64), []byte("x")
	if got := testing.AllocsPerRun(200, func() {
		_, _ = far.Write(one)
		_, _ = c.Read(buf)
	}); got != 0 {
		t.Errorf("%v allocations a read", got)
	}
}

func TestSocketEnds(t *testing.T) {
	near, far := tcpPair(t)
	c := newMeteredConn(near)
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 8)); socketKind(err) != "timeout" {
		t.Errorf("deadline: %v", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	if _, err := c.Read(make([]byte, 8)); socketKind(err) != "closed" {
		t.Errorf("end: %v", err)
	}
	_ = c.Close()
	if _, err := c.Read(make([]byte, 8)); socketKind(err) != "closed" {
		t.Errorf("closed: %v", err)
	}
	if _, err := c.Write([]byte("x")); err == nil {
		t.Error("wrote to a closed socket")
	}
}

func tcpPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}
