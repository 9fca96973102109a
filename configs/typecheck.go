package configs

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// section is one table after the type check: its values as koanf merges them, the tree for places, and how a message
// names it ("target[gw-eu]").
type section struct {
	path   string
	tree   *table // nil = not in the file
	values map[string]any
}

// at returns the place of a key of the section, or of the section itself where the key is absent.
func (s section) at(key string) place {
	if s.tree == nil {
		return place{}
	}
	if n := s.tree.kids[key]; n != nil {
		return n.at
	}
	return s.tree.at
}

func (s section) has(key string) bool {
	_, ok := s.values[key]
	return ok
}

// wrong reports whether the key is there with a mistake that was reported.
func (s section) wrong(key string) bool {
	return !s.has(key) && s.tree != nil && s.tree.kids[key] != nil
}

func (s section) key(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// checkTable checks a table against its spec. Keys with a mistake are reported and left out of the result.
func checkTable(t *table, s *spec, path string, rep *report) section {
	out := section{path: path, tree: t, values: map[string]any{}}
	if t == nil {
		return out
	}
	for _, key := range t.keys {
		n, want := t.kids[key], s.keys[key]
		if fix, gone := s.removed[key]; gone {
			if fix != "" {
				rep.fail(n.at, out.key(key), "was removed", fix)
			}
			continue
		}
		if want == nil {
			rep.fail(n.at, out.key(key), "is not a key that is known here", nearestFix(key, s.offered()))
			continue
		}
		if v, ok := convert(n, want, out.key(key), rep); ok {
			out.values[key] = v
		}
	}
	return out
}

// convert returns the value as the structs take it: durations parsed, tables as map[string]any.
func convert(n *node, s *spec, path string, rep *report) (any, bool) {
	switch s.kind {
	case kindDuration:
		return convertDuration(n, path, rep)
	case kindDate:
		return convertDate(n, path, rep)
	case kindStrings:
		return convertList[string](n, "an array of strings", path, rep)
	case kindInts:
		return convertList[int64](n, "an array of integers", path, rep)
	case kindMap:
		return convertMap(n, path, rep)
	case kindTables:
		if tables := tablesOf(n); tables != nil {
			return tables, true
		}
		rep.fail(n.at, path, "must be an array of tables, is "+typeName(n.val), "write [["+path+"]]")
		return nil, false
	case kindSize:
		if cron, ok := n.val.(string); ok {
			return map[string]any{"schedule": cron}, true
		}
	}
	if t, ok := n.val.(*table); ok {
		switch s.kind {
		case kindTable, kindSize:
			return checkTable(t, s, path, rep).values, true
		case kindAny:
			return plainMap(t, path, rep), true
		}
	}
	if v, ok := scalar(n.val, s.kind); ok {
		return v, true
	}
	wrongType(n, s.kind, path, rep)
	return nil, false
}

func scalar(v any, k kind) (any, bool) {
	switch x := v.(type) {
	case string:
		return x, k == kindString
	case bool:
		return x, k == kindBool
	case int64:
		if k == kindNumber {
			return float64(x), true
		}
		return x, k == kindInt && x >= math.MinInt32 && x <= math.MaxInt32
	case float64:
		return x, k == kindNumber && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return nil, false
}

func wrongType(n *node, k kind, path string, rep *report) {
	want := map[kind]string{kindString: `a string`, kindBool: "true or false", kindInt: "an integer",
		kindNumber: "a finite number", kindTable: "a table", kindAny: "a table", kindSize: "a cron string or a table"}[k]
	if _, isInt := n.val.(int64); isInt && k == kindInt {
		rep.fail(n.at, path, "is out of range", "write at most 2147483647")
		return
	}
	if f, isNumber := n.val.(float64); isNumber && k == kindNumber {
		rep.fail(n.at, path, fmt.Sprintf("is %v, not a finite number", f), "write a finite number")
		return
	}
	fix := "write " + want
	if _, isTable := n.val.(*table); k == kindString && !isTable {
		fix = "put the value in double quotes"
	}
	rep.fail(n.at, path, "must be "+want+", is "+typeName(n.val), fix)
}

func convertDuration(n *node, path string, rep *report) (any, bool) {
	switch v := n.val.(type) {
	case string:
		d, err := ParseDuration(v)
		switch {
		case err == nil && d.Abs() < time.Millisecond && d != 0:
			rep.fail(n.at, path, fmt.Sprintf("%q is shorter than a millisecond", v), `write "1ms" or more (units: ms, s, m, h, d)`)
			return time.Duration(0), false
		case err == nil:
			return d, true
		}
		fix := `write a number with a unit: "90s", "5m", "2h", "7d"`
		if strings.HasSuffix(err.Error(), "no unit") {
			fix = fmt.Sprintf(`write "%ss" if seconds are meant (units: ms, s, m, h, d)`, strings.TrimSpace(v))
		}
		rep.fail(n.at, path, err.Error(), fix)
	case int64, float64:
		rep.fail(n.at, path, fmt.Sprintf("is a number without a unit (%v)", v), fmt.Sprintf(`write "%vs" if seconds are meant (units: ms, s, m, h, d)`, v))
	default:
		rep.fail(n.at, path, "must be a duration, is "+typeName(v), `write a string with a unit: "90s", "5m", "2h", "7d"`)
	}
	return time.Duration(0), false
}

// convertDate takes 2026-01-01, with or without quotes, as that day's beginning in UTC, or a whole RFC 3339 time.
func convertDate(n *node, path string, rep *report) (any, bool) {
	var text string
	switch v := n.val.(type) {
	case string:
		text = v
	case moment:
		text = string(v)
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	rep.fail(n.at, path, "is not a date", "write a day, such as 2026-01-01")
	return nil, false
}

func convertList[T string | int64](n *node, want, path string, rep *report) (any, bool) {
	list, ok := n.val.([]*node)
	if !ok {
		rep.fail(n.at, path, "must be "+want+", is "+typeName(n.val), "put it in [ ]")
		return nil, false
	}
	out := make([]any, 0, len(list))
	for i, e := range list {
		v, ok := e.val.(T)
		if !ok {
			rep.fail(n.at, fmt.Sprintf("%s[%d]", path, i), "must be "+want+", this element is "+typeName(e.val), "give every element the same type")
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func convertMap(n *node, path string, rep *report) (any, bool) {
	t, ok := n.val.(*table)
	if !ok {
		rep.fail(n.at, path, "must be a table of strings, is "+typeName(n.val), `write { name = "value" }`)
		return nil, false
	}
	out := map[string]any{}
	for _, key := range t.keys {
		v, ok := t.kids[key].val.(string)
		if !ok {
			rep.fail(t.kids[key].at, path+"."+key, "must be a string, is "+typeName(t.kids[key].val), "put the value in double quotes")
			continue
		}
		out[key] = v
	}
	return out, true
}

// plainMap turns a table into values as encoding/json takes them.
func plainMap(t *table, path string, rep *report) map[string]any {
	out := map[string]any{}
	for _, key := range t.keys {
		if v, ok := plainValue(t.kids[key], path+"."+key, rep); ok {
			out[key] = v
		}
	}
	return out
}

func plainValue(n *node, path string, rep *report) (any, bool) {
	switch v := n.val.(type) {
	case *table:
		return plainMap(v, path, rep), true
	case []*node:
		list := make([]any, 0, len(v))
		for i, e := range v {
			if x, ok := plainValue(e, fmt.Sprintf("%s[%d]", path, i), rep); ok {
				list = append(list, x)
			}
		}
		return list, true
	case moment:
		rep.fail(n.at, path, "is a date or time, which JSON has not", "put the value in double quotes")
		return nil, false
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			rep.fail(n.at, path, "is not a number that JSON has", "write a finite number")
			return nil, false
		}
	}
	return n.val, true
}
