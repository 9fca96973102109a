package fakellm

import (
	"context"
	"net"
	"sync"
)

// Pipe is an in-memory listener: what dials it by DialContext reaches the http.Server that serves it. Its connections
// belong to the bubble that made them, so that a test in virtual time needs no network. Make one with NewPipe.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

var _ net.Listener = (*Pipe)(nil)

// NewPipe returns an open Pipe.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Accept returns the server's end of the next connection, net.ErrClosed after Close.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// DialContext connects, whatever the network and address; net.ErrClosed after Close.
func (p *Pipe) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the listener; connections go on.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr returns the name of the pipe.
func (p *Pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
