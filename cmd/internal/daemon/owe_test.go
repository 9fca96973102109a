package daemon

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/outbox"
	"serin/baseline/store"
)

// A probe that has news goes on while the disk does not answer, and the news is neither lost nor unsent.
func TestOweDoesNotWaitForTheDisk(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "serin.db")
	st, err := store.Open(t.Context(), dsn, store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{store: st, outbox: outbox.New(outbox.Options{Journal: st})}
	other, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	d.owe(alert.Change{Told: alert.Told{Notices: []alert.Notice{{Incident: "change-1", Channel: "slack", Revision: 1, Act: alert.ActOpen, State: alert.NoticePending, Created: start}}}})
	if took := time.Since(start); took > time.Second {
		t.Errorf("waited %s for a store that is locked", took)
	}
	if n, _ := d.outbox.Pending(); n != 1 {
		t.Errorf("the outbox has %d notices, want 1", n)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st, err = store.Open(t.Context(), dsn, store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := st.Restore(t.Context())
	if err != nil || len(snap.Notices) != 1 {
		t.Errorf("on disk are %d notices, want 1: %v", len(snap.Notices), err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
