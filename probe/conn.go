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
	wrote writing // the last Write
	long  writing // the last that was longer than ownFrame
}

// ownFrame is the most bytes that HTTP/2 writes on its own account, TLS included: the answers to settings and pings, and
// window updates. They come between a request's last byte and the moment at which its end is known.
const ownFrame = 64

// writing is one Write.
type writing struct {
	from time.Time // when its last write(2) began
	to   time.Time // when it returned; before from = it has not
}

// took returns how long the write lasted until now at the most: its bytes left at some instant within.
func (w writing) took(now time.Time) Span {
	if !w.to.Before(w.from) {
		now = w.to
	}
	return since(w.from, now)
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
	long := len(p) > ownFrame
	begins := func() { c.writing(long, func(w *writing) { w.from = time.Now() }) }
	defer c.writing(long, func(w *writing) { w.to = time.Now() })
	if c.sock != nil && len(p) > 0 {
		return c.sock.write(p, begins)
	}
	begins()
	return c.Conn.Write(p)
}

func (c *meteredConn) writing(long bool, note func(*writing)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	note(&c.wrote)
	if long {
		c.long = c.wrote
	}
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

// read returns the last read.
func (c *meteredConn) read() reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// request returns the last write that a request can have made.
func (c *meteredConn) request(h2 bool) writing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h2 {
		return c.long
	}
	return c.wrote
}
