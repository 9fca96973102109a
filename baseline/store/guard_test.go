package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
)

// urgent is a change that is on disk when Commit returns without an error.
func urgent(i int) alert.Change {
	c := bare(plain("gw-eu", i))
	c.Notices = []alert.Notice{notice("7f3k", i)}
	return c
}

// TestDeletedLogIsMadeAnew: people are told, nothing is lost, and what comes after is where a start finds it.
func TestDeletedLogIsMadeAnew(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		path := filepath.Join(t.TempDir(), "serin.db")
		var told healthLog
		s := openAt(t, path, Options{OnHealth: told.hook})
		commit(t, s, urgent(0))
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(t.Context(), urgent(1)); err == nil || !strings.Contains(err.Error(), "was deleted or replaced") {
			t.Errorf("%s deleted: %v", suffix, err)
		}
		eventually(t, "log made anew", func() bool { ok, _ := s.Healthy(); return ok })
		commit(t, s, urgent(2))
		if got := collect(t, s.Samples(t.Context(), Query{})); len(got) != 3 {
			t.Errorf("%s deleted: a reader of this process sees %d samples", suffix, len(got))
		}
		other := openAt(t, path, Options{ReadOnly: true})
		if got := collect(t, other.Samples(t.Context(), Query{})); len(got) != 3 {
			t.Errorf("%s deleted: another process would see %d samples, want 3", suffix, len(got))
		}
		eventually(t, "told", func() bool { return told.String() == "false true, true false" })
	}
}

// TestForeignFileIsLeftAlone moves another file over an open store: not a byte of it changes, and once the store's own file is back
// nothing is missing.
func TestForeignFileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path, own := filepath.Join(dir, "serin.db"), filepath.Join(dir, "own")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	commit(t, s, urgent(0))
	foreign := foreignFile(t, dir)
	before := must[[]byte](t)(os.ReadFile(foreign))
	if err := errors.Join(os.Rename(path, own), os.Rename(foreign, path)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Commit(t.Context(), urgent(1)); err == nil || !strings.Contains(err.Error(), "replaced by another one") {
			t.Errorf("commit: %v", err)
		}
	}
	if after := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(before, after) {
		t.Error("the foreign file was changed")
	}
	if err := os.Rename(own, path); err != nil {
		t.Fatal(err)
	}
	eventually(t, "healthy again", func() bool { ok, _ := s.Healthy(); return ok })
	commit(t, s, urgent(2))
	if n := len(must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{Incident: "7f3k"}))); n != 3 {
		t.Errorf("%d notices on disk, want 3", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), urgent(3)); err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("commit to a deleted file: %v", err)
	}
	eventually(t, "looked", func() bool { s.Look(); ok, _ := s.Healthy(); return !ok })
	if err := os.WriteFile(path, nil, 0o600); err != nil { // Close has nothing to write beside it, and says so
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 changes not written") {
		t.Errorf("close: %v", err)
	}
}

// foreignFile makes a database of another program.
func foreignFile(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "theirs.db")
	db := must[*sql.DB](t)(sql.Open("sqlite", path))
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE theirs(x)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLogOfAnotherFileIsNotPlayed kills a daemon, moves another file under its store's name and opens that: neither a database of
// another program nor an older store takes what the log holds, and the daemon's own file still does.
func TestLogOfAnotherFileIsNotPlayed(t *testing.T) {
	dir := t.TempDir()
	path, own := filepath.Join(dir, "serin.db"), filepath.Join(dir, "own")
	release := must[func()](t)(Lock(path, "serin-1"))
	older := must[*Store](t)(Open(t.Context(), path, Options{Daemon: true}))
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	release()
	backup := filepath.Join(dir, "backup")
	if _, err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	p := start(t, "daemon", path)
	p.expect(t, "ready")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // killed
	if err := os.Rename(path, own); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{foreignFile(t, dir), backup} {
		before := must[[]byte](t)(os.ReadFile(other))
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		refuses(t, path, Options{}, "was written for another file")
		if after := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", other)
		}
	}
	if err := os.Rename(own, path); err != nil {
		t.Fatal(err)
	}
	if s := openAt(t, path, Options{Daemon: true}); stored(t, s) != 1 {
		t.Errorf("%d samples after the kill, want 1", stored(t, s))
	}
}

