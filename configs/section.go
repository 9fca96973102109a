package configs

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// section is one table of the config, in the file or not; its methods report what is wrong with its keys.
type section struct {
	l    *loader
	path string
}

// value returns what stands under a path after merging, or nil.
func (l *loader) value(path string) any {
	var v any = l.raw
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// given reports whether the key is there, right or wrong, here or in a table that this one inherits from.
func (s section) given(key string) bool { return s.l.value(join(s.path, key)) != nil }

// has reports whether the key is there without a mistake of its type.
func (s section) has(key string) bool { return s.given(key) && !s.wrong(key) }

// wrong reports whether the key is there with a mistake that was reported.
func (s section) wrong(key string) bool { return s.l.bad[join(s.path, key)] }

// own reports whether the file has the key in this very table.
func (s section) own(key string) bool {
	_, ok := s.l.doc.keys[join(s.path, key)]
	return ok
}

// present reports whether the table is there.
func (s section) present() bool { return s.l.value(s.path) != nil }

func (s section) below(key string) section { return section{s.l, join(s.path, key)} }

// String returns the section's name for people, such as target[gw-eu].
func (s section) String() string { return s.l.display(s.path) }

func (s section) fail(key, what, fix string) { s.l.problem(Error, join(s.path, key), what, fix) }
func (s section) warn(key, what, fix string) { s.l.problem(Warning, join(s.path, key), what, fix) }

// problem reports what is wrong with a path, where it stands: in its own table, in one that this inherits from, else at the
// nearest table around it.
func (l *loader) problem(severity Severity, path, what, fix string) {
	path = strings.TrimSuffix(path, ".")
	found, at := path, path
	for _, from := range append([]string{path}, l.elsewhere(path)...) {
		if _, ok := l.doc.keys[from]; ok {
			found, at = from, from
			break
		}
	}
	for l.doc.keys[at] == (entry{}) && at != "" {
		at = at[:max(strings.LastIndexByte(at, '.'), 0)]
	}
	where := l.doc.keys[at].place
	if at == "" {
		where = l.doc.origin
	}
	l.doc.rep.add(severity, where, display(found, l.names), what, fix)
}

// elsewhere returns the paths that a key of a table may be inherited from, the nearest first.
func (l *loader) elsewhere(path string) (list []string) {
	parts := strings.Split(path, ".")
	for n := min(3, len(parts)); n > 1; n-- {
		for _, base := range l.bases[strings.Join(parts[:n], ".")] {
			list = append(list, strings.Join(append([]string{base}, parts[n:]...), "."))
		}
	}
	return list
}

// each returns the elements of an array of tables.
func (l *loader) each(path string) []section {
	elements, _ := l.value(path).([]any)
	if l.bad[path] {
		return nil // reported
	}
	list := make([]section, len(elements))
	for i := range elements {
		list[i] = section{l, join(path, strconv.Itoa(i))}
	}
	return list
}

func (l *loader) table(path string) section { return section{l, path} }

// oneOf checks a value against a closed list.
func (s section) oneOf(key, value string, list ...string) {
	if slices.Contains(list, value) || s.wrong(key) {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	s.fail(key, fmt.Sprintf("%q is unknown", value), meant(value, list, "use one of: "))
}

// IsName reports whether a text can name a target, scene, provider or channel.
func IsName(s string) bool { return namePattern.MatchString(s) }

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// name returns the section's name, "" where it cannot be used; first remembers the names seen.
func (s section) name(first map[string]section) string {
	name, _ := s.l.value(join(s.path, "name")).(string)
	have, twice := first[name]
	switch {
	case s.wrong("name"): // reported
	case name == "":
		s.fail("name", "is missing", `give it a name: name = "…"`)
	case !namePattern.MatchString(name):
		s.fail("name", fmt.Sprintf("%q is not a name", name), "use 1 to 63 of a-z 0-9 . _ - with a letter or digit in front; free text goes into title")
	case twice:
		at := cmp.Or(s.l.doc.keys[join(have.path, "name")], s.l.doc.keys[have.path])
		s.fail("name", fmt.Sprintf("%q is the name of another one at %s", name, at), "rename one: a name stands for one thing only")
	default:
		first[name] = s
		return name
	}
	return ""
}

// nameFix returns the fix for a name that nothing has.
func nameFix(name string, known []string, what string) string {
	if n, ok := nearest(name, known); ok {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(known) == 0 {
		return "add a [[" + what + "]] of that name"
	}
	return "use one of: " + shorten(known, 10)
}

func shorten(list []string, n int) string {
	if len(list) > n {
		return strings.Join(list[:n], ", ") + fmt.Sprintf(" and %d more", len(list)-n)
	}
	return strings.Join(list, ", ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
