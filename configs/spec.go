package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"serin/alert"
	"serin/probe"
)

// kind is the type of a key's value, in words for the reference.
type kind string

const (
	kindString   kind = "string"
	kindBool     kind = "boolean"
	kindInt      kind = "integer"
	kindNumber   kind = "number"
	kindDuration kind = "duration"
	kindDate     kind = "date"
	kindStrings  kind = "array of strings"
	kindInts     kind = "array of integers"
	kindMap      kind = "table of strings"
	kindAny      kind = "table"
	kindTable    kind = "table of keys"
	kindTables   kind = "array of tables"
	kindSize     kind = "cron string or table"
)

// spec describes one key: its kind, for tables the keys below, and its default as a config would write it.
type spec struct {
	kind kind
	keys map[string]*spec
	def  string
}

// schema returns every key that a config may hold, from the structs of file.
func schema() *spec {
	s := &spec{kind: kindTable, keys: map[string]*spec{}}
	addFields(s.keys, reflect.ValueOf(defaultFile()))
	for path := range hints() { // fields that are no keys here
		if i := strings.LastIndexByte(path, '.'); s.find(path[:i]) != nil {
			delete(s.find(path[:i]).keys, path[i+1:])
		}
	}
	for _, table := range []string{"target", "target_defaults", "provider"} {
		for _, key := range []string{"budget_tokens", "budget_usd"} {
			s.keys[table].keys[key].def = "" // that of [budget]
		}
	}
	return s
}

// find returns the spec of a path, nil where nothing is known under it.
func (s *spec) find(path string) *spec {
	if path == "" {
		return s
	}
	for part := range strings.SplitSeq(path, ".") {
		_, err := strconv.Atoi(part)
		switch {
		case s == nil:
			return nil
		case s.kind == kindTables && err == nil:
			s = &spec{kind: kindTable, keys: s.keys}
		default:
			s = s.keys[part]
		}
	}
	return s
}

// names returns the keys of a table in alphabetical order.
func (s *spec) names() []string { return sortedKeys(s.keys) }

// offered returns the keys that a message may suggest: a secret's plain key is none.
func (s *spec) offered() []string {
	return slices.DeleteFunc(s.names(), func(k string) bool { return s.keys[k+"_env"] != nil && s.keys[k+"_file"] != nil })
}

// addFields adds the keys of a struct by its koanf tags; the struct's values are the defaults.
func addFields(keys map[string]*spec, v reflect.Value) {
	for i := range v.NumField() {
		name, opt, _ := strings.Cut(v.Type().Field(i).Tag.Get("koanf"), ",")
		switch {
		case opt == "squash":
			addFields(keys, v.Field(i))
		case name == "" || name == "-":
		case v.Field(i).Type() == reflect.TypeFor[secretKey]():
			for _, key := range credentialKeys(name) {
				keys[key] = &spec{kind: kindString}
			}
		default:
			keys[name] = fieldSpec(v.Field(i))
		}
	}
}

func fieldSpec(v reflect.Value) *spec {
	s := &spec{kind: kindOf(v.Type())}
	switch s.kind {
	case kindSize:
		v = reflect.New(reflect.TypeFor[sizeKeys]()).Elem()
	case kindTables:
		v = v.Index(0)
	case kindTable:
	default:
		if !v.IsZero() || s.kind == kindBool || s.kind == kindNumber || s.kind == kindInt {
			s.def = literal(v)
		}
		return s
	}
	s.keys = map[string]*spec{}
	if v.Kind() == reflect.Map { // of limits by size
		for _, size := range probe.Sizes() {
			s.keys[string(size)] = &spec{kind: kindTable, keys: map[string]*spec{}}
			addFields(s.keys[string(size)].keys, reflect.ValueOf(alert.Limit{}))
		}
		return s
	}
	addFields(s.keys, v)
	return s
}

// kindOf returns the kind of a field's type.
func kindOf(t reflect.Type) kind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return kindDuration
	case reflect.TypeFor[time.Time]():
		return kindDate
	case reflect.TypeFor[probe.Money]():
		return kindNumber
	case reflect.TypeFor[sizeKeys]():
		return kindSize
	case reflect.TypeFor[map[string]string]():
		return kindMap
	case reflect.TypeFor[map[string]any]():
		return kindAny
	}
	switch t.Kind() {
	case reflect.String:
		return kindString
	case reflect.Bool:
		return kindBool
	case reflect.Int:
		return kindInt
	case reflect.Float64:
		return kindNumber
	case reflect.Slice:
		return map[reflect.Kind]kind{reflect.Int: kindInts, reflect.String: kindStrings, reflect.Struct: kindTables}[t.Elem().Kind()]
	}
	return kindTable
}

// literal writes a default as TOML.
func literal(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return `"` + formatDuration(x) + `"`
	case probe.Money:
		return ""
	}
	switch v.Kind() {
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, literal(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.String:
		return `"` + v.String() + `"`
	}
	return fmt.Sprint(v.Interface())
}
