package configs

import (
	"fmt"
	"regexp"

	"serin/probe"
	"serin/probe/glob"
)

// loader resolves one config; its methods report what is wrong and go on.
type loader struct {
	opt  Options
	rep  *report
	cfg  *Config
	spec *spec
	top  section

	plain     bool // secrets may stand in the file
	rules     section
	providers map[string]section
	targets   []*target
	scenes    []section
	prices    []probe.Price
	budget    budgetKeys
	crons     map[string]timing
}

// target is a resolved target with the sections its values came from.
type target struct {
	*probe.Target
	from     layers
	lanes    int // max_in_flight of its provider; 0 = no bound
	selected bool
}

// resolve fills l.cfg from the tree.
func (l *loader) resolve(root *table) {
	l.spec = schema()
	l.crons = map[string]timing{}
	l.top = checkTable(root, l.spec, "", l.rep)
	l.plain, _ = l.top.values["allow_plain_secrets"].(bool)
	l.rules = l.single("rule")
	l.learnProxies()
	l.resolveTables()
	l.resolvePrices()
	l.resolveProviders()
	l.resolveTargets()
	l.resolveScenes()
	l.resolveRoutes()
	l.resolveMaintenance()
	l.checkUse()
}

// single returns the section of a table that comes once.
func (l *loader) single(name string) section {
	values, ok := l.top.values[name].(map[string]any)
	if !ok {
		return section{path: name, values: map[string]any{}}
	}
	t, _ := l.top.tree.kids[name].val.(*table) // kindTable gave a map: it is a table
	return section{path: name, tree: t, values: values}
}

// many returns the checked sections of an array of tables.
func (l *loader) many(name string) []section {
	nodes, _ := l.top.values[name].([]*node) // absent or reported
	list := make([]section, 0, len(nodes))
	for i, n := range nodes {
		t, _ := n.val.(*table) // tablesOf saw to that
		list = append(list, checkTable(t, l.spec.keys[name], named(name, i, n), l.rep))
	}
	return list
}

// decode unmarshals; a failure would be a hole in the type check, so it is told as such.
func (l *loader) decode(from layers, out any) {
	if err := from.decode(out); err != nil {
		at, key := from.at("")
		l.rep.fail(at, key, err.Error(), "check the types of this table's values")
	}
}

// IsName reports whether a text can name a target, scene, provider or channel.
func IsName(s string) bool { return namePattern.MatchString(s) }

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// name returns the name of a section; first remembers the names seen, with their places.
func (l *loader) name(s section, first map[string]place) string {
	name, _ := s.values["name"].(string)
	at, key := s.at("name"), s.key("name")
	if name == "" {
		if !s.has("name") && s.tree != nil && s.tree.kids["name"] != nil {
			return "" // of a wrong type, reported
		}
		l.rep.fail(at, key, "is missing", `give it a name: name = "…"`)
		return ""
	}
	if !namePattern.MatchString(name) {
		l.rep.fail(at, key, fmt.Sprintf("%q is not a name", name), "use 1 to 63 of a-z 0-9 . _ - with a letter or digit in front; free text goes into title")
		return ""
	}
	if have, twice := first[name]; twice {
		l.rep.fail(at, key, fmt.Sprintf("%q is the name of another one at %s", name, have), "rename one: their canaries would share keys")
		return ""
	}
	first[name] = at
	return name
}

func (l *loader) resolvePrices() {
	for _, s := range l.many("price") {
		var p probe.Price
		l.decode(layers{s}, &p)
		if p.Model == "" && !s.wrong("model") {
			l.rep.fail(s.at("model"), s.key("model"), "is missing", `name the models by a glob: model = "gpt-4o*"`)
		}
		l.checkPrice(s, p)
		for _, earlier := range l.prices {
			if earlier.Model == p.Model && earlier.From.Equal(p.From) {
				l.rep.warn(s.at("model"), s.key("model"), fmt.Sprintf("%q has a price since then already, and the first counts", p.Model), "remove one, or give it another from")
			}
		}
		l.prices = append(l.prices, p)
	}
}

func (l *loader) checkPrice(s section, p probe.Price) {
	amounts := map[string]probe.Money{"input": p.Input, "cached_input": p.CachedInput, "cache_write": p.CacheWrite, "output": p.Output}
	for _, key := range s.names() {
		if m, ok := amounts[key]; ok && m.V < 0 {
			l.rep.fail(s.at(key), s.key(key), "is below 0", "write dollars per million tokens")
		}
	}
	if !p.Input.Known || !p.Output.Known {
		l.rep.warn(s.at(""), s.path, "has no input or no output price, so no cost is known", "give input and output in dollars per million tokens")
	}
}

// names returns the keys that the section has, in the order of the file.
func (s section) names() []string {
	if s.tree == nil {
		return nil
	}
	return s.tree.keys
}

// pricesOf returns the prices whose glob matches the model, in the order of the file.
func (l *loader) pricesOf(model string) (list []probe.Price) {
	for _, p := range l.prices {
		if glob.Match(p.Model, model) {
			list = append(list, p)
		}
	}
	return list
}

func (l *loader) resolveProviders() {
	l.providers = map[string]section{}
	seen := map[string]place{}
	for _, s := range l.many("provider") {
		if name := l.name(s, seen); name != "" {
			if raw, ok := s.values["base_url"].(string); ok {
				l.httpURL(layers{s}, "base_url", raw) // also where every target has its own
			}
			l.providers[name] = s
			l.cfg.Providers = append(l.cfg.Providers, name)
		}
	}
}
