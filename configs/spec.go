package configs

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"serin/alert"
	"serin/probe"
)

// kind is the type of a key's value.
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

	removed map[string]string // keys of a table that are no more → what to do instead
}

func listOf(s *spec) *spec { return &spec{kind: kindTables, keys: s.keys, removed: s.removed} }

// names returns the keys of a table in alphabetical order.
func (s *spec) names() []string {
	list := make([]string, 0, len(s.keys))
	for k := range s.keys {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}

// offered returns the keys that a message may suggest: a secret's plain key is none.
func (s *spec) offered() []string {
	return slices.DeleteFunc(s.names(), func(k string) bool { return s.keys[k+"_env"] != nil && s.keys[k+"_file"] != nil })
}

// tableOf reads the keys of a struct of options from its koanf tags; the struct's values are the defaults.
func tableOf(v any) *spec {
	s := &spec{kind: kindTable, keys: map[string]*spec{}}
	addFields(s.keys, reflect.ValueOf(v))
	return s
}

func addFields(keys map[string]*spec, v reflect.Value) {
	for i := range v.NumField() {
		name, opt, _ := strings.Cut(v.Type().Field(i).Tag.Get("koanf"), ",")
		switch {
		case opt == "squash":
			addFields(keys, v.Field(i))
		case name != "" && name != "-":
			keys[name] = fieldSpec(v.Field(i))
		}
	}
}

func fieldSpec(v reflect.Value) *spec {
	s := &spec{kind: kindOf(v.Type())}
	if v.Type() == reflect.TypeFor[map[probe.Size]alert.Limit]() {
		s.kind, s.keys = kindTable, map[string]*spec{}
		for _, size := range probe.Sizes() {
			s.keys[string(size)] = tableOf(alert.Limit{})
		}
		return s
	}
	if !v.IsZero() || s.kind == kindBool || s.kind == kindNumber || s.kind == kindInt {
		s.def = literal(v)
	}
	return s
}

func kindOf(t reflect.Type) kind {
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[*time.Duration]():
		return kindDuration
	case reflect.TypeFor[time.Time]():
		return kindDate
	case reflect.TypeFor[probe.Money]():
		return kindNumber
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
		if t.Elem().Kind() == reflect.Int {
			return kindInts
		}
		return kindStrings
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
	case string:
		return `"` + x + `"`
	}
	if v.Kind() == reflect.Slice {
		var parts []string
		for i := range v.Len() {
			parts = append(parts, literal(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if v.Kind() == reflect.String {
		return `"` + v.String() + `"`
	}
	return fmt.Sprint(v.Interface())
}
