package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Holder says which daemon holds a store.
type Holder struct {
	PID      int       `json:"pid"`
	Instance string    `json:"instance,omitempty"`
	Host     string    `json:"host,omitempty"`
	Since    time.Time `json:"-"` // the lock file's time
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
// ends. Where another holds it the error is a *LockedError. The lock is on a file beside the store (PATH.lock), which
// tells who holds it; commands that only read or import do without. The store itself need not be there yet.
func Lock(path, instance string) (release func(), err error) {
	name := path + ".lock"
	if err := makeDir(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock store %q: %w: give this user write access to the directory", path, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &LockedError{Path: path, Holder: holder(f)}
		}
		return nil, fmt.Errorf("lock store %q: %w: the file system must support flock", path, err)
	}
	if err := sign(f, instance); err != nil {
		return nil, errors.Join(fmt.Errorf("lock store %q: %w", path, err), f.Close())
	}
	// The file stays: removing it would let a third process lock a new file while a second waits on the old one.
	return func() { _ = f.Truncate(0); _ = f.Close() }, nil // closing is what unlocks; who reads a stale holder finds it free
}

func sign(f *os.File, instance string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	b, err := json.Marshal(Holder{PID: os.Getpid(), Instance: instance, Host: host})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return err
}

// holder reads what the holder wrote; what cannot be read is left zero, the lock speaks for itself.
func holder(f *os.File) (h Holder) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(b, &h) != nil {
		return Holder{}
	}
	if fi, err := f.Stat(); err == nil {
		h.Since = fi.ModTime()
	}
	return h
}
