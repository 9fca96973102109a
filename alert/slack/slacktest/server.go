// Package slacktest is a recording fake of the part of Slack that serin uses: chat.postMessage, chat.update, auth.test,
// uploads of files and an incoming webhook, with faults on demand. It runs on loopback or over pipes, in tests and in the demo.
package slacktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The methods that calls and faults are named by.
const (
	Post    = "chat.postMessage"
	Update  = "chat.update"
	Auth    = "auth.test"
	Webhook = "webhook"
	Ask     = "files.getUploadURLExternal"   // where a file may be put
	Put     = "upload"                       // the bytes of a file
	Share   = "files.completeUploadExternal" // the file appears in a thread
)

// Call is one request as it came, whether or not it was taken.
type Call struct {
	At     time.Time
	Method string
	Token  string // what the caller authorised itself with; "" for the webhook
	Room   string // channel name or id
	TS     string // of the message that an update edits, or that a post got
	Thread string // of the message that a post answers

	Broadcast bool // the answer is shown in the channel too

	Text   string
	Blocks json.RawMessage // nil = none
	File   []byte          // of an upload
	Taken  bool            // the message is there (or edited), even where the answer was a fault
}

// Fault is what one call gets in place of its answer. The zero Fault is no fault.
type Fault struct {
	Error  string            // ok:false with this word; for the webhook a 4xx with it as body
	Status int               // an HTTP status, with Body
	Body   string            //
	Header map[string]string // of the answer
	Delay  time.Duration     // before anything else
	Taken  bool              // the message is taken all the same
	Cut    bool              // the connection is cut without an answer
}

// Server is the fake. Make it with New; it is safe for concurrent use.
type Server struct {
	token string

	mu       sync.Mutex
	calls    []Call
	faults   map[string][]Fault
	rooms    map[string]string // name → id; nil takes every name
	scopes   string
	messages map[string]string // ts → text as it stands
	next     int

	http  *http.Server
	conns chan net.Conn
	url   string
	done  chan struct{}
}

// New returns a fake that takes token, "" = any. It listens only after Listen or Dial.
func New(token string) *Server {
	s := &Server{token: token, faults: map[string][]Fault{}, messages: map[string]string{}, scopes: "chat:write,chat:write.public", url: "http://slack.test"}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Listen serves on a free loopback port.
func (s *Server) Listen() error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the fake Slack: %w", err)
	}
	s.url = "http://" + ln.Addr().String()
	s.serve(ln)
	return nil
}

func (s *Server) serve(ln net.Listener) {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // ends with Close
	}()
}

// Dial connects to the fake over a pipe, whatever the address: for tests in virtual time.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	if s.conns == nil {
		s.conns = make(chan net.Conn)
		s.serve(&pipes{conns: s.conns, closed: make(chan struct{})})
	}
	conns := s.conns
	s.mu.Unlock()
	ours, theirs := net.Pipe()
	select {
	case conns <- theirs:
		return ours, nil
	case <-s.done:
		return nil, errors.New("fake Slack is closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the server and waits for it.
func (s *Server) Close() {
	_ = s.http.Close() // nothing to save
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// APIURL returns what [slack] api_url is set to.
func (s *Server) APIURL() string { return s.url + "/api/" }

// WebhookURL returns what the webhook URL is set to; its last part is a secret, as with Slack.
func (s *Server) WebhookURL() string { return s.url + "/services/T0/B0/hooksecret" }

// Fail has the next calls of a method meet these faults, in order.
func (s *Server) Fail(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// Rooms has the server know only these channels, name → id.
func (s *Server) Rooms(rooms map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms = rooms
}

// Scopes sets what auth.test says about the token; "" says nothing.
func (s *Server) Scopes(scopes string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// Calls returns all requests so far, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Message returns the text of a message as it stands now.
func (s *Server) Message(ts string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[ts]
}

// pipes is a listener whose connections are handed over.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
