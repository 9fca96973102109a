package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"serin/probe/secret"
)

// NewLogger returns a logger whose every text has passed the redactor, and the level that a reload may change.
func NewLogger(w io.Writer, format string, level *slog.LevelVar, redact *Redaction) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(&redactHandler{next: slog.NewJSONHandler(w, opts), redact: redact})
	}
	return slog.New(&redactHandler{next: slog.NewTextHandler(w, opts), redact: redact})
}

// parseLevel reads debug, info, warn or error; anything else is info.
func parseLevel(s string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(s))); err != nil {
		return slog.LevelInfo
	}
	return l
}

// NewLevel returns a level that a reload may change.
func NewLevel(s string) *slog.LevelVar {
	var l slog.LevelVar
	l.Set(parseLevel(s))
	return &l
}

// redactHandler redacts messages and attribute values on their way to next.
type redactHandler struct {
	next   slog.Handler
	redact *Redaction
}

func (h *redactHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.next.Enabled(ctx, l)
}

func (h *redactHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.redact.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h *redactHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return &redactHandler{next: h.next.WithAttrs(clean), redact: h.redact}
}

func (h *redactHandler) WithGroup(name string) slog.Handler {
	return &redactHandler{next: h.next.WithGroup(name), redact: h.redact}
}

func (h *redactHandler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, h.redact.Text(v.String()))
	case slog.KindGroup:
		group := make([]any, 0, len(v.Group()))
		for _, g := range v.Group() {
			group = append(group, h.attr(g))
		}
		return slog.Group(a.Key, group...)
	case slog.KindAny:
		return slog.String(a.Key, h.redact.Text(fmt.Sprint(v.Any())))
	}
	return a
}

// Redaction is the redactor of the config in force; a reload adds the new config's and keeps the old: an old key is
// still a key.
type Redaction struct{ list syncSlice[*secret.Redactor] }

// Add makes the redaction know one more redactor.
func (r *Redaction) Add(x *secret.Redactor) { r.list.add(x) }

// Text returns s with every known secret replaced by ***.
func (r *Redaction) Text(s string) string {
	for _, x := range r.list.all() {
		s = x.Redact(s)
	}
	return s
}
