package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"serin/alert"
)

// refuses checks that path cannot be opened and that the error names it and says what.
func refuses(t *testing.T, path string, o Options, what ...string) {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err == nil {
		t.Fatalf("%q opened: %v", path, s.Close())
	}
	for _, w := range append(what, path) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestOpenMakesPrivateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "deep", "serin #1?100%.db")
	s := openAt(t, path, Options{})
	flush(t, s)
	f := func(path string, want fs.FileMode) {
		t.Helper()
		fi := must[fs.FileInfo](t)(os.Stat(path))
		if fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, fi.Mode().Perm(), want)
		}
	}
	f(filepath.Dir(path), 0o700)
	f(path, 0o600)
	f(path+"-wal", 0o600)
	f(path+"-shm", 0o600)
}

func TestPragmas(t *testing.T) {
	s := openTemp(t)
	flush(t, s)
	stored(t, s) // a reader learns of the mode with its first read
	f := func(db *sql.DB, name, want string) {
		t.Helper()
		var got string
		if err := db.QueryRowContext(context.Background(), `PRAGMA `+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q (%v), want %q", name, got, err, want)
		}
	}
	f(s.write, "journal_mode", "wal")
	f(s.write, "synchronous", "2") // FULL: a commit survives a power cut
	f(s.write, "foreign_keys", "1")
	f(s.write, "auto_vacuum", "2") // INCREMENTAL
	f(s.write, "busy_timeout", busyTimeout)
	f(s.read, "journal_mode", "wal")
	f(s.read, "query_only", "1")
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	refuses(t, dir, Options{}, "is a directory", "serin.db")
	refuses(t, filepath.Join(write("file", nil), "serin.db"), Options{}, "not a directory")
	refuses(t, write("text.db", []byte(strings.Repeat("no database, just text\n", 100))), Options{}, "not a SQLite database", "dsn")
	refuses(t, filepath.Join(dir, "none.db"), Options{ReadOnly: true}, "does not exist", "start the daemon")
	refuses(t, write("empty.db", nil), Options{ReadOnly: true}, "older schema 0")
}

// A directory in which this user may not write: for root, a part of /sys.
func TestReadOnlyDirectory(t *testing.T) {
	dir := "/sys/kernel"
	if os.Geteuid() != 0 {
		dir = t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	refuses(t, filepath.Join(dir, "serin.db"), Options{}, "create store", "write access to the directory", dir)
	refuses(t, filepath.Join(dir, "deep", "serin.db"), Options{}, "make directory", "make it by hand")
	if _, err := Lock(filepath.Join(dir, "serin.db"), "serin-1"); err == nil || !strings.Contains(err.Error(), "write access") {
		t.Errorf("lock: %v", err)
	}
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db := must[*sql.DB](t)(sql.Open("sqlite", path))
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE theirs(x)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := must[[]byte](t)(os.ReadFile(path))
	refuses(t, path, Options{}, "not serin's")
	if after := must[[]byte](t)(os.ReadFile(path)); string(after) != string(before) {
		t.Error("another program's file was changed")
	}
}

// made closes a store with some thousand samples and returns its path.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serin.db")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	var c alert.Change
	for i := range 3000 {
		c.Records = append(c.Records, record(plain("gw-eu", i)))
	}
	commit(t, s, c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTruncatedFile(t *testing.T) {
	f := func(keep int64) {
		t.Helper()
		path := made(t)
		if err := os.Truncate(path, keep); err != nil {
			t.Fatal(err)
		}
		refuses(t, path, Options{}, "damaged", "restore a backup")
		refuses(t, path, Options{ReadOnly: true}, "damaged")
	}
	f(200_000)
	f(4096)
	f(3000)
}

// Pages overwritten in the middle of the samples: history is read around them, and says what is left out; commits go on.
func TestCorruptPage(t *testing.T) {
	path := made(t)
	var said bytes.Buffer
	f := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	if _, err := f.WriteAt([]byte(strings.Repeat("garbage!", 40_000)), 60*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path, Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
	list := collect(t, s.History(t.Context(), "gw-eu/chat/short", t0))
	first, last := plain("gw-eu", 0).Time, plain("gw-eu", 2999).Time
	if n := len(list); n < 1000 || n > 2990 || !list[0].Sample.Time.Equal(first) || !list[n-1].Sample.Time.Equal(last) {
		t.Errorf("%d of 3000 samples are read around the damage", n)
	}
	for i := 1; i < len(list); i++ {
		if !list[i].Sample.Time.After(list[i-1].Sample.Time) {
			t.Fatalf("sample %d is read twice", i)
		}
	}
	if text := said.String(); !strings.Contains(text, "samples are left out") || !strings.Contains(text, "gw-eu/chat/short") {
		t.Errorf("log %q", text)
	}
	flush(t, s)
}

func TestReadOnlyStore(t *testing.T) {
	path := made(t)
	s := openAt(t, path, Options{ReadOnly: true})
	if got := len(collect(t, s.Samples(t.Context(), Query{}))); got != 3000 {
		t.Errorf("%d samples", got)
	}
	_, _, imported := s.Import(t.Context(), sequence(plain("gw-eu", 0)))
	for _, err := range []error{s.Commit(t.Context(), bare(plain("gw-eu", 0))), s.Prune(t.Context(), t0), imported} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("error %v", err)
		}
	}
	if ok, err := s.Healthy(); !ok || err != nil {
		t.Errorf("healthy %v, %v", ok, err)
	}
}
