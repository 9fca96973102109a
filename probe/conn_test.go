package probe

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestAcksOfHTTP2AreNoRequest: what HTTP/2 answers to a server's settings goes out after the request, and before the hook
// that tells of the request's end may run.
func TestAcksOfHTTP2AreNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		defer near.Close()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		c := newMeteredConn(near)
		start := time.Now()
		write := func(n int) {
			time.Sleep(10 * ms)
			if _, err := c.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		write(400)
		write(31) // nine bytes of a frame in a TLS record
		for h2, want := range map[bool]time.Duration{true: 10 * ms, false: 20 * ms} {
			w := c.request(h2)
			if got := w.from.Sub(start); got != want || w.took(time.Now()) != Known(0) {
				t.Errorf("h2 %t: sent after %v, want %v; it took %v", h2, got, want, w.took(time.Now()))
			}
		}
	})
}
