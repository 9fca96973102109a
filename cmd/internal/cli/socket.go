package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"serin/cmd/internal/web"
	"serin/configs"
)

// socketPath returns where the daemon's unix socket lies: the flag's place, else the usual one.
func socketPath(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	state, err := configs.StateDir()
	if err != nil && os.Getenv("RUNTIME_DIRECTORY") == "" {
		return "", fmt.Errorf("find the control socket: %w: name it with --socket", err)
	}
	return web.SocketPath(os.Getenv("RUNTIME_DIRECTORY"), state), nil
}

// unitSocket is where the unit of this project has the socket: tried when the usual place has none, so that a root shell
// finds the service.
const unitSocket = "/run/serin/serin.sock"

// findSocket returns the socket of a running daemon.
func findSocket(flag string) (string, error) {
	path, err := socketPath(flag)
	if flag != "" || err != nil {
		return path, err
	}
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(unitSocket); err == nil {
			return unitSocket, nil
		}
	}
	return path, nil
}

// socketPost posts to the running daemon over its unix socket.
func socketPost(ctx context.Context, socket, path string) (body string, status int, err error) {
	if socket, err = findSocket(socket); err != nil {
		return "", 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://serin"+path, nil)
	if err != nil {
		return "", 0, err
	}
	resp, err := web.SocketClient(socket).Do(req)
	if err != nil {
		return "", 0, fmt.Errorf("no daemon answers at %s (is serin running, as this user? --socket names another one): %w", socket, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end below
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return string(raw), resp.StatusCode, err
}
