package configs

import (
	"slices"
	"strconv"
	"strings"
)

const overridePrefix = "SERIN__"

// overrides puts the values of SERIN__TABLE__KEY variables into the tree and returns those applied, sorted. They reach
// scalars of single tables only: an override into a list would destroy it.
func overrides(root *table, environ []string, rep *report) []string {
	var applied []string
	s := schema()
	slices.Sort(environ)
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || !strings.HasPrefix(name, overridePrefix) {
			continue
		}
		if override(root, s, name, value, rep) {
			applied = append(applied, kv)
		}
	}
	return applied
}

func override(root *table, s *spec, name, value string, rep *report) bool {
	at := place{file: fromEnvironment}
	parts := strings.Split(strings.ToLower(strings.TrimPrefix(name, overridePrefix)), "__")
	if len(parts) != 2 {
		rep.fail(at, name, "is not of the form SERIN__TABLE__KEY", "name one table and one key, or unset it")
		return false
	}
	tab := s.keys[parts[0]]
	if tab == nil || tab.kind != kindTable {
		rep.fail(at, name, "names no single table of the config", overrideFix(parts[0], s)+"; tables that come many times are set in the file only")
		return false
	}
	key := tab.keys[parts[1]]
	if key == nil {
		rep.fail(at, name, "names no key of ["+parts[0]+"]", nearestFix(parts[1], tab.offered()))
		return false
	}
	v, ok := overrideValue(value, key.kind)
	if !ok {
		rep.fail(at, name, "cannot be set from the environment as "+string(key.kind), overrideTypeFix(key.kind))
		return false
	}
	return plant(root, at, parts[0], parts[1], v, rep)
}

// plant sets one key of a table, making the table where it is missing.
func plant(root *table, at place, tab, key string, v any, rep *report) bool {
	n := root.kids[tab]
	if n == nil {
		n = &node{at: at, val: newTable(at)}
		root.set(tab, n)
	}
	t, ok := n.val.(*table)
	if !ok {
		rep.fail(n.at, tab, "must be a table, is "+typeName(n.val), "write ["+tab+"]")
		return false
	}
	t.set(key, &node{at: at, val: v})
	return true
}

func overrideFix(name string, s *spec) string {
	var single []string
	for _, k := range s.names() {
		if s.keys[k].kind == kindTable {
			single = append(single, k)
		}
	}
	return nearestFix(name, single)
}

func overrideValue(value string, k kind) (any, bool) {
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

func overrideTypeFix(k kind) string {
	switch k {
	case kindBool:
		return "write true or false"
	case kindInt, kindNumber:
		return "write a number"
	}
	return "set it in the file"
}
