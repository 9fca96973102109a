package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"serin/probe/secret"
)

// Limits of a connection.
const (
	headerWithin   = 5 * time.Second
	readWithin     = 10 * time.Second
	idleWithin     = 60 * time.Second
	shutdownWithin = 5 * time.Second
	maxHeader      = 16 << 10
)

// Options wire a Server to what it shows. All functions and interfaces are called from many goroutines at once; none
// may be nil.
type Options struct {
	Listen        string        // host:port; "" = no TCP
	MetricsListen string        // host:port of /metrics and health alone, on any address; "" = none
	Socket        string        // path of the unix socket, see SocketPath; "" = none
	Token         secret.Secret // may do everything
	Tokens        []Token       // of others, each with its role
	AllowPublic   bool          // a non-loopback address without a token is meant so
	ExternalURL   string        // how people reach the page; its host passes the check of Host

	Metrics      func(io.Writer)
	Alive        func() error                // of /healthz: an error when the scheduler has not turned for 60 s
	Ready        func() error                // of /readyz
	Reload       func(context.Context) error // an error lists what is wrong, a problem a line; the old config stays
	Status       func(context.Context) (Status, error)
	Order        func(context.Context, Order) ([]string, error) // the series that were changed; an error says what is wrong with the order
	Measurements Measurements
	Alerts       Alerts
	Timeline     Timeline
	Writer       Writer

	Redact func(string) string
	Log    *slog.Logger
}

// Server is serin's HTTP side.
type Server struct {
	opt     Options
	readers *readers // of lists
	doors   []entrance
	tcp     net.Addr
	scrape  net.Addr
}

// entrance is a listener with what serves it.
type entrance struct {
	listener net.Listener
	server   *http.Server
}

// New returns a Server that listens nowhere yet.
func New(o Options) *Server { return &Server{opt: o, readers: newReaders()} }

// Listen opens every address of the options, so that they are known before Run. Its errors are the user's to mend: they
// name the key and the fix. After an error nothing is open.
func (s *Server) Listen(ctx context.Context) error {
	if err := s.listen(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

func (s *Server) listen(ctx context.Context) error {
	full, scrape := s.mux(s.routes()), s.mux(s.scrapeRoutes())
	full.HandleFunc("GET /{$}", s.index)
	full.HandleFunc("/api/", s.unknown)
	for _, of := range []struct {
		key, addr   string
		mayBePublic bool
		bound       *net.Addr
		mux         *http.ServeMux
	}{
		{"listen", s.opt.Listen, s.opt.AllowPublic || len(s.tokens()) > 0, &s.tcp, full},
		// Whoever gives metrics_listen opens it on purpose, to scrapers on other hosts; with a token, they need it too.
		{"metrics_listen", s.opt.MetricsListen, true, &s.scrape, scrape},
	} {
		if of.addr == "" {
			continue
		}
		l, err := listenTCP(ctx, of.key, of.addr, of.mayBePublic)
		if err != nil {
			return err
		}
		*of.bound = l.Addr()
		s.enter(l, s.guard(doorTCP, isLoopback(l.Addr()), of.mux))
	}
	if s.opt.Socket == "" {
		return nil
	}
	l, err := listenSocket(ctx, s.opt.Socket)
	if err != nil {
		return err
	}
	s.enter(l, s.guard(doorSocket, true, full))
	return nil
}

func (s *Server) mux(routes []route) *http.ServeMux {
	m := http.NewServeMux()
	for _, rt := range routes {
		m.HandleFunc(rt.pattern, rt.handle)
	}
	return m
}

func (s *Server) enter(l net.Listener, h http.Handler) {
	s.doors = append(s.doors, entrance{l, &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerWithin,
		ReadTimeout:       readWithin,
		WriteTimeout:      writeWithin,
		IdleTimeout:       idleWithin,
		MaxHeaderBytes:    maxHeader,
		ConnState:         newConns(connLimit(descriptors())).track,
	}})
}

// Addr returns the address of Options.Listen once Listen has returned; nil when there is none.
func (s *Server) Addr() net.Addr { return s.tcp }

// MetricsAddr returns the address of Options.MetricsListen once Listen has returned; nil when there is none.
func (s *Server) MetricsAddr() net.Addr { return s.scrape }

// Run serves what Listen opened until ctx ends; then requests under way get 5 s to finish. It returns nil after an
// orderly stop, else the error of the first listener that failed; the others are stopped then.
func (s *Server) Run(ctx context.Context) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	failed := make(chan error, len(s.doors))
	var serving sync.WaitGroup
	for _, d := range s.doors {
		d.server.BaseContext = func(net.Listener) context.Context { return requests }
		serving.Go(func() {
			if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", d.listener.Addr(), err)
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.shutdown(cut)
	serving.Wait()
	return err
}

// shutdown lets requests finish, then cuts what is left.
func (s *Server) shutdown(cut context.CancelFunc) {
	limit, cancel := context.WithTimeout(context.Background(), shutdownWithin)
	defer cancel()
	var stopping sync.WaitGroup
	for _, d := range s.doors {
		stopping.Go(func() {
			if err := d.server.Shutdown(limit); err != nil {
				s.opt.Log.Warn("requests cut at stop", "address", d.listener.Addr().String(), "error", err)
				cut()
				_ = d.server.Close() // cutting: what it says of closed connections helps nobody
			}
		})
	}
	stopping.Wait()
}

// Close gives up what Listen opened when Run is not going to be called.
func (s *Server) Close() error {
	var errs []error
	for _, d := range s.doors {
		if err := d.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.doors = nil
	return errors.Join(errs...)
}