// TestFrozenFileSystem: while it is frozen nothing of this process touches the store, a commit says so in time, and all is written once
// it thaws. A touch that does not come back stands for the file system.
func TestFrozenFileSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told healthLog
		path := filepath.Join(t.TempDir(), "serin.db")
		s := openAt(t, path, Options{OnHealth: told.hook, Daemon: true})
		commit(t, s, urgent(0))
		frozen := make(chan struct{})
		s.thaw.mu.Lock()
		s.thaw.waiting = frozen
		s.thaw.mu.Unlock()
		began := time.Now()
		if err := s.Commit(t.Context(), urgent(1)); !errors.Is(err, errHung) || time.Since(began) > 3*time.Second {
			t.Errorf("commit after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range s.Samples(ctx, Query{}) {
			if err == nil {
				t.Error("the store was read")
			}
		}
		s.thaw.mu.Lock()
		s.thaw.waiting = nil
		s.thaw.mu.Unlock()
		close(frozen)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := stored(t, s); n != 2 || told.String() != "false true, true false" {
			t.Errorf("%d samples stored; hook told %q", n, told.String())
		}
	})
}

// TestLinkedStores: by whatever name, a store is one, and has one daemon.
func TestLinkedStores(t *testing.T) {
	dir := t.TempDir()
	path, soft, hard := filepath.Join(dir, "a", "serin.db"), filepath.Join(dir, "soft.db"), filepath.Join(dir, "hard.db")
	if err := os.Symlink(filepath.Join("a", "serin.db"), soft); err != nil {
		t.Fatal(err)
	}
	release := must[func()](t)(Lock(soft, "serin-1")) // leads nowhere yet
	s := openAt(t, soft, Options{Daemon: true})
	commit(t, s, urgent(0))
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	taken := func(name string) {
		t.Helper()
		if _, err := Lock(name, "serin-2"); !isLocked(err) {
			t.Errorf("a second lock as %s: %v", name, err)
		}
	}
	taken(path)
	taken(hard)
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	taken(path)
	if _, err := RestoreBackup(t.Context(), hard, soft, t0); err == nil {
		t.Error("restored under a daemon")
	}
	release()
	p := start(t, "daemon", soft)
	p.expect(t, "ready")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // killed
	if again := openAt(t, soft, Options{}); stored(t, again) != 2 {
		t.Errorf("%d samples after a kill, want 2", stored(t, again))
	}
}

func isLocked(err error) bool {
	_, ok := errors.AsType[*LockedError](err)
	return ok
}

// TestFullDiskHoldsUpNoLock: where nothing can be written about the holder, the lock is held all the same.
func TestFullDiskHoldsUpNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	if err := os.Mkdir(path+".lock", 0o700); err != nil { // stands for a disk that takes nothing
		t.Fatal(err)
	}
	release := must[func()](t)(Lock(path, "serin-1"))
	if _, err := Lock(path, "serin-2"); !isLocked(err) {
		t.Errorf("a second lock: %v", err)
	}
	release()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("an empty file is left of a lock: %v", err)
	}
}

// TestRestoreCutShort looks at each point where a restore may end: there is a store at each, and a start says how to go on.
func TestRestoreCutShort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "serin.db")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	commit(t, s, urgent(0))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(dir, "backup")
	if _, err := Backup(t.Context(), path, backup); err != nil {
		t.Fatal(err)
	}
	copied := func(to string) {
		t.Helper()
		if err := os.WriteFile(to, must[[]byte](t)(os.ReadFile(backup)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copied(path + ".restore.part") // cut short while copying: the store is as it was
	if err := must[*Store](t)(Open(t.Context(), path, Options{})).Close(); err != nil {
		t.Fatal(err)
	}
	copied(ready(path))
	refuses(t, path, Options{}, "a restore was cut short", "run it again", ready(path))
	refuses(t, path, Options{ReadOnly: true}, "a restore was cut short")
	k := must[Kept](t)(RestoreBackup(t.Context(), ready(path), path, t0))
	if n := stored(t, openAt(t, path, Options{})); n != 1 || k.Old == "" || must[Kept](t)(Backup(t.Context(), k.Old, filepath.Join(dir, "old"))).Schema == 0 {
		t.Errorf("%d samples; %+v", n, k)
	}
	gone := filepath.Join(dir, "gone.db")
	copied(gone + ".restore.part")
	refuses(t, gone, Options{}, "a restore was cut short", gone+".restore.part")
	if left := must[[]string](t)(filepath.Glob(path + ".restore*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
