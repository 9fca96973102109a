package wire

import (
	"encoding/json"
	"reflect"
)

// maxDepth is the deepest nesting that is read: that of encoding/json.
const maxDepth = 10_000

// hot keeps, for the events of one stream, the shape of a protocol's event and one value of it that every event fills
// anew, so that reading an event allocates next to nothing.
type hot[T any] struct {
	shape *shape
	v     T
}

// read fills the stream's T from the JSON in data, as json.Unmarshal would fill a zero T: a field of an unexpected type is
// left out, and only broken JSON is an error. Three things differ: strings and raw values point into data, so they live as
// long as it does; a name that begins with a small letter is matched exactly; and a list that comes twice holds nothing of
// its first coming.
func read[T any](p *Piece, data []byte) (*T, error) {
	h, ok := p.hot.(*hot[T])
	if !ok {
		h = &hot[T]{shape: shapeOf(reflect.TypeFor[T]())}
		p.hot = h
	}
	if v, ok := any(&h.v).(emptier); ok {
		v.empty()
	} else {
		h.v = *new(T)
	}
	s := scanner{data: data}
	if s.value(h.shape, reflect.ValueOf(&h.v).Elem()) && s.end() {
		return &h.v, nil
	}
	h.v = *new(T)
	return &h.v, decode(data, &h.v) // has the words for what is wrong
}

// emptier is an event that keeps the memory of its lists from one to the next.
type emptier interface{ empty() }

// scanner reads one JSON value front to back. Its methods return false where the JSON is broken.
type scanner struct {
	data  []byte
	at    int
	depth int
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) end() bool { return s.peek() == 0 && s.at == len(s.data) }

// value reads the next value into v.
func (s *scanner) value(sh *shape, v reflect.Value) bool {
	c := s.peek()
	switch {
	case sh.kind == reflect.Struct && c == '{':
		return s.object(sh, v)
	case sh.kind == reflect.Slice && c == '[':
		return s.array(sh, v)
	case sh.kind == reflect.Pointer && c != 'n':
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return s.value(sh.elem, v.Elem())
	}
	from := s.at
	if !s.skip() {
		return false
	}
	raw := s.data[from:s.at:s.at]
	switch sh.kind {
	case reflect.Slice, reflect.Pointer:
		if c == 'n' {
			v.SetZero()
		}
	case reflect.Struct:
	default:
		sh.set(v, raw)
	}
	return true
}

// set fills a field that is neither object nor list.
func (sh *shape) set(v reflect.Value, raw []byte) {
	switch {
	case sh.raw:
		v.SetBytes(raw)
	case sh.kind == reflect.Interface:
		_ = v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw) // those of this package never fail
	case sh.kind == reflect.Bool:
		if raw[0] == 't' || raw[0] == 'f' {
			v.SetBool(raw[0] == 't')
		}
	case sh.kind == reflect.Int && len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9':
		v.SetInt(int64(raw[0] - '0'))
	default:
		_ = json.Unmarshal(raw, v.Addr().Interface()) // an unexpected type leaves the field out
	}
}

func (s *scanner) object(sh *shape, v reflect.Value) bool {
	return s.members(func(name []byte) bool {
		m := sh.named(name)
		if m == nil {
			return s.skip()
		}
		return s.value(m.shape, m.of(v))
	})
}

// members calls f for each name of an object as it is written, in quotes, with the scanner in front of its value.
func (s *scanner) members(f func(name []byte) bool) bool {
	return s.nested('}', func() bool {
		from := s.at
		if s.peek() != '"' || !s.quoted() {
			return false
		}
		name := s.data[from:s.at]
		if s.peek() != ':' {
			return false
		}
		s.at++
		return f(name)
	})
}

func (s *scanner) array(sh *shape, v reflect.Value) bool {
	if v.Cap() > 0 {
		v.SetLen(0)
	}
	return s.nested(']', func() bool {
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		v.Index(n).SetZero()
		return s.value(sh.elem, v.Index(n))
	})
}

// nested reads what stands between a bracket and its partner, item by item, with the commas.
// Each item begins where the scanner stands.
func (s *scanner) nested(partner byte, item func() bool) bool {
	s.at++
	if s.depth++; s.depth > maxDepth {
		return false
	}
	if s.peek() == partner {
		s.at++
		s.depth--
		return true
	}
	for {
		s.peek()
		if !item() {
			return false
		}
		switch c := s.peek(); c {
		case ',':
			s.at++
		case partner:
			s.at++
			s.depth--
			return true
		default:
			return false
		}
	}
}

// skip passes over any value, and holds it to the grammar.
func (s *scanner) skip() bool {
	switch c := s.peek(); c {
	case '"':
		return s.quoted()
	case '{':
		return s.members(func([]byte) bool { return s.skip() })
	case '[':
		return s.nested(']', s.skip)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *scanner) word(w string) bool {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// quoted passes over a string.
func (s *scanner) quoted() bool {
	for i := s.at + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			n := escape(s.data[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return false
}

// escape returns the length of the escape that b begins with, 0 where it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// number passes over a number.
func (s *scanner) number() bool {
	if s.at < len(s.data) && s.data[s.at] == '-' {
		s.at++
	}
	if s.at < len(s.data) && s.data[s.at] == '0' {
		s.at++
	} else if s.digits() == 0 {
		return false
	}
	if s.at < len(s.data) && s.data[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return false
		}
	}
	if s.at < len(s.data) && s.data[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.data) && (s.data[s.at] == '+' || s.data[s.at] == '-') {
			s.at++
		}
		return s.digits() > 0
	}
	return true
}

func (s *scanner) digits() int {
	from := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at - from
}
