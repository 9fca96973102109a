package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Kept says what a backup holds, or what a restore put in place.
type Kept struct {
	Path   string // of the copy; after a restore, of the store
	Schema int    // version of its schema
	Bytes  int64
	Old    string // after a restore: where the file that was there lies now; "" = there was none
}

// Backup writes all that the store at path holds (samples, bands, alerts, incidents, the outbox, what is learned) to the
// new file to, mode 0600, as of one instant. It may run beside a daemon, and holds up none of its writes. The copy is read
// through before it gets its name. Errors name the file and the fix; a file that is there already is left alone.
func Backup(ctx context.Context, path, to string) (Kept, error) {
	if _, err := os.Stat(to); err == nil {
		return Kept{}, fmt.Errorf("backup %q is there already: name a new file", to)
	}
	part := to + ".part"
	schema, err := copyStore(ctx, path, part)
	if err != nil {
		return Kept{}, errors.Join(err, drop(part))
	}
	if err := os.Rename(part, to); err != nil {
		return Kept{}, errors.Join(fmt.Errorf("backup of store %q: %w", path, err), drop(part))
	}
	return kept(to, schema, "")
}

// RestoreBackup puts the store that from holds in the place of the one at path. It takes the daemon's lock: while a daemon
// runs, the error is a *LockedError. The backup is checked and copied whole, and the old file and its log are kept as
// PATH.before-restore-TIME, where nothing deletes them, before one rename puts the copy in place: at no instant is there no store. Cut
// short, it leaves PATH.restore, which the next start refuses to pass over. from stays as it is. A backup of an older schema is
// migrated by the next start; one of a newer serin gives a *SchemaError. now names the old file.
func RestoreBackup(ctx context.Context, from, path string, now time.Time) (k Kept, err error) {
	if path, err = resolve(path); err != nil {
		return Kept{}, err
	}
	if same(from, path) {
		return Kept{}, fmt.Errorf("backup %q is the store itself: name the file that serin backup wrote", from)
	}
	release, err := Lock(path, "serin restore")
	if err != nil {
		return Kept{}, err
	}
	defer release()
	part := path + ".restore.part"
	schema, err := copyStore(ctx, from, part)
	if err == nil {
		err = chownLike(part, path)
	}
	if err != nil {
		return Kept{}, errors.Join(err, drop(part))
	}
	old, err := keepOld(path, now)
	if err != nil {
		return Kept{}, errors.Join(err, drop(part))
	}
	if err := putInPlace(part, path); err != nil {
		return Kept{}, fmt.Errorf("restore %q: %w: the old store is kept in %q; try again", path, err, old)
	}
	return kept(path, schema, old)
}

// putInPlace makes part the store: from its first rename on an end without the second is seen by the next start.
func putInPlace(part, path string) error {
	if err := os.Rename(part, ready(path)); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} { // they would be taken for the new file's
		if err := drop(path + suffix); err != nil {
			return err
		}
	}
	return os.Rename(ready(path), path)
}

// ready is a restored store that has not taken its place yet.
func ready(path string) string { return path + ".restore" }

// interrupted says how to go on where a restore was cut short between its renames.
func interrupted(path string) error {
	piece := ready(path)
	if _, err := os.Stat(piece); err != nil {
		piece = path + ".restore.part"
		_, missing := os.Stat(path)
		if _, err := os.Stat(piece); err != nil || missing == nil && !isEmpty(path) {
			return nil
		}
	}
	return fmt.Errorf("store %q: a restore was cut short: run it again (serin restore --store %s FILE), or delete %q to go on without it; the store before it, if there was one, is kept in %s.before-restore-*",
		path, path, piece, path)
}

// chownLike gives a file to the user of the store at path, else of its directory: root restores what a service of another
// user must be able to write.
func chownLike(file, path string) error {
	var like, mine unix.Stat_t
	err := unix.Stat(path, &like)
	if errors.Is(err, fs.ErrNotExist) {
		err = unix.Stat(filepath.Dir(path), &like)
	}
	if err = errors.Join(err, unix.Stat(file, &mine)); err != nil {
		return fmt.Errorf("find the owner of %q: %w", path, err)
	}
	if os.Geteuid() != 0 || like.Uid == mine.Uid && like.Gid == mine.Gid {
		return nil
	}
	if err := os.Chown(file, int(like.Uid), int(like.Gid)); err != nil {
		return fmt.Errorf("give the restored store to user %d: %w", like.Uid, err)
	}
	return nil
}

func kept(path string, schema int, old string) (Kept, error) {
	if err := syncDir(filepath.Dir(path)); err != nil {
		return Kept{}, fmt.Errorf("sync directory of %q: %w", path, err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		return Kept{}, err
	}
	return Kept{Path: path, Schema: schema, Bytes: fi.Size(), Old: old}, nil
}

func same(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}

// drop removes a half-made copy.
func drop(part string) error {
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyStore copies the store at path to the file to and reads the copy through; it returns the schema's version.
func copyStore(ctx context.Context, path, to string) (schema int, err error) {
	if err := prepareFile(path, true); err != nil {
		return 0, err
	}
	full, err := resolve(path)
	if err != nil {
		return 0, err
	}
	db, err := pool(full, fileURI(full, url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}}), 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s := &Store{path: full, read: db}
	if schema, err = s.known(ctx); err != nil {
		return 0, err
	}
	if err := s.whole(ctx); err != nil {
		return 0, err
	}
	if err := vacuumInto(ctx, db, full, to); err != nil {
		return 0, err
	}
	return schema, verify(ctx, to)
}

// known returns the schema of a file of serin's that this program can read.
func (s *Store) known(ctx context.Context) (int, error) {
	steps, err := embedded()
	if err != nil {
		return 0, err
	}
	have, err := s.identify(ctx)
	switch {
	case err != nil:
		return 0, err
	case have > len(steps):
		return 0, s.tooNew(ctx, have, len(steps))
	case have == 0:
		return 0, fmt.Errorf("store %q is empty: it was never a store of serin", s.path)
	}
	return have, nil
}

// vacuumInto writes what db holds to the file to and has it on the disk. SQLite takes an empty file as it is, so the copy
// is as private as the original from its first byte on.
func vacuumInto(ctx context.Context, db *sql.DB, path, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("copy store %q: %w: give this user write access to the directory", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy store %q: %w", path, err)
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return fmt.Errorf("copy to %q: %w", to, explain(path, err))
	}
	return syncFile(to)
}

// verify reads a whole file and reports what is wrong with it.
func verify(ctx context.Context, path string) (err error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("check %q: %w", path, err)
	}
	db, err := pool(full, fileURI(full, url.Values{"mode": {"ro"}}), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return explain(path, err)
	}
	if verdict != "ok" {
		return fmt.Errorf("copy %q is damaged: %s", path, verdict)
	}
	return nil
}

// keepOld gives the store and its write-ahead log, which belong together, a second name; it returns "" when there is none.
func keepOld(path string, now time.Time) (old string, err error) {
	if isEmpty(path) { // made for the lock
		return "", nil
	}
	old = path + ".before-restore-" + now.UTC().Format("20060102T150405Z")
	if _, err := os.Stat(old); err == nil {
		return "", fmt.Errorf("restore %q: %q is there already: try again in a second", path, old)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := link(path+suffix, old+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("keep the old store: %w", err)
		}
	}
	return old, syncDir(filepath.Dir(path))
}

// link gives a file a second name, or copies it where the file system knows no links.
func link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
