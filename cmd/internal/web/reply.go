package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// writeWithin is how long a client may take for one buffer of an answer.
const writeWithin = 30 * time.Second

// fail answers {"error": message} with the status.
func (s *Server) fail(w http.ResponseWriter, status int, message string) {
	body, _ := json.Marshal(map[string]string{"error": s.opt.Redact(message)}) // a string always encodes
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client is gone: nobody to tell
}

// broken logs an error of ours and answers it.
func (s *Server) broken(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client left, or serin stops
	}
	s.opt.Log.Error("answer request", "path", r.URL.Path, "error", s.opt.Redact(err.Error()))
	s.fail(w, http.StatusInternalServerError, "serin could not read this: "+err.Error()+"; its log says more")
}

// object answers one JSON object.
func (s *Server) object(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.broken(w, r, fmt.Errorf("encode answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // as above
}

// text answers a line for people.
func (s *Server) text(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, s.opt.Redact(message)+"\n") // as above
}

// array is a JSON array that goes out as it is encoded, a buffer at a time.
type array struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	out   *bufio.Writer
	begun bool
	ended atomic.Bool // it is cut
}

func newArray(w http.ResponseWriter) *array {
	a := &array{w: w, ctl: http.NewResponseController(w)}
	a.out = bufio.NewWriterSize(a, 32<<10)
	return a
}

// Write sends one buffer; each has its own time to arrive.
func (a *array) Write(p []byte) (int, error) {
	_ = a.ctl.SetWriteDeadline(time.Now().Add(writeWithin)) // not supported by a recorder: then there is no connection to hang
	if a.ended.Load() {
		return 0, errors.New("its reader was slow, and others wait")
	}
	return a.w.Write(p)
}

// cut ends the answer where it is, also a write under way. It may be called at any time.
func (a *array) cut() {
	a.ended.Store(true)
	_ = a.ctl.SetWriteDeadline(time.Now()) // as in Write
}

func (a *array) begin() {
	if !a.begun {
		a.begun = true
		a.w.Header().Set("Content-Type", "application/json")
		_ = a.out.WriteByte('[') // a bufio.Writer keeps its first error for the next call
	}
}

// add appends one element, one a line.
func (a *array) add(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode element: %w", err)
	}
	if a.begun {
		_ = a.out.WriteByte(',') // as above
	}
	a.begin()
	_ = a.out.WriteByte('\n') // as above
	_, err = a.out.Write(body)
	return err
}

func (a *array) end() error {
	a.begin()
	_, _ = a.out.WriteString("\n]\n") // as above
	return a.out.Flush()
}

// sendArray answers the elements of list. An error after the first byte cuts the connection: a client must not take half a
// list for the whole.
func sendArray[T any](s *Server, w http.ResponseWriter, r *http.Request, list []*T) {
	a := newArray(w)
	defer s.readers.begin(a)()
	err := func() error {
		for _, v := range list {
			if err := a.add(v); err != nil {
				return err
			}
		}
		return a.end()
	}()
	switch {
	case err == nil:
	case !a.begun:
		s.broken(w, r, err)
	default:
		s.opt.Log.Warn("answer cut", "path", r.URL.Path, "error", s.opt.Redact(err.Error()))
		panic(http.ErrAbortHandler)
	}
}
