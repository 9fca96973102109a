package secret

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Largest files, bytes: of a key or token, and of certificates, where a whole system's bundle must fit.
const (
	MaxFile  = 64 << 10
	MaxRoots = 4 << 20
)

// ReadFile reads the regular file at path whole, as far as it has at most limit bytes. A pipe, a device or a directory
// is refused and not waited for. The error names the path and what to do.
func ReadFile(path string, limit int64) ([]byte, error) {
	// Without O_NONBLOCK the open itself of a pipe that nobody writes to would wait for ever.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("is no regular file (a pipe, a device or a directory): name a plain file")}
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("holds more than %d KiB: name the file that holds this alone", limit>>10)}
	}
	return raw, nil
}
