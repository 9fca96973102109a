package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is one thing that the scripted server does on a connection.
type step func(s *side) error

// side is the server's end of one connection.
type side struct {
	conn    net.Conn
	gone    <-chan struct{} // closed when the test is over
	client  *scriptConn
	started bool
	chunked bool
	head    string
	req     *http.Request
	body    []byte
}

// scriptConn is the client's end; a reset makes its next read fail the way a socket's does.
type scriptConn struct {
	net.Conn
	mu    sync.Mutex
	reset bool
}

func (c *scriptConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.reset {
		return n, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return n, err
}

// server plays one script a request, the last one again and again, over in-memory connections.
type server struct {
	mu       sync.Mutex
	scripts  [][]step
	requests []*http.Request
	bodies   []string
	dials    int
	gone     chan struct{}
	delay    time.Duration // of a dial
	wrap     func(net.Conn) net.Conn
}

func scripted(scripts ...[]step) *server { return &server{scripts: scripts} }

func (s *server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	s.dials++
	delay := s.delay
	if s.gone == nil {
		s.gone = make(chan struct{}) // here, so that it belongs to the bubble
	}
	gone := s.gone
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	far, near := net.Pipe()
	client := &scriptConn{Conn: near}
	var end net.Conn = far
	if s.wrap != nil {
		end = s.wrap(far)
	}
	go s.serve(end, client, gone)
	return client, nil
}

func (s *server) serve(conn net.Conn, client *scriptConn, gone <-chan struct{}) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		side := &side{conn: conn, gone: gone, client: client, chunked: true, req: req, body: body}
		for _, st := range s.next(req, body) {
			if err := st(side); err != nil {
				return
			}
		}
	}
}

func (s *server) next(req *http.Request, body []byte) []step {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := min(len(s.requests), len(s.scripts)-1)
	s.requests = append(s.requests, req)
	s.bodies = append(s.bodies, string(body))
	return s.scripts[i]
}

// stop ends the scripts that sleep.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		close(s.gone)
		s.gone = nil
	}
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// begin returns the head of a 200 stream where none was written yet.
func (s *side) begin() string {
	if s.started {
		return ""
	}
	s.started = true
	if s.head != "" {
		return s.head
	}
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
}

func (s *side) send(b string) error {
	head := s.begin()
	if s.chunked && b != "" {
		b = fmt.Sprintf("%x\r\n%s\r\n", len(b), b)
	}
	if head != "" {
		if _, err := io.WriteString(s.conn, head); err != nil {
			return err
		}
	}
	_, err := io.WriteString(s.conn, b)
	return err
}

var errHangUp = errors.New("hang up")

func raw(b string) step { return func(s *side) error { return s.send(b) } }
func E(x string) step   { return raw("data: " + x + "\n\n") }
func tok(s string) step { return E(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s)) }
func fin(r string) step {
	return E(fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, r))
}
func usage(n int) step {
	return E(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, n))
}
func sleep(d time.Duration) step {
	return func(s *side) error {
		select {
		case <-time.After(d):
			return nil
		case <-s.gone:
			return errHangUp
		}
	}
}
func role() step { return E(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`) }
func done() step { return E("[DONE]") }

// end is the clean end of the response.
func end() step {
	return func(s *side) error {
		if head := s.begin(); head != "" {
			if _, err := io.WriteString(s.conn, head); err != nil {
				return err
			}
		}
		if !s.chunked {
			return errHangUp
		}
		_, err := io.WriteString(s.conn, "0\r\n\r\n")
		return err
	}
}

// cutOff closes the connection in the middle of the body.
func cutOff() step { return func(*side) error { return errHangUp } }

// rst resets the connection.
func rst() step {
	return func(s *side) error {
		s.client.mu.Lock()
		s.client.reset = true
		s.client.mu.Unlock()
		return errHangUp
	}
}

// head sets the response's head; without chunked the body ends with the connection.
func head(status int, chunked bool, lines ...string) step {
	return func(s *side) error {
		s.chunked = chunked
		s.head = fmt.Sprintf("HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
		if chunked {
			lines = append(lines[:len(lines):len(lines)], "Transfer-Encoding: chunked")
		} else {
			lines = append(lines[:len(lines):len(lines)], "Connection: close")
		}
		s.head += strings.Join(lines, "\r\n") + "\r\n\r\n"
		return nil
	}
}

// answer is a whole response that is no stream.
func answer(status int, body string, lines ...string) []step {
	return []step{head(status, true, lines...), raw(body), end()}
}

func steps(parts ...any) []step {
	var list []step
	for _, p := range parts {
		switch v := p.(type) {
		case step:
			list = append(list, v)
		case []step:
			list = append(list, v...)
		case func(*side) error:
			list = append(list, v)
		}
	}
	return list
}

func times(n int, list ...step) []step {
	var all []step
	for range n {
		all = append(all, list...)
	}
	return all
}
