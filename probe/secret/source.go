package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// source is one place that a credential comes from.
type source struct {
	label string // for people: "environment variable FOO", "file /run/secrets/key"
	path  string // "" = a value that lives as long as the process
	mu    sync.Mutex
	value string
	mtime time.Time
	size  int64
	known []*Redactor // hear of every value that is read

	unread bool // configured, and not to be read
}

// FromEnv reads the environment variable name once.
func FromEnv(name string) (Secret, error) {
	v, ok := os.LookupEnv(name)
	if !ok {
		return Secret{}, fmt.Errorf("environment variable %s is not set", name)
	}
	return FromValue("environment variable "+name, v)
}

// FromValue wraps a value that the program already holds; label says where it came from. Check says whether it is long enough.
func FromValue(label, v string) (Secret, error) {
	value, err := clean(v)
	if err != nil {
		return Secret{}, fmt.Errorf("%s %w", label, err)
	}
	return Secret{src: &source{label: label, value: value}}, nil
}

// Unread returns a secret that is configured and not to be read: Reveal fails.
func Unread(label string) Secret { return Secret{src: &source{label: label, unread: true}} }

// FromFile reads path now, and again whenever the file changes.
func FromFile(path string) (Secret, error) {
	s := Secret{src: &source{label: "file " + path, path: path}}
	_, err := s.Reveal()
	return s, err
}

// FromCredential reads the systemd credential name below $CREDENTIALS_DIRECTORY.
func FromCredential(name string) (Secret, error) {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return Secret{}, fmt.Errorf("credential %q: $CREDENTIALS_DIRECTORY is not set (LoadCredential= in the unit sets it)", name)
	}
	return FromFile(filepath.Join(dir, name))
}

// ErrShort says that a secret could not be kept out of logs and messages.
var ErrShort = fmt.Errorf("is shorter than %d characters, too short to be told from ordinary text and masked", Least)

func checkLength(v string) error {
	if len(v) < Least {
		return ErrShort
	}
	return nil
}

// Check returns an error that wraps ErrShort where the value is shorter than Least.
func (s Secret) Check() error {
	v, err := s.Reveal()
	if err == nil && !s.IsZero() {
		err = checkLength(v)
	}
	if errors.Is(err, ErrShort) {
		err = fmt.Errorf("%s %w", s.src.label, ErrShort)
	}
	return err
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

func (s *source) read(force bool) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread {
		return "", fmt.Errorf("%s was not read", s.label)
	}
	if s.path == "" {
		return s.value, nil
	}
	v, err := s.readFile(force)
	if err != nil && s.value != "" {
		return s.value, nil
	}
	return v, err
}

func (s *source) now() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread {
		return "", fmt.Errorf("%s was not read", s.label)
	}
	if s.path == "" {
		return s.value, nil
	}
	return s.readFile(false)
}

func (s *source) readFile(force bool) (string, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	if !force && s.value != "" && info.ModTime().Equal(s.mtime) && info.Size() == s.size {
		return s.value, nil
	}
	raw, err := ReadFile(s.path, MaxFile)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	v, err := clean(string(raw))
	if err == nil {
		err = checkLength(v)
	}
	if err != nil {
		return "", fmt.Errorf("%s %w", s.label, err)
	}
	s.value, s.mtime, s.size = v, info.ModTime(), info.Size()
	for _, r := range s.known {
		r.Know(v)
	}
	return v, nil
}

// subscribe makes r know the value, and each one that is read later, before anybody can use it.
func (s *source) subscribe(r *Redactor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.known, r) {
		s.known = append(s.known, r)
	}
	r.Know(s.value)
}

// clean trims the ends and refuses what no header can carry. The error names the place and the character, which is none
// that keys are made of, and never the value.
func clean(v string) (string, error) {
	v = strings.TrimSpace(v)
	if v == "" {
		return "", errors.New("is empty")
	}
	n := 0
	for _, r := range v {
		n++
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return "", fmt.Errorf("holds white space or a control character (%U, character %d) inside the value; write the bare key, alone on one line", r, n)
		case r > unicode.MaxASCII:
			return "", fmt.Errorf("holds %U as character %d, which is not ASCII, as keys are: it was changed on its way here (by a chat, an editor or a PDF); copy it again from where it was issued", r, n)
		}
	}
	return v, nil
}
