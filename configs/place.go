package configs

import (
	"os"
	"path/filepath"
	"strings"
)

// DefaultDSN returns where the store lies when the config does not say: serin.db in $STATE_DIRECTORY,
// $XDG_STATE_HOME/serin or ~/.local/state/serin. The error says that there is no home directory.
func DefaultDSN() (string, error) {
	if dirs := os.Getenv("STATE_DIRECTORY"); dirs != "" {
		dir, _, _ := strings.Cut(dirs, ":") // systemd lists several so
		return filepath.Join(dir, "serin.db"), nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "serin", "serin.db"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "serin", "serin.db"), nil
}

// StateDir returns the directory of DefaultDSN.
func StateDir() (string, error) {
	dsn, err := DefaultDSN()
	return filepath.Dir(dsn), err
}
