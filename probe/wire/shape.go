package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// shape is a type in the form in which the scanner fills it.
type shape struct {
	kind    reflect.Kind // Struct, Slice, Pointer, Int, Bool; Interface = by its own UnmarshalJSON; Invalid = by encoding/json
	raw     bool         // json.RawMessage
	elem    *shape
	members []*member
}

// member is one named field of a struct, or of a struct embedded in it.
type member struct {
	name  string
	path  []int
	shape *shape
}

// of returns the member's field in v.
func (m *member) of(v reflect.Value) reflect.Value {
	for _, i := range m.path {
		v = v.Field(i)
	}
	return v
}

func shapeOf(t reflect.Type) *shape {
	s := &shape{raw: t == reflect.TypeFor[json.RawMessage]()}
	switch {
	case s.raw:
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		s.kind = reflect.Interface
	case t.Kind() == reflect.Struct:
		s.kind = reflect.Struct
		s.add(t, nil)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8, t.Kind() == reflect.Pointer:
		s.kind, s.elem = t.Kind(), shapeOf(t.Elem())
	case t.Kind() == reflect.Int || t.Kind() == reflect.Bool:
		s.kind = t.Kind()
	}
	return s
}

// add takes in t's fields, then those of the structs embedded in it: the outer one of a name counts.
func (s *shape) add(t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && s.find([]byte(name)) == nil {
			s.members = append(s.members, &member{name, append(path[:len(path):len(path)], i), shapeOf(f.Type)})
		}
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Tag.Get("json") == "" {
			s.add(f.Type, append(path[:len(path):len(path)], i))
		}
	}
}

// find returns the member of that name, nil where there is none. There are few: to look at each is quicker than to hash.
func (s *shape) find(name []byte) *member {
	for _, m := range s.members {
		if m.name == string(name) {
			return m
		}
	}
	return nil
}

// named returns the member that a JSON name means, nil where none does; the name comes in its quotes.
func (s *shape) named(quoted []byte) *member {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unquoted(quoted)
	}
	if m := s.find(name); m != nil || len(name) == 0 || name[0] < 'A' || name[0] > 'Z' {
		return m
	}
	for _, m := range s.members { // some servers write Error and Message
		if strings.EqualFold(m.name, string(name)) {
			return m
		}
	}
	return nil
}
