package wire

import "bytes"

// nextLine returns the next line of the piece fed that is not blank. Only LF ends a line: a CR is white space of JSON.
func (s *Splitter) nextLine() (Event, bool, error) {
	for len(s.in) > 0 {
		part := s.in
		end := bytes.IndexByte(part, '\n')
		if end < 0 {
			s.in = nil
			return Event{}, false, s.keepLine(part)
		}
		part, s.in = part[:end], s.in[end+1:]
		ev, ok, err := s.wholeLine(part)
		if ok || err != nil {
			return ev, ok, err
		}
	}
	return Event{}, false, nil
}

// keepLine stores the beginning of a line.
func (s *Splitter) keepLine(part []byte) error {
	s.line = append(s.line, part...)
	if len(s.line) > MaxEvent {
		return ErrEventTooLong
	}
	return nil
}

// wholeLine makes an event of one whole line: what was kept of it, and rest.
func (s *Splitter) wholeLine(rest []byte) (Event, bool, error) {
	line := rest
	if len(s.line) > 0 {
		if err := s.keepLine(rest); err != nil {
			return Event{}, false, err
		}
		s.out, s.line = s.line, s.out[:0]
		line = s.out
	}
	if len(line) > MaxEvent {
		return Event{}, false, ErrEventTooLong
	}
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return Event{}, false, nil
	}
	if s.events++; s.events > MaxEvents {
		return Event{}, false, ErrTooManyEvents
	}
	return Event{Data: line}, true, nil
}

// lastLine returns the line that the end of the stream cut short, if there is one.
func (s *Splitter) lastLine() (Event, bool) {
	ev, ok, err := s.wholeLine(nil)
	ev.Unterminated = true
	return ev, ok && err == nil
}
