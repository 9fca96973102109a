package app

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

// socketPost posts to the running daemon over its unix socket.
func socketPost(ctx context.Context, socket, path string) (body string, status int, err error) {
	if socket, err = socketPath(socket); err != nil {
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
