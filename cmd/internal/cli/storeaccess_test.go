package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindStore: a root shell works on the store of the service, where its own place holds none and nothing else is named.
func TestFindStore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("XDG_STATE_HOME", dir)
	usual, unit, none := filepath.Join(dir, "serin", "serin.db"), filepath.Join(dir, "unit.db"), filepath.Join(dir, "none.db")
	touch := func(path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := func(path, unit, want string) {
		t.Helper()
		if got := findStore(path, unit); got != want {
			t.Errorf("findStore(%q, %q) = %q, want %q", path, unit, got, want)
		}
	}
	touch(unit)
	f(usual, unit, unit)
	f(usual, none, usual)
	f(none, unit, none)
	touch(usual)
	f(usual, unit, usual)
}
