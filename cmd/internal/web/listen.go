package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// socketName is the file of the unix socket in its directory.
const socketName = "serin.sock"

// maxSocketPath is what fits into a socket address on Linux.
const maxSocketPath = 107

// listenTCP opens addr, the value of [http] key. mayBePublic says that other hosts may reach it.
func listenTCP(ctx context.Context, key, addr string, mayBePublic bool) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf(`[http] %s = %q is not host:port: write for example "127.0.0.1:9469"`, key, addr)
	}
	var conf net.ListenConfig
	l, err := conf.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("listen on %s: another program has this port: stop it (ss -ltnp shows it), or set [http] %s to a free one such as 127.0.0.1:0", addr, key)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listen on %s: ports below 1024 need a privilege that serin does not ask for: set [http] %s to a higher port", addr, key)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("listen on %s: no interface of this host has that address: set [http] %s to one that it has", addr, key)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w: check [http] %s", addr, err, key)
	}
	if !isLoopback(l.Addr()) && !mayBePublic {
		return nil, errors.Join(fmt.Errorf("[http] %s = %q can be reached by other hosts and asks nobody who they are: set token_file, or listen on 127.0.0.1, or say allow_public = true",
			key, addr), l.Close())
	}
	return l, nil
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// SocketPath returns where the unix socket lies: in the runtime directory ($RUNTIME_DIRECTORY; the first, when systemd
// names several), else in the state directory.
func SocketPath(runtimeDir, stateDir string) string {
	if list := filepath.SplitList(runtimeDir); len(list) > 0 && list[0] != "" {
		return filepath.Join(list[0], socketName)
	}
	return filepath.Join(stateDir, socketName)
}

// SocketClient returns a client whose every request goes to the daemon at the unix socket; the host of its URLs means
// nothing ("http://serin/-/reload").
func SocketClient(path string) *http.Client {
	var d net.Dialer
	return &http.Client{Timeout: reloadWithin + writeWithin, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		},
	}}
}

// socket is the unix listener; it takes its file away when it closes, if the file is still its own.
type socket struct {
	*net.UnixListener
	path string
	info fs.FileInfo
	once sync.Once
}

// Close removes the file and closes the listener.
func (s *socket) Close() error {
	s.once.Do(func() {
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.info) {
			_ = os.Remove(s.path) // a stale socket is replaced by the next start
		}
	})
	return s.UnixListener.Close()
}

// listenSocket opens path with mode 0600. A stale socket is replaced, a live one refused. The socket is made in a
// directory that is closed to others and moved to its place when its mode is right, so that nobody gets in between.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the control socket: %w: set RUNTIME_DIRECTORY to one that serin can write", err)
	}
	if err := refuseLive(ctx, path); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(dir, ".s")
	if err != nil {
		return nil, fmt.Errorf("make the control socket: %w: set RUNTIME_DIRECTORY to a directory that serin can write", err)
	}
	defer func() { _ = os.RemoveAll(private) }() // empty by then, or of no use
	made := filepath.Join(private, "s")
	if len(made) > maxSocketPath {
		return nil, fmt.Errorf("control socket %s: the path is too long for a socket: set RUNTIME_DIRECTORY to a shorter one", path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make the control socket in %s: %w: set RUNTIME_DIRECTORY to a directory on a local disk", dir, err)
	}
	l.SetUnlinkOnClose(false)
	s, err := place(l, made, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("place the control socket %s: %w", path, err), l.Close())
	}
	return s, nil
}

// place gives the socket its mode and its name.
func place(l *net.UnixListener, made, path string) (*socket, error) {
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, err
	}
	info, err := os.Lstat(made)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(made, path); err != nil {
		return nil, err
	}
	return &socket{UnixListener: l, path: path, info: info}, nil
}

// refuseLive returns an error when path is no socket, or one that a process answers on.
func refuseLive(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way of the control socket and is not a socket: move it away", path)
	}
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return nil // nobody listens: a leftover of a daemon that was killed
	}
	if err != nil {
		return fmt.Errorf("cannot tell whether a serin answers on %s: %w: stop it if so, else remove the file", path, err)
	}
	_ = conn.Close() // it only had to open
	return fmt.Errorf("another serin answers on %s: stop it first, or give this one its own RUNTIME_DIRECTORY or state directory", path)
}
