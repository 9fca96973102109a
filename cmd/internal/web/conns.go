package web

import (
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Bounds of the connections of one listener. They leave most of the process's file descriptors to probes, whatever clients
// do: of three listeners each takes at most an eighth of them.
const (
	maxConns   = 128
	connsShare = 8
)

// conns bounds the connections of one listener. Beyond the bound the connection that has waited longest for a request is
// closed; where none waits, the new one.
type conns struct {
	max     int
	mu      sync.Mutex
	waiting map[net.Conn]time.Time // for a request, since then
	busy    map[net.Conn]bool
}

func newConns(limit int) *conns {
	return &conns{max: limit, waiting: map[net.Conn]time.Time{}, busy: map[net.Conn]bool{}}
}

// connLimit is how many connections a listener may have where a process may have that many descriptors.
func connLimit(descriptors uint64) int {
	return int(min(maxConns, max(descriptors/connsShare, 1)))
}

// descriptors returns how many file descriptors the process may have; Go has raised the soft limit to the hard one.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxConns * connsShare
	}
	return limit.Cur
}

// track is the hook of http.Server.
func (c *conns) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, conn)
	delete(c.busy, conn)
	switch state {
	case http.StateNew:
		c.waiting[conn] = time.Now()
		c.evict()
	case http.StateIdle:
		c.waiting[conn] = time.Now()
	case http.StateActive:
		c.busy[conn] = true
	}
}

// evict closes the connection that has waited longest where there are too many; the caller holds mu.
func (c *conns) evict() {
	if len(c.waiting)+len(c.busy) <= c.max {
		return
	}
	var oldest net.Conn
	for conn, since := range c.waiting {
		if oldest == nil || since.Before(c.waiting[oldest]) {
			oldest = conn
		}
	}
	delete(c.waiting, oldest)
	_ = oldest.Close() // whoever is at its other end sees the end
}
