//go:build unix

package secret

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat("k", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("real", 9), link); err != nil {
		t.Fatal(err)
	}
	f := func(path string, size int, want string) {
		t.Helper()
		raw, err := ReadFile(path, MaxFile)
		switch {
		case want == "" && (err != nil || len(raw) != size):
			t.Errorf("%s: %d bytes, %v; want %d", path, len(raw), err, size)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)):
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	f(file("key", 20), 20, "")
	f(file("full", MaxFile), MaxFile, "")
	f(link, 9, "")
	f(file("huge", MaxFile+1), 0, "more than 64 KiB")
	f(fifo, 0, "no regular file")
	f("/dev/zero", 0, "no regular file")
	f(dir, 0, "no regular file")
	f(filepath.Join(dir, "none"), 0, "no such file")
	if _, err := FromFile(fifo); err == nil || !strings.Contains(err.Error(), "name a plain file") {
		t.Errorf("secret: %v", err)
	}
}
