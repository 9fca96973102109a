package probe

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// spiedConn watches a server's HTTP/2 connection, decrypted: goAway closes when that frame was written.
type spiedConn struct {
	net.Conn
	goAway chan struct{}
	once   sync.Once
	head   []byte // of the frame that is being written
	rest   int    // bytes of its payload to come
}

func (c *spiedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	for p = p[:n]; len(p) > 0; {
		if c.rest > 0 {
			skip := min(c.rest, len(p))
			c.rest, p = c.rest-skip, p[skip:]
			continue
		}
		take := min(9-len(c.head), len(p))
		c.head, p = append(c.head, p[:take]...), p[take:]
		if len(c.head) == 9 {
			c.rest = int(binary.BigEndian.Uint32(c.head) >> 8)
			if http2.FrameType(c.head[3]) == http2.FrameGoAway {
				c.once.Do(func() { close(c.goAway) })
			}
			c.head = c.head[:0]
		}
	}
	return n, err
}

// endedConn closes ended when its client lets go of it: by then it has dealt with every frame that came before.
type endedConn struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

func (c *endedConn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.Conn.Close()
}

// fleet serves one address by one HTTP/2 server after the other: shutdown ends the one and the next takes over, as in a
// rolling restart. No connection is refused in between.
type fleet struct {
	url      string
	requests atomic.Int32
	conns    atomic.Int32
	handler  http.Handler

	mu      sync.Mutex
	server  *http.Server
	accepts *handed    // of server
	spied   *spiedConn // the newest connection
	serving sync.WaitGroup
}

// handed is a server's listener to which the fleet hands the connections that it accepted.
type handed struct {
	net.Listener // whose address it has
	conns        chan net.Conn
	closed       chan struct{}
	once         sync.Once
}

func (l *handed) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *handed) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func newFleet(t *testing.T, cert tls.Certificate, handler http.HandlerFunc) *fleet {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{url: "https://" + l.Addr().String()}
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		handler(w, r)
	})
	f.renew(l)
	f.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.serving.Go(func() { f.serve(c.(*tls.Conn)) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		_ = f.renew(l).Close()
		_ = f.server.Close()
		f.serving.Wait()
	})
	return f
}

// renew puts a new server in the place of the old one and returns that. Its connections are decrypted already, so that to
// it they are HTTP/2 without TLS.
func (f *fleet) renew(l net.Listener) *http.Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.server
	f.server, f.accepts = &http.Server{Handler: f.handler, Protocols: new(http.Protocols)}, &handed{Listener: l, conns: make(chan net.Conn), closed: make(chan struct{})}
	f.server.Protocols.SetUnencryptedHTTP2(true)
	s, accepts := f.server, f.accepts
	f.serving.Go(func() { _ = s.Serve(accepts) }) // ends with Close or Shutdown, which it says
	return old
}

func (f *fleet) serve(c *tls.Conn) {
	f.conns.Add(1)
	spied := &spiedConn{Conn: c, goAway: make(chan struct{})}
	if c.Handshake() != nil {
		_ = c.Close()
		return
	}
	f.mu.Lock()
	f.spied = spied
	accepts := f.accepts
	f.mu.Unlock()
	select {
	case accepts.conns <- spied:
	case <-accepts.closed:
		_ = c.Close()
	}
}

// shutdown ends the running server gracefully and returns when it has said so on its newest connection.
func (f *fleet) shutdown(t *testing.T) *spiedConn {
	t.Helper()
	f.mu.Lock()
	spied, l := f.spied, f.accepts.Listener
	f.mu.Unlock()
	old := f.renew(l)
	f.serving.Go(func() {
		if err := old.Shutdown(context.Background()); err != nil { // it waits for the streams under way
			t.Error(err)
		}
	})
	<-spied.goAway
	return spied
}

// TestB109ShutdownOfAServer: a stream that runs while its server shuts down ends well, and so does the next probe, on a
// connection of its own; a server that shuts down between two probes costs neither.
func TestB109ShutdownOfAServer(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	for _, connection := range []string{"reuse", "new"} {
		t.Run(connection, func(t *testing.T) {
			text := chat("\n")
			half := strings.Index(text, "🙂\"}}]}\n\n") + len("🙂\"}}]}\n\n")
			begun, goOn := make(chan struct{}, 8), make(chan struct{}, 8)
			f := newFleet(t, cert, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, text[:half])
				_ = http.NewResponseController(w).Flush()
				begun <- struct{}{}
				<-goOn
				_, _ = io.WriteString(w, text[half:])
			})
			c := testCanary()
			c.Target.BaseURL, c.Target.CAFile, c.Target.Connection = f.url, ca, connection
			var newest atomic.Pointer[endedConn]
			p := New(Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				newest.Store(&endedConn{Conn: c, ended: make(chan struct{})})
				return newest.Load(), err
			}})
			defer p.Close()
			do := func(during func()) Sample {
				t.Helper()
				d := &Diary{WantText: true}
				var s Sample
				var probing sync.WaitGroup
				probing.Go(func() {
					var err error
					if s, err = p.Do(t.Context(), Shot{Canary: c, Diary: d}); err != nil {
						t.Error(err)
					}
				})
				<-begun
				during()
				goOn <- struct{}{}
				probing.Wait()
				wantOutcome(t, s, OK, "")
				if d.HiddenRetries != 0 || d.Text != answerText || s.Proto != "HTTP/2.0" {
					t.Errorf("%d hidden retries, text %q, %s", d.HiddenRetries, d.Text, s.Proto)
				}
				return s
			}
			count := func(requests, conns int32, s Sample, conn string) {
				t.Helper()
				if f.requests.Load() != requests || f.conns.Load() != conns || s.Conn != conn {
					t.Errorf("%d requests over %d connections, this one %s; want %d over %d, %s",
						f.requests.Load(), f.conns.Load(), s.Conn, requests, conns, conn)
				}
			}
			s := do(func() { f.shutdown(t) })
			count(1, 1, s, "new")
			s = do(func() {})
			count(2, 2, s, "new")
			if connection == "reuse" {
				s = do(func() {})
				count(3, 2, s, "reused")
				_ = f.shutdown(t).Close()
				<-newest.Load().ended
				s = do(func() {})
				count(4, 3, s, "new")
			}
		})
	}
}
