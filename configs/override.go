package configs

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const overridePrefix = "SERIN__"

// override lays the SERIN__TABLE__KEY variables over the files and returns those applied, sorted. They reach scalars of
// single tables only: an override into a list would destroy it.
func (d *document) override(environ []string) (applied []string) {
	s := schema()
	slices.Sort(environ)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !strings.HasPrefix(name, overridePrefix) {
			continue
		}
		if what, fix := d.overrideOne(s, strings.ToLower(strings.TrimPrefix(name, overridePrefix)), value); what != "" {
			d.rep.fail(place{file: fromEnvironment}, name, what, fix)
			continue
		}
		applied = append(applied, kv)
	}
	return applied
}

// overrideOne sets one table__key, or returns what is wrong with it.
func (d *document) overrideOne(s *spec, name, value string) (what, fix string) {
	parts := strings.Split(name, "__")
	if len(parts) != 2 {
		return "is not of the form SERIN__TABLE__KEY", "name one table and one key, or unset it"
	}
	table := s.keys[parts[0]]
	if table == nil || table.kind != kindTable {
		single := slices.DeleteFunc(s.names(), func(k string) bool { return s.keys[k].kind != kindTable })
		return "names no single table of the config", nearestFix(parts[0], single) + "; tables that come many times are set in the file only"
	}
	key := table.keys[parts[1]]
	if key == nil {
		return "names no key of [" + parts[0] + "]", nearestFix(parts[1], table.offered())
	}
	v, ok := typed(value, key.kind)
	if !ok {
		fix = "set it in the file"
		switch key.kind {
		case kindBool:
			fix = "write true or false"
		case kindInt, kindNumber:
			fix = "write a number"
		}
		return "cannot be set from the environment as " + string(key.kind), fix
	}
	if have := d.values.Get(parts[0]); have == nil || reflect.TypeOf(have).Kind() == reflect.Map { // else the file's mistake is reported
		d.set(fromEnvironment, v, parts...)
	}
	return "", ""
}

// set lays one value over all others.
func (d *document) set(file string, v any, path ...string) {
	for i := len(path); i > 0; i-- {
		at := strings.Join(path[:i], ".")
		if _, ok := d.keys[at]; !ok || i == len(path) {
			d.keys[at] = entry{place{file: file}, keyed}
			d.order = append(d.order, at)
		}
	}
	for i := len(path) - 1; i > 0; i-- {
		v = map[string]any{path[i]: v}
	}
	d.load(map[string]any{path[0]: v})
}

// typed reads the text of a variable or flag as the kind that its key wants.
func typed(value string, k kind) (any, bool) {
	switch k {
	case kindString, kindDuration:
		return value, true
	case kindBool:
		b, err := strconv.ParseBool(value)
		return b, err == nil
	case kindInt:
		i, err := strconv.ParseInt(value, 10, 64)
		return i, err == nil
	case kindNumber:
		f, err := strconv.ParseFloat(value, 64)
		return f, err == nil
	}
	return nil, false
}
