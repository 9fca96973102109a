package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// dump returns every row of every table of a file, as text.
func dump(t *testing.T, path string) (list []string) {
	t.Helper()
	db := must[*sql.DB](t)(pool(path, fileURI(path, nil), 1))
	defer db.Close()
	var tables []string
	rows := must[*sql.Rows](t)(db.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`))
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		list = append(list, tableRows(t, db, name)...)
	}
	return list
}

func tableRows(t *testing.T, db *sql.DB, table string) (list []string) {
	rows := must[*sql.Rows](t)(db.QueryContext(t.Context(), `SELECT * FROM `+table+` ORDER BY 1, 2`))
	columns := must[[]string](t)(rows.Columns())
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%s %q", table, fmt.Sprint(values...)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBackupCarriesEverything takes a copy beside an open store, and puts it in the place of one that went on.
func TestBackupCarriesEverything(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "serin.db"), filepath.Join(dir, "copy.db")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	commit(t, s, bare(plain("gw", 0), plain("gw", 1)))
	commit(t, s, trouble())
	flush(t, s)
	k := must[Kept](t)(Backup(t.Context(), path, copied))
	want := dump(t, path)
	if d := cmp.Diff(want, dump(t, copied)); d != "" || len(want) < 10 {
		t.Errorf("%d rows, copy differs (-store +copy):\n%s", len(want), d)
	}
	if fi, err := os.Stat(copied); err != nil || fi.Mode().Perm() != 0o600 || fi.Size() != k.Bytes {
		t.Errorf("copy is %v, %v; want mode 0600 and %d bytes", fi, err, k.Bytes)
	}
	commit(t, s, bare(plain("later", 2)))
	flush(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	owner := os.Geteuid()
	if owner == 0 { // root restores for a service of another user
		owner = 4242
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	went := dump(t, path)
	k = must[Kept](t)(RestoreBackup(t.Context(), copied, path, t0))
	if d := cmp.Diff(want, dump(t, path)); d != "" {
		t.Errorf("restored store differs (-then +now):\n%s", d)
	}
	if d := cmp.Diff(went, dump(t, k.Old)); d != "" || k.Old != path+".before-restore-20260301T080000Z" {
		t.Errorf("old store %q differs (-then +now):\n%s", k.Old, d)
	}
	var fi unix.Stat_t
	if err := unix.Stat(path, &fi); err != nil || int(fi.Uid) != owner {
		t.Errorf("restored store is of user %d (%v), want %d as the one before", fi.Uid, err, owner)
	}
	openAt(t, path, Options{}) // and it goes on
}

// TestBackupWhileWritten takes copies while samples are written: each is whole, and none fails a commit.
func TestBackupWhileWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "serin.db")
	s := openAt(t, path, Options{})
	commit(t, s, trouble())
	stop, done := make(chan struct{}), sync.WaitGroup{}
	done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				commit(t, s, bare(plain("gw", i)))
				if i%10 == 0 {
					commit(t, s, trouble())
				}
			}
		}
	})
	for i := range 5 {
		if _, err := Backup(t.Context(), path, filepath.Join(dir, fmt.Sprint("copy", i))); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	done.Wait()
	if s.Errors() > 0 {
		t.Errorf("%d commits failed", s.Errors())
	}
}

// TestRestoreBackupRefuses leaves the store as it is when a daemon holds it, or when the backup cannot be used.
func TestRestoreBackupRefuses(t *testing.T) {
	dir := t.TempDir()
	path, copied, newer, torn := filepath.Join(dir, "serin.db"), filepath.Join(dir, "copy"), filepath.Join(dir, "newer"), filepath.Join(dir, "torn")
	openAt(t, path, Options{})
	must[Kept](t)(Backup(t.Context(), path, copied))
	must[Kept](t)(Backup(t.Context(), path, newer))
	raise(t, newer)
	whole := must[[]byte](t)(os.ReadFile(copied))
	if err := os.WriteFile(torn, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(from, want string) {
		t.Helper()
		_, err := RestoreBackup(t.Context(), from, path, t0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("restore of %s: %v; want an error with %q", filepath.Base(from), err, want)
		}
	}
	refused(newer, "run serin 9.9 or newer")
	refused(torn, "damaged")
	release := must[func()](t)(Lock(path, "serin-1"))
	refused(copied, `held by serin "serin-1"`)
	release()
	left := must[[]string](t)(filepath.Glob(path + ".*"))
	if d := cmp.Diff([]string{path + ".lock"}, left); d != "" {
		t.Errorf("files beside the store (-want +got):\n%s", d)
	}
}

// raise makes a file look as if a later serin had written it.
func raise(t *testing.T, path string) {
	db := must[*sql.DB](t)(pool(path, fileURI(path, nil), 1))
	defer db.Close()
	for _, q := range []string{`PRAGMA user_version = 999`, `INSERT OR REPLACE INTO meta VALUES ('schema_by', '9.9')`} {
		if _, err := db.ExecContext(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
}
