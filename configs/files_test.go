//go:build unix

package configs

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFiles: a path that never ends, or that waits for a writer, is named and not waited for.
func TestOnlyRegularFiles(t *testing.T) {
	setEnv(t)
	for _, line := range []string{`api_key_file = "PATH"`, `ca_file = "PATH"`} {
		for _, path := range []string{"/dev/zero", "fifo", "."} {
			dir := write(t, map[string]string{"serin.toml": strings.Replace(keyFile, `api_key_file = "key"`, strings.Replace(line, "PATH", path, 1), 1)})
			if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, problems := Load(Options{Path: filepath.Join(dir, "serin.toml"), Now: noon})
			if c != nil || len(problems) != 1 || !strings.Contains(lines(problems), "name a plain file") {
				t.Errorf("%s of %s: %s", line, path, lines(problems))
			}
		}
	}
}

// TestConfigIsARegularFile: a config that never ends or waits for a writer is refused at once.
func TestConfigIsARegularFile(t *testing.T) {
	setEnv(t)
	fifo := filepath.Join(t.TempDir(), "serin.toml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", fifo} {
		c, problems := Load(Options{Path: path, Now: noon})
		if c != nil || len(problems) != 1 || !strings.Contains(lines(problems), "name a plain file") {
			t.Errorf("%s: %s", path, lines(problems))
		}
	}
}
