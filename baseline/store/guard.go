package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
)

// connection is what SQLite's driver gives.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// guarded asks before it lets anything reach the file.
type guarded struct {
	connection
	check func(ctx context.Context, c connection) error
}

// BeginTx implements driver.ConnBeginTx.
func (g guarded) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := g.check(ctx, g.connection); err != nil {
		return nil, err
	}
	return g.connection.BeginTx(ctx, o)
}

// ExecContext implements driver.ExecerContext.
func (g guarded) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := g.check(ctx, g.connection); err != nil {
		return nil, err
	}
	return g.connection.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (g guarded) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := g.check(ctx, g.connection); err != nil {
		return nil, err
	}
	return g.connection.QueryContext(ctx, query, args)
}

// connector opens guarded connections.
type connector struct {
	driver.Connector
	check func(ctx context.Context, c connection) error
}

// Connect implements driver.Connector.
func (n connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := n.check(ctx, nil); err != nil {
		return nil, err
	}
	c, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := c.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("connection of SQLite is a %T", c), c.Close())
	}
	return guarded{own, n.check}, nil
}

func newConnector(dsn string, check func(context.Context, connection) error) (driver.Connector, error) {
	plain, err := sqlite.NewConnector(dsn)
	if err != nil || check == nil {
		return plain, err
	}
	return connector{plain, check}, nil
}

// thaw waits until the file system takes changes. SQLite keeps the index of its log in memory that is mapped from a file: touched
// while the file system is frozen (a snapshot of the machine), it stops the thread without the runtime's knowledge, and with it in time
// the whole process. A system call may wait as long as it likes. What freezes in the milliseconds between is not covered.
type thaw struct {
	path    string
	mu      sync.Mutex
	waiting chan struct{} // closed when the touch under way has come back; nil = there is none
}

func (f *thaw) wait(ctx context.Context) error {
	f.mu.Lock()
	done := f.waiting
	if done == nil {
		done = make(chan struct{})
		f.waiting = done
		go f.touch(done)
	}
	f.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// touch sets the time of the last reading of the lock file: a change that needs no space. Whether it is refused does not matter.
func (f *thaw) touch(done chan struct{}) {
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, f.path, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_OMIT}}, 0)
	f.mu.Lock()
	f.waiting = nil
	f.mu.Unlock()
	close(done)
}

// files are those of a store that is open, as they were found: what is written to a deleted file is gone with the process, and what
// is written beside a foreign one would spoil it.
type files struct {
	path          string
	main, log, ix os.FileInfo
}

func findFiles(path string) (f files, err error) {
	f.path = path
	f.main, err = os.Stat(path)
	f.log, _ = os.Stat(path + "-wal") // nil where there is none yet: nothing to miss
	f.ix, _ = os.Stat(path + "-shm")
	return f, err
}

// lost says what became of the store's own file; nil while it is where it was.
func (f files) lost() error {
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("the file was deleted: put it back, or restart serin, which makes a new store")
	case err != nil:
		return nil // an unreadable directory says nothing about the file that is open
	case !os.SameFile(f.main, now):
		return errors.New("the file was replaced by another one, which is left alone: put it back, or stop serin and start it on the new one")
	}
	return nil
}

// logLost reports whether log or index are not where they were.
func (f files) logLost() bool {
	for suffix, had := range map[string]os.FileInfo{"-wal": f.log, "-shm": f.ix} {
		now, err := os.Stat(f.path + suffix)
		if had != nil && (errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(had, now)) {
			return true
		}
	}
	return false
}

// watchFiles remembers which files were opened, and marks the run of a daemon.
func (s *Store) watchFiles(ctx context.Context) error {
	f, err := findFiles(s.path)
	if err != nil {
		return fmt.Errorf("store %q: %w", s.path, err)
	}
	s.files.Store(&f)
	if !s.opt.Daemon {
		return nil
	}
	if err := s.markRun(ctx); err != nil {
		s.log.Warn("run not marked in the store", "path", s.path, "error", err)
	}
	return nil
}

// mayRead waits while the file system is frozen under a daemon. c is nil for a connection that is yet to be made.
func (s *Store) mayRead(ctx context.Context, c connection) error {
	if s.opt.Daemon {
		if err := s.thaw.wait(ctx); err != nil {
			return err
		}
	}
	if f := s.files.Load(); c == nil && f != nil {
		return f.lost() // a new connection would open the other file
	}
	return nil
}

// mayWrite refuses to write beside a foreign file, and to a log that nobody would find.
func (s *Store) mayWrite(ctx context.Context, c connection) error {
	f := s.files.Load()
	switch err := s.mayRead(ctx, c); {
	case err != nil || f == nil || c == nil:
		return err
	case f.lost() != nil:
		return f.lost()
	case f.logLost():
		return s.renewLog(ctx, c)
	}
	return nil
}

// renewLog makes log and index anew, once all that the old log holds is in the store's own file. It fails all the same, so that
// people are told; the next try finds all in order.
func (s *Store) renewLog(ctx context.Context, c connection) error {
	s.read.SetMaxIdleConns(0) // the log is only left when nobody else has it open
	defer s.read.SetMaxIdleConns(readers)
	for _, q := range []string{`PRAGMA wal_checkpoint(TRUNCATE)`, `PRAGMA journal_mode = DELETE`, `PRAGMA journal_mode = WAL`, `SELECT count(*) FROM meta`} {
		if err := run(ctx, c, q); err != nil {
			return fmt.Errorf("make its log anew: %w", err)
		}
	}
	f, err := findFiles(s.path)
	if err != nil {
		return fmt.Errorf("make its log anew: %w", err)
	}
	s.files.Store(&f)
	return fmt.Errorf("its log was deleted or replaced while it was open: what it held is kept, and it is made anew; find out who deletes files in %q", filepath.Dir(s.path))
}

// run steps through a query and drops its rows.
func run(ctx context.Context, c connection, query string) error {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(row)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
