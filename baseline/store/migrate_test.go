package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// later returns the migrations of a program that is one schema ahead.
func later(t *testing.T, script string) []migration {
	t.Helper()
	return append(must[[]migration](t)(embedded()), migration{"9999_later.sql", script})
}

func TestMigrationKeepsACopy(t *testing.T) {
	path := made(t)
	s, err := open(t.Context(), path, Options{Version: "0.9.0"}, later(t, `ALTER TABLE sample ADD COLUMN later TEXT`), defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if n := stored(t, s); n != 3000 {
		t.Errorf("%d samples after the migration", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	_, err = Open(t.Context(), path, Options{Version: "0.1.0"})
	var tooNew *SchemaError
	if !errors.As(err, &tooNew) || tooNew.Have != tooNew.Know+1 || !strings.Contains(err.Error(), "run serin 0.9.0 or newer") {
		t.Errorf("an older binary opened a newer store: %v", err)
	}

	copied := fmt.Sprintf("%s.v%d.bak", path, tooNew.Know)
	if fi := must[fs.FileInfo](t)(os.Stat(copied)); fi.Mode().Perm() != 0o600 {
		t.Errorf("copy has mode %v", fi.Mode())
	}
	if n := stored(t, openAt(t, copied, Options{})); n != 3000 {
		t.Errorf("%d samples in the copy", n)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := made(t)
	for range 2 { // the copy of the first attempt does not stand in the way of the second
		_, err := open(t.Context(), path, Options{}, later(t, `DELETE FROM sample; SELECT no_such_function()`), defaultLimits())
		if err == nil || !strings.Contains(err.Error(), "9999_later.sql") {
			t.Fatalf("error %v", err)
		}
	}
	if n := stored(t, openAt(t, path, Options{})); n != 3000 {
		t.Errorf("%d samples after a failed migration", n)
	}
}

func TestNewFileKeepsNoCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	openAt(t, path, Options{})
	if _, err := os.Stat(path + ".v0.bak"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat: %v", err)
	}
}
