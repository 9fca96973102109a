// Package store keeps samples, bands, alerts, incidents and the outbox in one SQLite file.
//
// One goroutine writes. It gathers changes for up to 800 ms and commits them in one transaction, at once when a notice is
// among them; readers have a pool of their own and, the file being in WAL mode, neither wait for the writer nor hold it
// up. Every commit is synced to the disk (synchronous=FULL): an alert must be on disk before its message leaves, also
// when the power fails, and one sync a batch is cheap. With NORMAL a power cut could take back what was promised.
//
// While the file cannot be written, changes wait in memory, in order, and are tried again until it heals.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"serin/alert"
)

var (
	_ alert.Journal = (*Store)(nil)
	_ alert.History = (*Store)(nil)
)

// DefaultRetention is how long samples and closed matters are kept where nothing else is asked for.
const DefaultRetention = 40 * 24 * time.Hour

// Options say how a store is opened. The zero Options are fine.
type Options struct {
	Log       *slog.Logger  // nil = no log
	Retention time.Duration // 0 = DefaultRetention
	ReadOnly  bool          // open an existing file for reading; Commit, Import and Prune fail
	Daemon    bool          // by the daemon, which holds the lock
	Version   string        // of this program: stored with the schema, so that an older binary can name what it needs

	// Zone returns the zone of a scene, whose midnight ends the day of its daily sums; nil, or a nil zone: UTC. It is called
	// by Commit and Import and must not wait.
	Zone func(scene string) *time.Location

	// OnHealth, if set, is called once when the store stops taking writes (ok false, and why) and once when it takes
	// them again. It runs on a goroutine of the store's own, one call after another, and may call Commit.
	OnHealth func(ok bool, why error)
}

// limits are the bounds of the writer; tests use smaller ones.
type limits struct {
	gather  time.Duration // how long a change without a notice waits for company
	answer  time.Duration // how long Commit waits for a notice to be on disk, and the disk may take before it counts as hung
	close   time.Duration // how long Close waits for the queue to drain
	bytes   int           // of the queue
	records int           // of the queue
	batch   int           // bytes of one transaction
}

func defaultLimits() limits {
	return limits{gather: 800 * time.Millisecond, answer: 2 * time.Second, close: 5 * time.Second,
		bytes: 64 << 20, records: 100_000, batch: 4 << 20}
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	path  string
	opt   Options
	log   *slog.Logger
	write *sql.DB // one connection; nil when read only
	read  *sql.DB
	w     *writer // nil when read only

	thaw  thaw
	files atomic.Pointer[files] // nil while it is being opened, and when read only

	closing sync.Once
	closed  error
}

// ErrReadOnly is returned by what writes on a store opened read only.
var ErrReadOnly = errors.New("store is open for reading only")

// Commit stores c as alert.Journal demands. With a notice inside it returns once c is on disk, or after at most about 2 s
// with an error while c waits in memory; while the store is known to be broken it returns that error at once. Without a
// notice it never waits for the disk. c is encoded before Commit returns: the caller may change it afterwards.
func (s *Store) Commit(ctx context.Context, c alert.Change) error {
	if s.w == nil {
		return ErrReadOnly
	}
	return s.w.commit(ctx, c)
}

// Flush returns once all that was committed before is on disk. Errors and waiting are those of Commit with a notice.
func (s *Store) Flush(ctx context.Context) error {
	if s.w == nil {
		return ErrReadOnly
	}
	return s.w.awaitAll(ctx)
}

// Look has the writer make sure that the store's files are still those that were opened. What it finds is told as a failed write is.
func (s *Store) Look() {
	if changes, _ := s.Pending(); s.w != nil && changes == 0 { // else a write looks anyway
		_, _ = s.w.enqueue(newEntry(nil, alert.Change{})) // closed: nothing to look at
	}
}

// Healthy reports whether the last write worked, and if not, why.
func (s *Store) Healthy() (bool, error) {
	if s.w == nil {
		return true, nil
	}
	return s.w.healthy()
}

// Errors returns how many writes have failed or hung since the store was opened.
func (s *Store) Errors() int {
	if s.w == nil {
		return 0
	}
	return int(s.w.failures.Load())
}

// Dropped returns how many samples (and rows of history) were given up since the store was opened, because the queue was
// full while the disk could not be written.
func (s *Store) Dropped() int {
	if s.w == nil {
		return 0
	}
	return int(s.w.dropped.Load())
}

// Pending returns how many changes wait in memory for the disk, and their size in bytes.
func (s *Store) Pending() (changes, bytes int) {
	if s.w == nil {
		return 0, 0
	}
	return s.w.pending()
}

// Size returns the bytes that the store takes on disk, its write-ahead log included.
func (s *Store) Size() int64 {
	var total int64
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if fi, err := os.Stat(s.path + suffix); err == nil {
			total += fi.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.log.Warn("store size unknown", "path", s.path+suffix, "error", err)
		}
	}
	return total
}

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.path }

// Close writes what waits in memory, for at most about 5 s, and closes the file. The error says what could not be written.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.shut() })
	return s.closed
}

func (s *Store) shut() error {
	var errs []error
	if s.w != nil {
		if err := s.w.stop(); err != nil {
			errs = append(errs, err)
			if errors.Is(err, errHung) {
				return err // closing the connection would wait for the same disk
			}
		}
		if f := s.files.Load(); f.lost() != nil && f.logLost() {
			return errors.Join(append(errs, f.lost())...) // closing would delete the log of another file
		}
		errs = append(errs, s.write.Close())
	}
	errs = append(errs, s.read.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close store %q: %w", s.path, err)
	}
	return nil
}
