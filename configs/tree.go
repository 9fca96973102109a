package configs

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// node is one value of a TOML file with the place of its key. val is a string, int64, float64, bool, moment, []*node
// or *table.
type node struct {
	at  place
	val any
}

// moment is a TOML date or time, as written.
type moment string

// table keeps its keys in the order of the file.
type table struct {
	at     place
	keys   []string
	kids   map[string]*node
	header bool // opened by its own [header]
	tables bool // an element of an [[array]]
}

func newTable(at place) *table { return &table{at: at, kids: map[string]*node{}} }

func (t *table) set(key string, n *node) {
	if _, ok := t.kids[key]; !ok {
		t.keys = append(t.keys, key)
	}
	t.kids[key] = n
}

// grower builds the tree of one file from the parser's expressions.
type grower struct {
	file string
	p    unstable.Parser
	root *table
	cur  *table
	rep  *report
}

// maxFile bounds a config file; a fleet of thousands of targets stays far below.
const maxFile = 16 << 20

// grow parses one file. A syntax error is reported with its line and gives a nil tree.
func grow(file string, data []byte, rep *report) *table {
	if len(data) > maxFile {
		rep.fail(place{file: file}, "", "is larger than 16 MiB", "name the config file")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	g := &grower{file: file, root: newTable(place{file: file}), rep: rep}
	g.cur = g.root
	before := len(rep.problems)
	g.p.Reset(data)
	for g.p.NextExpression() {
		g.expression(g.p.Expression())
	}
	if err := g.p.Error(); err != nil {
		g.syntax(err)
		return nil
	}
	if len(rep.problems) > before {
		return g.root
	}
	// The parser above takes each expression by itself; what holds between them is checked by the decoder.
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		g.syntax(err)
		return nil
	}
	return g.root
}

func (g *grower) syntax(err error) {
	at := place{file: g.file, line: 1}
	msg := err.Error()
	if derr, ok := errors.AsType[*toml.DecodeError](err); ok {
		at.line, _ = derr.Position()
	} else if perr, ok := errors.AsType[*unstable.ParserError](err); ok {
		at.line = g.p.Shape(g.p.Range(perr.Highlight)).Start.Line
	}
	g.rep.fail(at, "", "is not TOML: "+strings.TrimPrefix(msg, "toml: "), "mend the syntax of this line")
}

func (g *grower) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.KeyValue:
		g.assign(g.cur, n)
	case unstable.Table, unstable.ArrayTable:
		g.open(n, n.Kind == unstable.ArrayTable)
	}
}

// path returns the parts of n's key and the place of the first.
func (g *grower) path(n *unstable.Node) ([]string, place) {
	var parts []string
	at := place{file: g.file}
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if at.line == 0 {
			at.line = g.p.Shape(k.Raw).Start.Line
		}
		parts = append(parts, string(k.Data))
	}
	return parts, at
}

// open makes [a.b] or [[a.b]] the current table.
func (g *grower) open(n *unstable.Node, array bool) {
	parts, at := g.path(n)
	t := g.descend(g.root, parts[:len(parts)-1], at)
	last := parts[len(parts)-1]
	have := t.kids[last]
	fresh := newTable(at)
	if array {
		g.cur = fresh
		fresh.tables = true
		list, ok := []*node(nil), true
		if have != nil {
			list, ok = have.val.([]*node)
		}
		if !ok {
			g.twice(at, strings.Join(parts, "."), have.at)
			return
		}
		t.set(last, &node{at: at, val: append(list, &node{at: at, val: fresh})})
		return
	}
	g.cur = g.child(t, last, at)
	if g.cur.header {
		g.twice(at, strings.Join(parts, "."), g.cur.at)
	}
	g.cur.header, g.cur.at = true, at
}

func (g *grower) descend(t *table, parts []string, at place) *table {
	for _, p := range parts {
		t = g.child(t, p, at)
	}
	return t
}

// child returns the table under key, the newest one of an array; where something else stands there, it is a mistake
// and what follows goes into a table of its own.
func (g *grower) child(t *table, key string, at place) *table {
	have := t.kids[key]
	if have == nil {
		fresh := newTable(at)
		t.set(key, &node{at: at, val: fresh})
		return fresh
	}
	switch v := have.val.(type) {
	case *table:
		return v
	case []*node:
		if len(v) > 0 {
			if last, ok := v[len(v)-1].val.(*table); ok && last.tables {
				return last
			}
		}
	}
	g.twice(at, key, have.at)
	return newTable(at)
}

func (g *grower) twice(at place, key string, first place) {
	g.rep.fail(at, key, "is defined twice, first at "+first.String(), "remove one of the two")
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line)
}

func (g *grower) assign(t *table, n *unstable.Node) {
	parts, at := g.path(n)
	t = g.descend(t, parts[:len(parts)-1], at)
	last := parts[len(parts)-1]
	if have := t.kids[last]; have != nil {
		g.twice(at, strings.Join(parts, "."), have.at)
		return
	}
	t.set(last, &node{at: at, val: g.value(n.Value(), at)})
}

func (g *grower) value(n *unstable.Node, at place) any {
	switch n.Kind {
	case unstable.String:
		return string(n.Data)
	case unstable.Bool:
		return string(n.Data) == "true"
	case unstable.Integer:
		return integer(string(n.Data))
	case unstable.Float:
		return float(string(n.Data))
	case unstable.Array:
		list := []*node{}
		for it := n.Children(); it.Next(); {
			e := &node{at: at, val: g.value(it.Node(), at)}
			if t, ok := e.val.(*table); ok {
				t.tables = true
			}
			list = append(list, e)
		}
		return list
	case unstable.InlineTable:
		t := newTable(at)
		for it := n.Children(); it.Next(); {
			g.assign(t, it.Node())
		}
		return t
	}
	return moment(n.Data)
}

// integer reads a TOML integer; one that does not fit becomes a float, which no integer key takes.
func integer(s string) any {
	i, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 64)
	if err != nil {
		return float(s)
	}
	return i
}

func float(s string) any {
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && f == 0 {
		return moment(s)
	}
	return f
}

// graft adds the keys of b to a: tables are merged, arrays of tables add up, a key in both is a mistake.
func graft(a, b *table, path string, rep *report) {
	for _, key := range b.keys {
		have, more := a.kids[key], b.kids[key]
		if have == nil {
			a.set(key, more)
			continue
		}
		ta, oka := have.val.(*table)
		tb, okb := more.val.(*table)
		la, lb := tablesOf(have), tablesOf(more)
		switch {
		case oka && okb:
			graft(ta, tb, path+key+".", rep)
		case la != nil && lb != nil:
			a.set(key, &node{at: have.at, val: append(la, lb...)})
		default:
			rep.fail(more.at, path+key, "is defined twice, first at "+have.at.String(), "remove one of the two")
		}
	}
}

// tablesOf returns the elements of an [[array]] of tables, or nil.
func tablesOf(n *node) []*node {
	list, ok := n.val.([]*node)
	if !ok || len(list) == 0 {
		return nil
	}
	for _, e := range list {
		if t, ok := e.val.(*table); !ok || !t.tables {
			return nil
		}
	}
	return list
}

// typeName says for people what a value is.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case moment:
		return "a date or time"
	case []*node:
		return "an array"
	case *table:
		return "a table"
	}
	return fmt.Sprintf("%T", v)
}
