package store

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"serin/alert"
)

// SilenceQuery selects silences. Zero fields select all: those that were in force at some time in [Since, Until), or are
// planned for it.
type SilenceQuery struct {
	ID           string
	Since, Until time.Time
	Limit        int // the newest so many; 0 = all
}

// Silences returns the silences that q selects, by their beginning.
func (s *Store) Silences(ctx context.Context, q SilenceQuery) ([]alert.Silence, error) {
	w := where{}
	w.text("id", q.ID)
	if !q.Since.IsZero() {
		w.and("ends >= ?", nanos(q.Since))
	}
	if !q.Until.IsZero() {
		w.and("starts < ?", nanos(q.Until))
	}
	return bodies[alert.Silence](ctx, s, w.newest("silence", "starts, id", q.Limit), w.args)
}

// MarkQuery selects marks. Zero fields select all; Since is included, Until is not.
type MarkQuery struct {
	Target       string // those that concern it; "" = all
	Since, Until time.Time
	Limit        int // the newest so many, before Target is looked at; 0 = all
}

// Marks returns the marks that q selects, by time.
func (s *Store) Marks(ctx context.Context, q MarkQuery) ([]alert.Mark, error) {
	w := where{}
	w.times("at", q.Since, q.Until)
	list, err := bodies[alert.Mark](ctx, s, w.newest("mark", "at, id", q.Limit), w.args)
	if q.Target != "" {
		list = slices.DeleteFunc(list, func(m alert.Mark) bool { return !m.Concerns(q.Target) })
	}
	return list, err
}

// restoredMarks is how many marks a start finds again.
const restoredMarks = 10_000

func (s *Store) restoreSilences(ctx context.Context, snap *alert.Snapshot) (err error) {
	if snap.Silences, err = s.Silences(ctx, SilenceQuery{}); err != nil {
		return err
	}
	snap.Marks, err = s.Marks(ctx, MarkQuery{Limit: restoredMarks})
	return err
}

func silencePut(log *slog.Logger, x alert.Silence) *put {
	body := encode(log, x)
	return &put{`INSERT OR REPLACE INTO silence(id, starts, ends, body) VALUES (?,?,?,?)`, []any{x.ID, nanos(x.Starts), nanos(x.Ends), body},
		"silence " + x.ID, len(body)}
}

func markPut(log *slog.Logger, m alert.Mark) *put {
	body := encode(log, m)
	return &put{`INSERT OR REPLACE INTO mark(id, at, body) VALUES (?,?,?)`, []any{m.ID, nanos(m.At), body}, "mark " + m.ID, len(body)}
}
