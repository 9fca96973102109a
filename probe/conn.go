package probe

import (
	"net"
	"sync"
	"time"
)

// stampTolerance is how far before the read before it a kernel stamp may lie and still be taken as the same instant; one
// further back shows that the wall clock was stepped.
const stampTolerance = 10 * time.Millisecond

// reading is one read of a socket: when its bytes came.
type reading struct {
	seq    int           // counts the reads of a connection
	at     time.Time     // when the bytes came: the kernel's time of receipt, or when Read returned
	back   time.Time     // when Read returned
	kernel bool          // at is the kernel's
	lag    time.Duration // back − at; 0 unless kernel
}

// meteredConn stamps each read and each write of a connection. It sits below TLS. A mutex guards its figures: with
// HTTP/2 another goroutine reads than the one that asks.
type meteredConn struct {
	net.Conn
	sock *socket // nil = no kernel stamps

	mu    sync.Mutex
	last  reading
	wrote time.Time // when the last write(2) began
	gone  time.Time // when the last Write returned
}

func newMeteredConn(c net.Conn) *meteredConn {
	now := time.Now()
	return &meteredConn{Conn: c, sock: openSocket(c), last: reading{at: now, back: now}}
}

// Read reads and stamps.
func (c *meteredConn) Read(p []byte) (int, error) {
	var n int
	var wall int64
	var err error
	if c.sock != nil && len(p) > 0 {
		n, wall, err = c.sock.read(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	if n > 0 {
		c.note(time.Now(), wall)
	}
	return n, err
}

// Write stamps and writes: each system call where the socket is ours, so that a long request's last byte is not stamped
// with its first.
func (c *meteredConn) Write(p []byte) (int, error) {
	defer c.written()
	if c.sock != nil && len(p) > 0 {
		return c.sock.write(p, c.writing)
	}
	c.writing()
	return c.Conn.Write(p)
}

func (c *meteredConn) written() {
	now := time.Now()
	c.mu.Lock()
	c.gone = now
	c.mu.Unlock()
}

// sending returns how long the last write took until now at the most: its bytes left at some instant within.
func (c *meteredConn) sending(now time.Time) Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone.After(c.wrote) {
		now = c.gone
	}
	return since(c.wrote, now)
}

func (c *meteredConn) writing() {
	now := time.Now()
	c.mu.Lock()
	c.wrote = now
	c.mu.Unlock()
}

// note records a read that returned at now; wall is the kernel's stamp in ns since 1970, 0 = none. The stamp is turned
// into an instant that keeps the monotonic clock.
func (c *meteredConn) note(now time.Time, wall int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = stamp(c.last, now, wall)
}

// stamp makes the reading that follows prev.
func stamp(prev reading, now time.Time, wall int64) reading {
	r := reading{seq: prev.seq + 1, at: now, back: now}
	if wall == 0 {
		return r
	}
	lag := time.Duration(now.UnixNano() - wall)
	at := now.Add(-lag)
	if at.Before(prev.at) && prev.at.Sub(at) <= stampTolerance {
		at = prev.at
	}
	if lag < 0 || at.Before(prev.at) {
		return r // the wall clock was stepped in between
	}
	r.at, r.lag, r.kernel = at, now.Sub(at), true
	return r
}

// state returns the last read and when the last write began.
func (c *meteredConn) state() (reading, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.wrote
}
