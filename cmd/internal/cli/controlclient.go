package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"serin/cmd/internal/web"
	"serin/configs"
)

// maxAnswer bounds what is read of the daemon's answer, bytes.
const maxAnswer = 16 << 20

// talk asks the running daemon over its unix socket, with body as JSON (nil = none), and reads its answer into. What the
// daemon refuses is an error with its words and the exit code of a mistake in use.
func talk(ctx context.Context, socket, method, path string, body, into any) error {
	socket, err := findSocket(socket)
	if err != nil {
		return fail(ExitUsage, err)
	}
	var send io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write order: %w", err)
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://serin"+path, send)
	if err != nil {
		return fail(ExitUsage, err)
	}
	resp, err := web.SocketClient(socket).Do(req)
	if err != nil {
		return fail(ExitUsage, fmt.Errorf("no daemon answers at %s (is serin running, as this user? --socket names another one): %w", socket, err))
	}
	defer func() { _ = resp.Body.Close() }() // read to its end below
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(raw, &said) != nil || said.Error == "" {
			said.Error = fmt.Sprintf("the daemon answered HTTP %d", resp.StatusCode)
		}
		return fail(ExitUsage, errors.New(said.Error))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read the daemon's answer (HTTP %d): %w", resp.StatusCode, err)
	}
	return nil
}

// parseMoment reads a time that lies ahead: RFC 3339, a local date and time with its zone behind it, without one in this
// machine's, or 22:00 for the next such time after now.
func parseMoment(text string, now time.Time) (time.Time, error) {
	const fix = `write RFC 3339 (2026-03-01T22:00:00+01:00), "2026-03-01 22:00 Europe/Berlin", or 22:00`
	text, zone := strings.TrimSpace(text), time.Local
	if i := strings.LastIndexByte(text, ' '); i >= 0 && (strings.Contains(text[i:], "/") || text[i+1:] == "UTC") {
		z, err := time.LoadLocation(text[i+1:])
		if err != nil {
			return time.Time{}, fmt.Errorf("there is no time zone %q: use an IANA name such as Asia/Shanghai", text[i+1:])
		}
		text, zone = strings.TrimSpace(text[:i]), z
	}
	if at, err := time.Parse("15:04", text); err == nil {
		y, m, d := now.In(zone).Date()
		next := time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, zone)
		if !next.After(now) {
			next = time.Date(y, m, d+1, at.Hour(), at.Minute(), 0, 0, zone)
		}
		return next, nil
	}
	at, err := configs.ParseInstant(text, zone)
	if err != nil {
		return at, fmt.Errorf("%w: %s", err, fix)
	}
	return at, nil
}

// parsePast reads a time as parseMoment does, but 22:00 is the last such time, and a duration is so long ago.
func parsePast(text string, now time.Time) (time.Time, error) {
	if at, err := parseSince(text, now); err == nil {
		return at, nil
	}
	at, err := parseMoment(text, now)
	if bare, _, _ := strings.Cut(strings.TrimSpace(text), " "); err == nil && len(bare) == len("22:00") && at.After(now) {
		at = at.AddDate(0, 0, -1)
	}
	return at, err
}

// writeLines writes a list as JSON, an object a line.
func writeLines[T any](w io.Writer, list []T) error {
	enc := json.NewEncoder(w)
	for _, x := range list {
		if err := enc.Encode(x); err != nil {
			return err
		}
	}
	return nil
}
