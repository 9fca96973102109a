package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Holder says which daemon holds a store.
type Holder struct {
	PID      int       `json:"pid,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Host     string    `json:"host,omitempty"`
	Since    time.Time `json:"-"` // the lock file's time

	Runs []string `json:"runs,omitempty"` // marks of runs, one of which the store's file must bear; see run.go
}

// LockedError says that another daemon holds the store.
type LockedError struct {
	Path   string // of the store
	Holder Holder // zero where the lock file does not tell
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("store %q is held by another serin: end it, or give this one its own [store] dsn", e.Path)
	}
	return fmt.Sprintf("store %q is held by serin %q (pid %d on %s, since %s): end it, or give this one its own [store] dsn",
		e.Path, e.Holder.Instance, e.Holder.PID, e.Holder.Host, e.Holder.Since.UTC().Format(time.RFC3339))
}

// Lock makes this process the one daemon of the store at path until release is called or the process ends, however it
// ends. Where another holds it the error is a *LockedError. The lock is on the store's own file, made empty where there is none, by
// whatever name it is reached; PATH.lock beside it only tells who holds it, as far as the disk takes it. Commands that only read or
// import do without. Release it after the store is closed: closing any descriptor of the file drops the locks that SQLite holds on
// it in this process.
func Lock(path, instance string) (release func(), err error) {
	if path, err = resolve(path); err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	made := errors.Is(err, os.ErrNotExist)
	if err := prepareFile(path, false); err != nil {
		return nil, err
	}
	f, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	sign(path, instance)
	return func() {
		if made && isEmpty(path) {
			_ = os.Remove(path) // nothing came of it
		}
		_ = rewriteHolder(path, func(h *Holder) { *h = Holder{Runs: h.Runs} })
		_ = f.Close()
	}, nil
}

func isEmpty(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Size() == 0
}

// lockFile opens the store's file and locks it. It begins again where the file was replaced before it had the lock.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("lock store %q: %w: give this user access to the file", path, err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close() // only read
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, &LockedError{Path: path, Holder: holder(path)}
			}
			return nil, fmt.Errorf("lock store %q: %w: the file system must support flock", path, err)
		}
		mine, err := f.Stat()
		if now, gone := os.Stat(path); err == nil && gone == nil && os.SameFile(mine, now) {
			return f, nil
		}
		_ = f.Close() // only read
	}
}

// resolve returns the file that path leads to, through symbolic links, also where it is not there yet: log, lock and backups lie
// beside that file.
func resolve(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("store %q: %w", path, err)
	}
	for range 40 { // as many links as the kernel follows
		if real, err := filepath.EvalSymlinks(full); err == nil {
			return real, nil
		}
		to, err := os.Readlink(full)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(full), to)
		}
		full = to
	}
	return full, nil
}

// sign writes who holds the store. A full disk may refuse it: the lock is what counts.
func sign(path, instance string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	_ = rewriteHolder(path, func(h *Holder) { *h = Holder{PID: os.Getpid(), Instance: instance, Host: host, Runs: h.Runs} })
}

// rewriteHolder changes the lock file, in place: its length hardly changes, so that a full disk has room for it.
func rewriteHolder(path string, change func(*Holder)) error {
	h := holder(path)
	change(&h)
	b, err := json.Marshal(h)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Truncate(int64(len(b)))
	}
	return errors.Join(err, f.Close())
}

// holder reads what the holder wrote; what cannot be read is left zero, the lock speaks for itself.
func holder(path string) (h Holder) {
	b, err := os.ReadFile(path + ".lock")
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	if fi, err := os.Stat(path + ".lock"); err == nil {
		h.Since = fi.ModTime()
	}
	return h
}
