package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
)

// secretSource is one place that a credential comes from.
type secretSource struct {
	label string // for people: "environment variable FOO", "file /run/secrets/key"
	path  string // "" = a value that lives as long as the process
	mu    sync.Mutex
	value string
	mtime time.Time
	size  int64
}

// SecretFromEnv reads the environment variable name once.
func SecretFromEnv(name string) (Secret, error) {
	v, ok := os.LookupEnv(name)
	if !ok {
		return Secret{}, fmt.Errorf("environment variable %s is not set", name)
	}
	return newSecret("environment variable "+name, v)
}

// SecretFromValue wraps a value that the program already holds; label says where it came from.
func SecretFromValue(label, v string) (Secret, error) { return newSecret(label, v) }

func newSecret(label, v string) (Secret, error) {
	clean, err := cleanSecret(v)
	if err != nil {
		return Secret{}, fmt.Errorf("%s %w", label, err)
	}
	return Secret{src: &secretSource{label: label, value: clean}}, nil
}

// SecretFromFile reads path now, and again whenever the file changes.
func SecretFromFile(path string) (Secret, error) {
	s := Secret{src: &secretSource{label: "file " + path, path: path}}
	_, err := s.Reveal()
	return s, err
}

// SecretFromCredential reads the systemd credential name below $CREDENTIALS_DIRECTORY.
func SecretFromCredential(name string) (Secret, error) {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return Secret{}, fmt.Errorf("credential %q: $CREDENTIALS_DIRECTORY is not set (LoadCredential= in the unit sets it)", name)
	}
	return SecretFromFile(filepath.Join(dir, name))
}

// Label says where the value comes from, never what it is.
func (s Secret) Label() string {
	if s.src == nil {
		return "none"
	}
	return s.src.label
}

// Reveal returns the value, trimmed. A file is read again when its time or size changed; while the new content cannot
// be read the last good value is returned with no error.
func (s Secret) Reveal() (string, error) {
	if s.src == nil {
		return "", nil
	}
	return s.src.read(false)
}

// Present returns the value as it stands now. Unlike Reveal it does not fall back to the last good one: for what lets
// others in, a file that was taken away or emptied is an error.
func (s Secret) Present() (string, error) {
	if s.src == nil {
		return "", nil
	}
	return s.src.now()
}

// Refresh reads a file source again whatever its time says (after a 401).
func (s Secret) Refresh() {
	if s.src != nil && s.src.path != "" {
		_, _ = s.src.read(true) // a failure keeps the last good value
	}
}

func (s *secretSource) read(force bool) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return s.value, nil
	}
	v, err := s.readFile(force)
	if err != nil && s.value != "" {
		return s.value, nil
	}
	return v, err
}

func (s *secretSource) now() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return s.value, nil
	}
	return s.readFile(false)
}

func (s *secretSource) readFile(force bool) (string, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if !force && s.value != "" && info.ModTime().Equal(s.mtime) && info.Size() == s.size {
		return s.value, nil
	}
	raw, err := ReadRegular(s.path, MaxSecretFile)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	v, err := cleanSecret(string(raw))
	if err != nil {
		return "", fmt.Errorf("%s %w", s.label, err)
	}
	s.value, s.mtime, s.size = v, info.ModTime(), info.Size()
	return v, nil
}

// cleanSecret trims the ends and refuses what no header can carry.
func cleanSecret(v string) (string, error) {
	v = strings.TrimSpace(v)
	if v == "" {
		return "", errors.New("is empty")
	}
	for _, r := range v {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return "", errors.New("holds white space or a control character inside the value; write the bare key, alone on one line")
		}
	}
	return v, nil
}
