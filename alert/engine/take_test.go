package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// queue is a journal before a full disk: what must be on disk fails, what may wait in memory does not.
type queue struct {
	*ledger
	full bool
}

func (q *queue) Commit(ctx context.Context, c Change) error {
	_ = q.ledger.Commit(ctx, c)
	if q.full && c.waits() {
		return errors.New("disk full")
	}
	return nil
}

// TestStoreIsWrittenAgainWhenItIs holds that the log says so only once something has reached the disk.
func TestStoreIsWrittenAgainWhenItIs(t *testing.T) {
	r := newRig(t, target1("gw", 5*time.Minute, DefaultRule(), probe.Short)...)
	var said strings.Builder
	q := &queue{ledger: r.log, full: true}
	r.opt.Journal, r.opt.Log = q, slog.New(slog.NewTextHandler(&said, nil))
	r.start()
	count := func(text string, want int) {
		t.Helper()
		if got := strings.Count(said.String(), text); got != want {
			t.Errorf("%q was said %d times, want %d:\n%s", text, got, want, said.String())
		}
	}
	for range 3 {
		if _, err := r.engine.Mark(t.Context(), Mark{Text: "x", By: "kim"}, r.now); err != nil {
			t.Fatal(err)
		}
		r.run(10 * time.Minute)
	}
	count("alerting goes on from memory", 1)
	count("written again", 0)
	q.full = false
	if _, err := r.engine.Mark(t.Context(), Mark{Text: "x", By: "kim"}, r.now); err != nil {
		t.Fatal(err)
	}
	count("written again", 1)
}
