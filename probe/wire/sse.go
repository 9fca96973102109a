package wire

import (
	"bytes"
	"errors"
)

// The caps on what is read from one stream.
const (
	MaxEvent  = 4 << 20   // bytes of one event
	MaxStream = 64 << 20  // bytes of one stream
	MaxEvents = 1_000_000 // events of one stream
)

// The errors of a stream over a cap.
var (
	ErrEventTooLong  = errors.New("one event is longer than 4 MiB, the most that is read")
	ErrStreamTooLong = errors.New("the stream is longer than 64 MiB, the most that is read")
	ErrTooManyEvents = errors.New("the stream has more than 1 000 000 events, the most that is read")
)

// Event is one event of a stream. Name and Data are valid until the next call of the splitter.
type Event struct {
	Name         []byte // the event field; empty = none
	Data         []byte // the data fields, joined with LF; never empty
	Unterminated bool   // the stream ended before the blank line
}

// Splitter cuts server-sent events out of a byte stream that comes in any pieces: Feed a piece, call Next until it has
// none, and Finish at the end of the stream. Lines end with CR, LF or CRLF and nothing else; a byte order mark at the very
// start is dropped. The zero Splitter is ready. It allocates only to grow its buffers.
type Splitter struct {
	Lines bool // the stream is NDJSON: every line that is not blank is an event

	in     []byte // what is left of the piece fed
	line   []byte // a line that has not ended yet
	data   []byte // data of the event so far, each line with LF behind it
	name   []byte
	out    []byte // data given out with the last event
	outN   []byte
	bytes  int64
	events int

	comment  bool // in a comment line whose bytes are not kept
	skipLF   bool // the last line ended with a CR at the end of a piece
	started  bool // the first line has been seen
	Comments int  // comment lines seen
}

// Feed takes the next piece. It is used until Next has no more events, and must not change before that. The error is
// ErrStreamTooLong.
func (s *Splitter) Feed(piece []byte) error {
	s.in = piece
	s.bytes += int64(len(piece))
	if s.bytes > MaxStream {
		return ErrStreamTooLong
	}
	return nil
}

// Growing reports whether a field has begun whose line has not ended: bytes of it are progress, those of a comment not.
func (s *Splitter) Growing() bool { return len(s.line) > 0 && !s.comment }

// Next returns the next event of the piece fed; ok is false when more bytes are needed. The error is one of a cap.
func (s *Splitter) Next() (ev Event, ok bool, err error) {
	if s.Lines {
		return s.nextLine()
	}
	for len(s.in) > 0 {
		line, whole := s.cut()
		if !whole {
			return Event{}, false, s.keep(line)
		}
		if ev, ok, err = s.take(line); ok || err != nil {
			return ev, ok, err
		}
	}
	return Event{}, false, nil
}

// Finish returns the event that the end of the stream cut short, if there is one.
func (s *Splitter) Finish() (ev Event, ok bool) {
	if s.Lines {
		return s.lastLine()
	}
	if len(s.line) > 0 && !s.comment {
		line := s.line
		s.line = nil
		_, _, _ = s.take(line) // not blank, and under the cap already
	}
	ev, ok, err := s.dispatch()
	ev.Unterminated = true
	return ev, ok && err == nil
}

// cut takes one line off the piece; whole is false when the piece ends first. The line holds what was kept before.
func (s *Splitter) cut() (line []byte, whole bool) {
	if s.skipLF {
		s.skipLF = false
		if s.in[0] == '\n' {
			s.in = s.in[1:]
		}
	}
	end := lineEnd(s.in)
	if end < 0 {
		line, s.in = s.in, nil
		return line, false
	}
	line = s.in[:end]
	if s.in[end] == '\r' {
		if end+1 == len(s.in) {
			s.skipLF = true
		} else if s.in[end+1] == '\n' {
			end++
		}
	}
	s.in = s.in[end+1:]
	return line, true
}

func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	head := b
	if lf >= 0 {
		head = b[:lf]
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// keep stores the beginning of a line; a comment's bytes are not stored, so that an endless one costs no memory.
func (s *Splitter) keep(part []byte) error {
	if len(part) == 0 || s.comment {
		return nil
	}
	if len(s.line) == 0 && s.started && part[0] == ':' {
		s.comment = true
		return nil
	}
	s.line = append(s.line, part...)
	if len(s.line)+len(s.data) > MaxEvent {
		return ErrEventTooLong
	}
	return nil
}

// take handles one whole line; it gives an event when the line is blank.
func (s *Splitter) take(line []byte) (Event, bool, error) {
	if s.comment {
		s.comment = false
		s.Comments++
		return Event{}, false, nil
	}
	if len(s.line) > 0 {
		s.line = append(s.line, line...)
		line = s.line
		s.line = s.line[:0] // line stays valid: nothing is appended before it is used up
	}
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 {
		return s.dispatch()
	}
	return Event{}, false, s.field(line)
}

func (s *Splitter) field(line []byte) error {
	if line[0] == ':' {
		s.Comments++
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(bytes.TrimRight(name, " \t")) {
	case "data":
		if len(s.data)+len(value) > MaxEvent {
			return ErrEventTooLong
		}
		s.data = append(append(s.data, value...), '\n')
	case "event":
		s.name = append(s.name[:0], bytes.TrimSpace(value)...)
	}
	return nil
}

// dispatch ends the event; one without data is none.
func (s *Splitter) dispatch() (Event, bool, error) {
	data, name := s.data, s.name
	s.data, s.out = s.out[:0], data
	s.name, s.outN = s.outN[:0], name
	if len(data) <= 1 { // nothing, or one empty data line
		return Event{}, false, nil
	}
	if s.events++; s.events > MaxEvents {
		return Event{}, false, ErrTooManyEvents
	}
	return Event{Name: name, Data: data[:len(data)-1]}, true, nil
}
