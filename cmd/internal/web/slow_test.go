package web

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe"
)

// pipes is a listener of in-memory connections.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// serve runs h behind a pipe in a bubble and hands over the client's end.
func serve(t *testing.T, h http.Handler, f func(client net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		s := New((&fake{}).options())
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		s.enter(l, h)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		client, server := net.Pipe()
		l.conns <- server
		f(client)
		_ = client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestSlowHeaderIsCut(t *testing.T) {
	serve(t, http.NotFoundHandler(), func(client net.Conn) {
		begun := time.Now()
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: loc"); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, client)
		if took := time.Since(begun); took != headerWithin {
			t.Errorf("cut after %v, want %v", took, headerWithin)
		}
	})
}

func TestIdleConnectionIsClosed(t *testing.T) {
	serve(t, http.NotFoundHandler(), func(client net.Conn) {
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(client)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		begun := time.Now()
		_, _ = io.Copy(io.Discard, in)
		if took := time.Since(begun); took != idleWithin {
			t.Errorf("closed after %v, want %v", took, idleWithin)
		}
	})
}

// TestSlowReaderOfALongList takes one piece of an endless list a second, far longer than one write may take.
func TestSlowReaderOfALongList(t *testing.T) {
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := newArray(w)
		for a.add("0123456789") == nil {
		}
	})
	serve(t, endless, func(client net.Conn) {
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		begun, piece := time.Now(), make([]byte, 16<<10)
		for time.Since(begun) < 4*writeWithin { // slow, but it reads
			if _, err := client.Read(piece); err != nil {
				t.Fatalf("cut after %v: %v", time.Since(begun), err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(2 * writeWithin) // then it does not read at all, and is cut: else the rest would never end
		if rest, _ := io.ReadAll(client); len(rest) > 64<<10 {
			t.Errorf("%d bytes came after a pause of %v", len(rest), 2*writeWithin)
		}
	})
}

func TestHugeHeaderIsRefused(t *testing.T) {
	serve(t, http.NotFoundHandler(), func(client net.Conn) {
		go func() {
			_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
			for range 64 {
				if _, err := client.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
					return
				}
			}
		}()
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got status %d, want 431", resp.StatusCode)
		}
	})
}

// TestSlowReadersGiveUpTheirPlaces: readers who hold every place for long are cut, one for each list that waits.
func TestSlowReadersGiveUpTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New((&fake{samples: make([]probe.Sample, 1000)}).options())
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		s.enter(l, http.HandlerFunc(s.samples))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		ask := func() net.Conn {
			client, server := net.Pipe()
			l.conns <- server
			if _, err := io.WriteString(client, "GET /api/v1/samples HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			return client
		}
		var slow []net.Conn
		for range listsAtOnce {
			slow = append(slow, ask())
			time.Sleep(time.Second)
		}
		time.Sleep(slowAfter)
		begun := time.Now()
		client := ask()
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil || resp.StatusCode != http.StatusOK || time.Since(begun) > time.Second {
			t.Fatalf("the next list: %v after %v", err, time.Since(begun))
		}
		if rest, err := io.ReadAll(slow[0]); err != nil || bytes.HasSuffix(rest, []byte("]\n")) {
			t.Errorf("the slowest reader got all, %d bytes: %v", len(rest), err)
		}
		for _, c := range append(slow, client) {
			_ = c.Close()
		}
		cancel()
		<-ended
	})
}
