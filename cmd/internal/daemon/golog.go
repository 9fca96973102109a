package daemon

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Bounds of what Go's own packages may log: an endpoint can make net/http print a line for each frame that it sends.
const (
	goLines  = 10  // a minute
	goLength = 300 // bytes of a line
)

// exitPanic is the exit code after a panic: an internal failure.
const exitPanic = 3

// goLog takes what Go's own packages print by package log, an endpoint's bytes among it, to our logger: redacted, at level
// debug, and only so many lines a minute.
type goLog struct {
	log    *slog.Logger
	redact func(string) string

	mu      sync.Mutex
	minute  time.Time
	lines   int // of this minute
	dropped int
}

// LogGo has package log print through our logger.
func LogGo(to *slog.Logger, redact func(string) string) {
	log.SetFlags(0)
	log.SetOutput(&goLog{log: to, redact: redact})
}

// Write logs one line. It is redacted before it is shortened, so that no half of a secret is left.
func (g *goLog) Write(line []byte) (int, error) {
	if g.log.Enabled(context.Background(), slog.LevelDebug) && g.mayLog(time.Now().Truncate(time.Minute)) {
		text := strings.TrimSpace(g.redact(string(line)))
		g.log.Debug("message of a Go package", "text", strings.ToValidUTF8(text[:min(len(text), goLength)], ""))
	}
	return len(line), nil
}

// mayLog counts a line and reports whether it is within the bound.
func (g *goLog) mayLog(minute time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.minute.Equal(minute) {
		if g.dropped > 0 {
			g.log.Debug("messages of Go packages that were not logged", "lines", g.dropped)
		}
		g.minute, g.lines, g.dropped = minute, 0, 0
	}
	g.lines++
	if g.lines > goLines {
		g.dropped++
	}
	return g.lines <= goLines
}

// panicked returns a panic as an error, with the stack; the error must pass the redactor before anybody sees it.
func panicked(value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) }

// guarded returns run with a panic in it logged, redacted, before the process ends: the runtime would print its value to
// stderr as it is.
func (d *Daemon) guarded(run func()) func() {
	return func() {
		defer func() {
			if v := recover(); v != nil {
				d.log.Error("serin ends: a part of it failed", "error", panicked(v))
				d.opt.Exit(exitPanic)
			}
		}()
		run()
	}
}
