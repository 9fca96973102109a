package web

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serin/probe/secret"
)

func TestListenRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	f := func(edit func(*Options), words ...string) {
		t.Helper()
		o := (&fake{}).options()
		o.Listen = "127.0.0.1:0"
		edit(&o)
		s := New(o)
		err := s.Listen(t.Context())
		if err == nil {
			_ = s.Close()
			t.Errorf("want an error with %q", words)
			return
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("got %v, want %q in it", err, w)
			}
		}
	}
	f(func(o *Options) { o.Listen = taken.Addr().String() }, "another program has this port", "[http] listen")
	f(func(o *Options) { o.MetricsListen = taken.Addr().String() }, "another program has this port", "[http] metrics_listen")
	f(func(o *Options) { o.Listen = "9469" }, "host:port", `"9469"`)
	f(func(o *Options) { o.Listen = "192.0.2.1:0" }, "no interface", "[http] listen")
	f(func(o *Options) { o.Listen = "0.0.0.0:0" }, "token_file", "allow_public")
	f(func(o *Options) { o.Listen = ":0" }, "token_file", "allow_public")
	f(func(o *Options) { o.Socket = filepath.Join(t.TempDir(), strings.Repeat("x", 120), socketName) }, "too long", "RUNTIME_DIRECTORY")
}

func TestListenTakesPublicAddresses(t *testing.T) {
	secret, err := secret.FromValue("test", "t0ken")
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []func(*Options){
		func(o *Options) { o.AllowPublic = true },
		func(o *Options) { o.Listen, o.MetricsListen = "", "0.0.0.0:0" },
		func(o *Options) { o.Token = secret },
	} {
		o := (&fake{}).options()
		o.Listen = "0.0.0.0:0"
		edit(&o)
		s := New(o)
		if err := s.Listen(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFailedListenLeavesNothingOpen(t *testing.T) {
	o := (&fake{}).options()
	o.Listen, o.MetricsListen = "127.0.0.1:0", "nonsense"
	s := New(o)
	if err := s.Listen(t.Context()); err == nil {
		t.Fatal("want an error")
	}
	if l, err := net.Listen("tcp", s.Addr().String()); err != nil {
		t.Errorf("the first port is still held: %v", err)
	} else {
		_ = l.Close()
	}
}

func TestSocketFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", socketName)
	l, err := listenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v (%v), want a socket with 0600", info.Mode(), err)
	}
	if _, err := listenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another serin answers") {
		t.Errorf("a live socket: got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), socketName)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	l, err := listenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := listenSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("closing one took away the socket of another: %v", err)
	}
	_ = other.Close()
}

func TestSocketDoesNotReplaceAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), socketName)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(t.Context(), path); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Errorf("the file is %q (%v)", b, err)
	}
}

func TestSocketPath(t *testing.T) {
	f := func(runtimeDir, stateDir, want string) {
		t.Helper()
		if got := SocketPath(runtimeDir, stateDir); got != want {
			t.Errorf("%q, %q: got %q, want %q", runtimeDir, stateDir, got, want)
		}
	}
	f("/run/serin", "/var/lib/serin", "/run/serin/serin.sock")
	f("/run/serin:/run/other", "/var/lib/serin", "/run/serin/serin.sock")
	f("", "/var/lib/serin", "/var/lib/serin/serin.sock")
}

// TestShutdownLetsRequestsFinish holds a request open while the server stops.
func TestShutdownLetsRequestsFinish(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	o := (&fake{}).options()
	o.Listen = "127.0.0.1:0"
	o.Status = func(ctx context.Context) (Status, error) {
		close(inside)
		<-leave
		return Status{Version: "late"}, ctx.Err()
	}
	s := New(o)
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	got := make(chan reply, 1)
	go func() {
		defer close(got)
		got <- ask(t, http.DefaultClient, "GET", "http://"+s.Addr().String()+"/api/v1/status", nil)
	}()
	<-inside
	cancel(fmt.Errorf("a signal"))
	for { // until the port is closed, the stop has not begun
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	close(leave)
	want(t, "request under way", <-got, 200, "late")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("run: %v", err)
		}
	case <-time.After(2 * shutdownWithin):
		t.Error("run does not end")
	}
}

func TestRunReportsAListenerThatFails(t *testing.T) {
	o := (&fake{}).options()
	o.Listen, o.MetricsListen = "127.0.0.1:0", "127.0.0.1:0"
	s := New(o)
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = s.doors[0].listener.Close()
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), s.Addr().String()) {
		t.Errorf("got %v, want the address that failed", err)
	}
}
