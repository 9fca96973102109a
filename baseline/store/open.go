package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
)

// application marks a SQLite file as serin's ("srin").
const application = 0x7372696e

// Open opens the store at path, making directory (0700) and file (0600) where they are missing and migrating an older
// schema. Errors name the path and the fix; a file of a newer serin gives a *SchemaError. ctx bounds the opening only.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	steps, err := embedded()
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, steps, defaultLimits())
}

func open(ctx context.Context, path string, o Options, steps []migration, l limits) (*Store, error) {
	full, err := resolve(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: full, opt: o.withDefaults(), thaw: thaw{path: full + ".lock"}}
	s.log = s.opt.Log
	if err := errors.Join(interrupted(full), prepareFile(full, o.ReadOnly)); err != nil {
		return nil, err
	}
	if err := s.connect(ctx, steps); err != nil {
		return nil, errors.Join(err, s.disconnect())
	}
	if !o.ReadOnly {
		if err := s.watchFiles(ctx); err != nil {
			return nil, errors.Join(err, s.disconnect())
		}
		s.w = startWriter(s, l)
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Retention <= 0 {
		o.Retention = DefaultRetention
	}
	return o
}

// prepareFile makes directory and file. It never opens a file that is there: closing any descriptor of it would drop the
// locks that SQLite holds on it in this process.
func prepareFile(path string, readOnly bool) error {
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		return fmt.Errorf("store %q is a directory: let [store] dsn name a file in it, such as %q", path, filepath.Join(path, "serin.db"))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open store %q: %w: check that every directory on the way is one and may be entered", path, errors.Unwrap(err))
	case readOnly:
		return fmt.Errorf("store %q does not exist: start the daemon once, or name another file with [store] dsn", path)
	}
	return createFile(path)
}

func createFile(path string) error {
	if err := makeDir(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("create store %q: %w: give this user write access to the directory %q, or let [store] dsn name another place",
			path, errors.Unwrap(err), filepath.Dir(path))
	}
	return f.Close()
}

func makeDir(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make directory of store %q: %w: make it by hand, or let [store] dsn name a place that this user may write", path, err)
	}
	return nil
}

// connect opens the readers, looks at whose file it is before anything touches it, and then opens the writer.
func (s *Store) connect(ctx context.Context, steps []migration) (err error) {
	if !s.opt.ReadOnly {
		if err := ownLog(ctx, s.path); err != nil {
			return err
		}
	}
	if s.read, err = guardedPool(s.path, s.readDSN(), s.mayRead, readers); err != nil {
		return err
	}
	have, err := s.identify(ctx)
	if err != nil {
		return err
	}
	if have > len(steps) {
		return s.tooNew(ctx, have, len(steps))
	}
	if s.opt.ReadOnly {
		if have < len(steps) {
			return fmt.Errorf("store %q has the older schema %d: start the daemon of this version once, so that it migrates the file to %d",
				s.path, have, len(steps))
		}
		return s.whole(ctx)
	}
	if have > 0 { // a damaged file is left as it is
		if err := s.whole(ctx); err != nil {
			return err
		}
	}
	if s.write, err = guardedPool(s.path, s.writeDSN(), s.mayWrite, 1); err != nil {
		return err
	}
	return s.migrate(ctx, have, steps)
}

func (s *Store) disconnect() error {
	var errs []error
	for _, db := range []*sql.DB{s.write, s.read} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// readers is how many connections read at once.
const readers = 4

func pool(path, dsn string, size int) (*sql.DB, error) { return guardedPool(path, dsn, nil, size) }

func guardedPool(path, dsn string, check func(context.Context, connection) error, size int) (*sql.DB, error) {
	connector, err := newConnector(dsn, check)
	if err != nil {
		return nil, explain(path, err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

func (s *Store) readDSN() string {
	mode := "rw" // a reader of a WAL file keeps its place in the shared index beside it
	if s.opt.ReadOnly {
		mode = "ro"
	}
	return fileURI(s.path, url.Values{"mode": {mode}, "_busy_timeout": {"5000"}, "_query_only": {"1"}})
}

// busyTimeout is how long the writer waits for another process, in ms: under limits.answer, so that a notice's commit learns
// of a foreign lock in time.
const busyTimeout = "1800"

// writeDSN: auto_vacuum must be set before the first table is made.
func (s *Store) writeDSN() string {
	return fileURI(s.path, url.Values{"mode": {"rw"}, "_busy_timeout": {busyTimeout}, "_auto_vacuum": {"2"}, "_txlock": {"immediate"},
		"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)", "journal_size_limit(4194304)", "cache_size(-8000)"}})
}

func fileURI(path string, query url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}

// identify returns the schema version of the file: 0 for a new one. It refuses a database of another program.
func (s *Store) identify(ctx context.Context) (version int, err error) {
	var app, tables int
	err = s.read.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	if err != nil {
		return 0, explain(s.path, err)
	}
	if app == application {
		return version, nil
	}
	if tables > 0 || app != 0 {
		return 0, fmt.Errorf("store %q is a SQLite database, but not serin's: let [store] dsn name another file", s.path)
	}
	return 0, nil
}

// whole refuses a file that is shorter than its header says; damage inside shows when it is read.
func (s *Store) whole(ctx context.Context) error {
	var pages, size int64
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT page_count FROM pragma_page_count), (SELECT page_size FROM pragma_page_size)`).
		Scan(&pages, &size)
	if err != nil {
		return explain(s.path, err)
	}
	fi, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("store %q: %w", s.path, err)
	}
	wal, err := os.Stat(s.path + "-wal")
	if err == nil && wal.Size() > 0 || fi.Size() >= pages*size {
		return nil // pages may still be in the log
	}
	return fmt.Errorf("store %q: %d bytes of %d are missing: %s", s.path, pages*size-fi.Size(), pages*size, damaged)
}
