package configs

import (
	"regexp"
	"slices"

	"github.com/knadh/koanf/maps"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"serin/alert"
	"serin/probe/secret"
)

// loader resolves one config; its methods report what is wrong and go on.
type loader struct {
	opt   Options
	doc   *document
	spec  *spec
	hints map[string]hint
	raw   map[string]any      // all values, inheritance done
	names map[string]string   // of the elements of arrays of tables, by path
	bases map[string][]string // from which tables one inherits, the nearest first, by path
	bad   map[string]bool     // paths of values with a mistake of their type
	file  file
	cfg   *Config

	providers map[string]section
	targets   []*target
	crons     map[string]timing
	matchable map[string][]string // what can stand under each name of a match table
}

func newLoader(doc *document, o Options) *loader {
	l := &loader{opt: o, doc: doc, spec: schema(), hints: hints(), raw: doc.values.Raw(), names: map[string]string{}, bases: map[string][]string{},
		bad: map[string]bool{}, cfg: &Config{Redactor: &secret.Redactor{}}, providers: map[string]section{}, crons: map[string]timing{}}
	for _, path := range append(l.spec.names(), "http.token") {
		for _, s := range l.each(path) {
			if name, _ := l.value(join(s.path, "name")).(string); name != "" && len(name) <= 80 {
				l.names[s.path] = name
			}
		}
	}
	return l
}

func (l *loader) display(path string) string { return display(path, l.names) }

// unmarshal has tables inherit, checks all keys and types, and fills l.file; rule is that of who names no preset.
func (l *loader) unmarshal(rule alert.Rule) {
	l.checkKeys()
	l.inheritTargets()
	l.inheritRules()
	l.file = defaultFile()
	l.file.Target = slices.Repeat(l.file.Target, len(l.each("target")))
	l.file.Provider = slices.Repeat(l.file.Provider, len(l.each("provider")))
	l.file.Channel, l.file.Route, l.file.Price = nil, nil, nil
	l.file.Maintenance = slices.Repeat(l.file.Maintenance, len(l.each("maintenance")))
	l.file.HTTP.Tokens = nil
	scene := l.file.Scene[0]
	l.file.Scene = nil
	for _, s := range l.each("scene") {
		scene.Rule = l.preset(s.below("rule"), rule)
		l.file.Scene = append(l.file.Scene, scene)
	}
	l.file.Rule = l.preset(l.table("rule"), rule)
	k := koanf.New("\x00")
	_ = k.Load(confmap.Provider(l.raw, ""), nil) // a map of maps always loads
	unmarshal(k, &l.file, func(path string, m mistake) {
		l.bad[path], l.bad[elementEnd.ReplaceAllString(path, "")] = true, true
		l.problem(Error, path, m.what, m.forKey(path))
	})
}

// merge lays tables over each other, the first on top.
func merge(tables ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, t := range slices.Backward(tables) {
		maps.Merge(maps.Copy(t), out)
	}
	return out
}

// elementEnd ends the path of an element of an array.
var elementEnd = regexp.MustCompile(`\.[0-9]+$`)

func asTable(v any) map[string]any {
	t, _ := v.(map[string]any)
	return t
}

// credentialKeys are the ways to give one secret: the nearest table that uses one of them decides alone.
func credentialKeys(name string) []string {
	return []string{name, name + "_env", name + "_file", name + "_credential"}
}

// inheritTargets merges each target with its provider and the defaults: the nearest value wins.
func (l *loader) inheritTargets() {
	defaults := asTable(l.raw["target_defaults"])
	providers := map[string]string{}
	for _, p := range l.each("provider") {
		providers[l.names[p.path]] = p.path
	}
	for _, s := range l.each("target") {
		own := asTable(l.value(s.path))
		if own == nil {
			continue // reported as no table
		}
		far := []map[string]any{defaults}
		l.bases[s.path] = []string{"target_defaults"}
		name, ok := own["provider"].(string)
		if !ok {
			name, _ = defaults["provider"].(string)
		}
		if path, ok := providers[name]; ok && name != "" {
			far = append([]map[string]any{asTable(l.value(path))}, far...)
			l.bases[s.path] = append([]string{path}, l.bases[s.path]...)
		}
		inherit(own, far)
	}
}

// inherit adds to own what it has not from the tables behind it, the nearest first.
func inherit(own map[string]any, far []map[string]any) {
	keys := credentialKeys("api_key")
	decided := slices.ContainsFunc(keys, func(k string) bool { return own[k] != nil })
	tables := []map[string]any{own}
	for _, f := range far {
		t := maps.Copy(f)
		delete(t, "name")
		delete(t, "title")
		here := slices.ContainsFunc(keys, func(k string) bool { return t[k] != nil })
		for _, k := range keys {
			if decided {
				delete(t, k)
			}
		}
		decided = decided || here
		tables = append(tables, t)
	}
	for key, v := range merge(tables...) {
		own[key] = v
	}
}

// inheritRules merges each scene's rule with [rule].
func (l *loader) inheritRules() {
	for _, s := range l.each("scene") {
		scene := asTable(l.value(s.path))
		own, isTable := scene["rule"].(map[string]any)
		if scene == nil || scene["rule"] != nil && !isTable {
			continue // reported
		}
		scene["rule"] = merge(own, asTable(l.raw["rule"]))
		l.bases[s.below("rule").path] = []string{"rule"}
	}
}

// resolve fills l.cfg from the file.
func (l *loader) resolve() {
	l.learnProxies()
	l.resolveInstance()
	l.resolveStore()
	l.resolveHTTP()
	l.resolveLog()
	l.resolveMetrics()
	l.resolveBaseline()
	l.resolveIncident()
	l.resolveBudget()
	l.resolveHeartbeat()
	l.resolveChannels()
	l.resolveDigest()
	l.resolvePrices()
	l.resolveProviders()
	l.resolveTargets()
	l.resolveScenes()
	l.resolveRoutes()
	l.resolveMaintenance()
	l.checkUse()
}

// checkNames reports names that are wrong or given twice.
func (l *loader) checkNames() {
	for _, key := range l.spec.names() {
		if s := l.spec.keys[key]; s.kind != kindTables || s.keys["name"] == nil {
			continue
		}
		seen := map[string]section{}
		for _, s := range l.each(key) {
			if s.own("name") {
				s.name(seen)
			}
		}
	}
}
