package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	lib "modernc.org/sqlite/lib"
)

// A write-ahead log that a killed daemon left is played into whatever file lies under the store's name: a file that was moved there
// meanwhile would be spoilt. So each run of a daemon leaves a mark of its own in the store's file and beside it, in PATH.lock, and a
// log is played only into a file that bears the mark of the run that wrote it.

// markRun leaves the mark of a new run. It fails where the disk is full; then the mark of the run before stays good.
func (s *Store) markRun(ctx context.Context) error {
	run := rand.Text()
	if err := rewriteHolder(s.path, func(h *Holder) { h.Runs = append(h.Runs, run) }); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, `INSERT OR REPLACE INTO meta VALUES ('run', ?)`, run); err != nil {
		return explain(s.path, err)
	}
	var busy, log, moved int
	if err := s.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved); err != nil {
		return explain(s.path, err)
	}
	if busy != 0 { // a reader keeps the mark in the log for a while: that of the run before may be in the file
		return nil
	}
	return rewriteHolder(s.path, func(h *Holder) { h.Runs = []string{run} })
}

// ownLog refuses a file whose log was written for another one, before SQLite plays it.
func ownLog(ctx context.Context, path string) error {
	runs := holder(path).Runs
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() == 0 || len(runs) == 0 {
		return nil
	}
	run, err := runOf(ctx, path)
	if slices.Contains(runs, run) || code(err) == lib.SQLITE_CORRUPT {
		return nil
	}
	return fmt.Errorf("store %q: the log %q beside it was written for another file: put that file back, or, to go on with this one, move the log and %q away",
		path, path+"-wal", path+".lock")
}

// runOf returns the mark in a file itself, whatever its log says; "" where it has none.
func runOf(ctx context.Context, path string) (run string, err error) {
	db, err := pool(path, fileURI(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}), 1)
	if err != nil {
		return "", err
	}
	err = db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'run'`).Scan(&run)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return run, errors.Join(err, db.Close())
}
