package fakellm

import (
	"net/http"
	"sync"
	"time"
)

// Write is one write of a response.
type Write struct {
	At    time.Time
	What  string // one of the Wrote constants
	Bytes int
}

// Record is one request and what was done about it.
type Record struct {
	Arrived time.Time
	Method  string
	Path    string
	Model   string // "" where the request named none
	Header  http.Header
	Body    []byte // at most the first 64 KiB
	Input   int    // tokens counted
	Status  int    // sent; 0 = not even headers
	Writes  []Write
}

// Bounds of what a Server remembers.
const (
	defaultKeep  = 256
	maxKeptBody  = 64 << 10
	maxBody      = 16 << 20
	maxKeptWrite = 4_096
)

// First returns when the first write of that kind happened; ok is false when there was none.
func (r *Record) First(what string) (at time.Time, ok bool) {
	for _, w := range r.Writes {
		if w.What == what {
			return w.At, true
		}
	}
	return time.Time{}, false
}

// exchange is one request being answered, with its Record being made.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	d       dialect // nil = none lives at the path
	arrived time.Time
	mu      sync.Mutex
	record  Record
}

func (x *exchange) wrote(what string, n int) {
	at := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.record.Status == 0 {
		x.record.Status = http.StatusOK
	}
	if len(x.record.Writes) < maxKeptWrite {
		x.record.Writes = append(x.record.Writes, Write{At: at, What: what, Bytes: n})
	}
}

func (x *exchange) status(code int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.record.Status = code
}

func (x *exchange) asked(body []byte, a *ask) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.record.Body = body[:min(len(body), maxKeptBody)]
	if a != nil {
		x.record.Model, x.record.Input = a.Model, a.input
	}
}

func (x *exchange) copy() Record {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.record
	r.Writes = append([]Write(nil), r.Writes...)
	return r
}

// Requests returns how many requests came, whatever became of them.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Records returns the last requests in order of arrival (Options.Keep of them), with the writes done so far.
func (s *Server) Records() []Record {
	s.mu.Lock()
	kept := append([]*exchange(nil), s.kept...)
	s.mu.Unlock()
	list := make([]Record, len(kept))
	for i, x := range kept {
		list[i] = x.copy()
	}
	return list
}
