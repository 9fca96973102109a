package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleClientsMakeRoom: beyond the bound the connection that has waited longest is closed, and a request is answered.
func TestIdleClientsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := connLimit(descriptors())
		s := New((&fake{}).options())
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		s.enter(l, http.NotFoundHandler())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		var clients []net.Conn
		for range limit + 3 {
			client, server := net.Pipe()
			l.conns <- server
			clients = append(clients, client)
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		for i, c := range clients[:5] {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_, err := c.Read(make([]byte, 1))
			if closed := err == io.EOF; closed != (i < 3) {
				t.Errorf("connection %d: %v", i, err)
			}
		}
		last := clients[len(clients)-1]
		go func() { _, _ = io.WriteString(last, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") }()
		if resp, err := http.ReadResponse(bufio.NewReader(last), nil); err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("the newest got %v", err)
		}
		for _, c := range clients {
			_ = c.Close()
		}
		cancel()
		<-ended
	})
}

func TestConnectionsLeaveDescriptorsToProbes(t *testing.T) {
	f := func(descriptors uint64, want int) {
		t.Helper()
		if got := connLimit(descriptors); got != want {
			t.Errorf("of %d descriptors a listener takes %d, want %d", descriptors, got, want)
		}
	}
	f(256, 32)
	f(1024, 128)
	f(1<<20, 128)
	f(4, 1)
}
