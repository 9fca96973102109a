package configs

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// place is where a key stands.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line)
}

// form is how a key came into a file.
type form int

const (
	implied form = iota // as the parent of another: a in a.b = 1
	keyed               // key = value
	headed              // [table]
	listed              // [[array]] of tables, or an array of inline tables
)

type entry struct {
	place
	form form
}

// document holds the values of all files and where their keys stand. A path names a key by its tables, the elements of an
// array of tables by their number from 0: target.0.base_url.
type document struct {
	rep    *report
	origin place // of what no file has
	values *koanf.Koanf
	keys   map[string]entry
	order  []string       // of keys, parents first
	count  map[string]int // elements of each array of tables
}

func newDocument(rep *report) *document {
	// No key holds NUL, so koanf splits none: labels and header names may hold dots.
	return &document{rep: rep, values: koanf.New("\x00"), keys: map[string]entry{}, count: map[string]int{}}
}

// parse adds one file: tables merge, arrays of tables add up, a key in two files is a mistake. A file with a mistake of
// syntax is reported and adds nothing.
func (d *document) parse(file string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		before := len(d.rep.problems)
		(&walker{doc: newDocument(d.rep), file: file}).walk(data) // finds both places of what is defined twice
		if len(d.rep.problems) == before {
			d.syntax(file, data, err)
		}
		return
	}
	(&walker{doc: d, file: file}).walk(data)
	d.load(values, koanf.WithMergeFunc(addUp))
}

// load merges values over those that are there.
func (d *document) load(values map[string]any, how ...koanf.Option) {
	if err := d.values.Load(confmap.Provider(values, ""), nil, how...); err != nil {
		d.rep.fail(place{}, "", "merge config: "+err.Error(), "check the types of its tables")
	}
}

// addUp merges the tables of src into dest and appends its arrays.
func addUp(src, dest map[string]any) error {
	for key, v := range src {
		table, isTable := v.(map[string]any)
		list, isList := v.([]any)
		have, areTables := dest[key].(map[string]any)
		lists, areLists := dest[key].([]any)
		switch {
		case isTable && areTables:
			_ = addUp(table, have) // never fails
		case isList && areLists:
			dest[key] = append(lists, list...)
		default:
			dest[key] = v
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`(?m)^(---|[ -]*\w+:( |$))`)

func (d *document) syntax(file string, data []byte, err error) {
	at := place{file: file, line: 1}
	if derr, ok := errors.AsType[*toml.DecodeError](err); ok {
		at.line, _ = derr.Position()
	}
	line := bytes.SplitN(data, []byte("\n"), at.line+1)[at.line-1]
	switch ext := filepath.Ext(file); {
	case slices.Contains([]string{"\xff\xfe", "\xfe\xff"}, string(data[:min(2, len(data))])) || bytes.IndexByte(data[:min(64, len(data))], 0) >= 0:
		d.rep.fail(place{file, 1}, "", "is not TOML: the text is UTF-16, not UTF-8", "save it as UTF-8 (in PowerShell: Out-File -Encoding utf8)")
	case ext == ".yaml" || ext == ".yml" || yamlLine.Match(line):
		d.rep.fail(at, "", "is not TOML: it looks like YAML", `write [[target]] on a line of its own, then name = "…", base_url = "…", model = "…"`)
	default:
		d.rep.fail(at, "", "is not TOML: "+strings.TrimPrefix(err.Error(), "toml: "), "correct the syntax of this line")
	}
}

// walker notes the places of one file's keys.
type walker struct {
	doc   *document
	file  string
	table string // path of the table that keys go into
	ends  []int  // offsets of the ends of lines
	p     unstable.Parser
}

func (w *walker) walk(data []byte) {
	for i, c := range data {
		if c == '\n' {
			w.ends = append(w.ends, i)
		}
	}
	w.p.Reset(data)
	for w.p.NextExpression() {
		switch n := w.p.Expression(); n.Kind {
		case unstable.KeyValue:
			w.keyValue(w.table, n)
		case unstable.Table, unstable.ArrayTable:
			w.header(n, n.Kind == unstable.ArrayTable)
		}
	}
}

// header makes [a.b] or [[a.b]] the current table.
func (w *walker) header(n *unstable.Node, array bool) {
	path, at := w.path("", n)
	w.table = path
	if !array {
		w.add(path, entry{at, headed})
		return
	}
	w.add(path, entry{at, listed})
	w.table = w.element(path, at)
}

// element adds one more element to an array of tables and returns its path.
func (w *walker) element(path string, at place) string {
	i := w.doc.count[path]
	w.doc.count[path]++
	path = join(path, strconv.Itoa(i))
	w.add(path, entry{at, implied})
	return path
}

func (w *walker) keyValue(table string, n *unstable.Node) {
	path, at := w.path(table, n)
	v := n.Value()
	if list := v.Children(); v.Kind == unstable.Array && list.Next() && list.Node().Kind == unstable.InlineTable {
		w.add(path, entry{at, listed})
		for ok := true; ok; ok = list.Next() {
			w.inline(w.element(path, at), list.Node())
		}
		return
	}
	w.add(path, entry{at, keyed})
	w.inline(path, v)
}

// inline notes the keys of a { } table.
func (w *walker) inline(path string, n *unstable.Node) {
	if n.Kind != unstable.InlineTable {
		return
	}
	for it := n.Children(); it.Next(); {
		w.keyValue(path, it.Node())
	}
}

// path returns the path of n's key below a table and the place of its first part; it notes the parents.
func (w *walker) path(table string, n *unstable.Node) (string, place) {
	at := place{file: w.file}
	for it := n.Key(); it.Next(); {
		if at.line == 0 {
			at.line = 1 + sort.SearchInts(w.ends, int(it.Node().Raw.Offset))
		}
		table = join(table, string(it.Node().Data))
		if it.IsLast() {
			break
		}
		if w.doc.keys[table].form == listed { // what follows is about the newest element
			table = join(table, strconv.Itoa(w.doc.count[table]-1))
			continue
		}
		w.add(table, entry{at, implied})
	}
	return table, at
}

// add notes a key, or reports that it is there already.
func (w *walker) add(path string, e entry) {
	have, ok := w.doc.keys[path]
	if !ok {
		w.doc.note(path, e)
		return
	}
	sameFile := have.file == w.file
	switch {
	case e.form == implied && have.form != keyed, e.form == listed && have.form == listed:
	case e.form == headed && (have.form == implied || have.form == headed && !sameFile):
		w.doc.keys[path] = e
	default:
		w.doc.rep.fail(e.place, display(path, nil), "is defined twice, first at "+have.String(), "remove one of the two")
	}
}

func (d *document) note(path string, e entry) {
	d.keys[path] = e
	d.order = append(d.order, path)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// display writes a path for people: target[gw-eu].base_url. names holds the names of elements; without one they are
// numbered from 1.
func display(path string, names map[string]string) string {
	var out, at string
	for part := range strings.SplitSeq(path, ".") {
		at = join(at, part)
		i, err := strconv.Atoi(part)
		switch name := names[at]; {
		case err != nil || out == "":
			out = join(out, part)
		case name != "":
			out += "[" + name + "]"
		default:
			out += fmt.Sprintf("[%d]", i+1)
		}
	}
	return out
}
