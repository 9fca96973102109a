package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// errHung says that a write has not come back in time.
var errHung = errors.New("the disk does not answer")

// explain names the file and the fix beside what SQLite said; nil stays nil.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if fix := fixes(path, code(err)); fix != "" {
		return fmt.Errorf("store %q: %s: %w", path, fix, err)
	}
	return fmt.Errorf("store %q: %w", path, err)
}

func fixes(path string, code int) string {
	switch code {
	case lib.SQLITE_FULL:
		return "the disk is full: free space, or lower [store] retention"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_AUTH:
		return fmt.Sprintf("it cannot be written: give this user write access to the file and to the directory %q", filepath.Dir(path))
	case lib.SQLITE_NOTADB:
		return "it is not a SQLite database: let [store] dsn name another file, or move this one away"
	case lib.SQLITE_CORRUPT:
		return damaged
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another process holds a transaction on it: wait for that process, or end it"
	case lib.SQLITE_IOERR:
		return "the disk reports an error: see the system log"
	}
	return ""
}

const damaged = "the file is damaged: stop serin, keep a copy, and restore a backup or move the file away to start anew"

// code returns SQLite's primary result code, or 0 when err is not SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// refused reports whether err is about the row, not the disk: trying again cannot help.
func refused(err error) bool {
	switch code(err) {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_MISMATCH, lib.SQLITE_TOOBIG, lib.SQLITE_RANGE:
		return true
	}
	return false
}

// SchemaError says that the file was written by a newer serin.
type SchemaError struct {
	Path  string
	Have  int    // schema version of the file
	Know  int    // newest schema version that this program knows
	Needs string // version of the program that wrote it; "" = not known
}

// Error implements error.
func (e *SchemaError) Error() string {
	needs := "the serin that wrote it"
	if e.Needs != "" {
		needs = "serin " + e.Needs
	}
	return fmt.Sprintf("store %q has schema %d and this serin knows up to %d: run %s or newer, or restore the copy kept before the migration",
		e.Path, e.Have, e.Know, needs)
}
