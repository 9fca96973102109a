package prompt

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// MaxFile is the largest prompt file, bytes: 200 000 tokens of any language fit.
const MaxFile = 4 << 20

// FromFile reads one prompt: the whole plain-text file is the user message (white space at its ends is cut, a byte order
// mark too), the file's name is the ID. The error names the file and what to do.
func FromFile(path string) (Prompt, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without it the open of a pipe would wait for its writer
	if err != nil {
		return Prompt{}, fmt.Errorf("read prompt: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return Prompt{}, fmt.Errorf("read prompt: %w", err)
	} else if !info.Mode().IsRegular() {
		return Prompt{}, fmt.Errorf("prompt file %q is no regular file (a pipe, a device or a directory): name a plain text file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return Prompt{}, fmt.Errorf("read prompt: %w", err)
	}
	text, err := clean(raw)
	if err != nil {
		return Prompt{}, fmt.Errorf("prompt file %q %w", path, err)
	}
	return Prompt{ID: filepath.Base(path), User: text}, nil
}

func clean(raw []byte) (string, error) {
	if len(raw) > MaxFile {
		return "", fmt.Errorf("is over %d MiB: shorten it", MaxFile>>20)
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("is not UTF-8: save it as UTF-8 text")
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
	if text == "" {
		return "", fmt.Errorf("is empty: write the user message into it")
	}
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("holds a NUL byte: it must be plain text")
	}
	return text, nil
}
