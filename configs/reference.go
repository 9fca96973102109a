package configs

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// meanings is the reference without types and defaults: prose, and a table of keys and meanings for each table of a config.
//
//go:embed reference.in.md
var meanings string

var (
	chapterHead = regexp.MustCompile("^## `\\[*([a-z_.]+)")
	keyRow      = regexp.MustCompile("^\\| `([a-z_]+)` \\| (.*) \\|$")
)

// Reference returns the key reference in Markdown: every key with its type, default and meaning. The error names a key
// without a meaning, or a meaning of what is no key.
func Reference() (string, error) {
	root := schema()
	var b strings.Builder
	var table *spec
	path, inTable, written := "", false, map[string]bool{}
	for line := range strings.Lines(strings.Replace(meanings, "CHANNEL TYPES", channelTypesText(), 1)) {
		line = strings.TrimSuffix(line, "\n")
		if head := chapterHead.FindStringSubmatch(line); head != nil {
			path = head[1]
			if path == "short" { // [[scene]]'s sizes as tables
				path = "scene.short"
			}
			table = root.find(path)
			written[path] = true
		}
		row := keyRow.FindStringSubmatch(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case line == "| key | meaning |":
			line, inTable = "| key | type | default | meaning |", true
		case !inTable:
		case line == "|---|---|":
			line = "|---|---|---|---|"
		case row != nil && table.keys[row[1]] == nil:
			return "", fmt.Errorf("write reference: %s.%s is no key", path, row[1])
		case row != nil:
			key := table.keys[row[1]]
			def := key.def
			if def != "" {
				def = "`" + def + "`"
			}
			written[path+"."+row[1]] = true
			line = fmt.Sprintf("| `%s` | %s | %s | %s |", row[1], key.kind, def, row[2])
		}
		b.WriteString(line + "\n")
	}
	return b.String(), undocumented(root, written)
}

// undocumented names a key that is not in the reference. The keys of a provider and of the defaults are those of a target,
// a secret's other ways stand with its _env.
func undocumented(root *spec, written map[string]bool) error {
	for _, table := range append(root.names(), "http.token", "scene.short") {
		for _, key := range root.find(table).names() {
			as := table + "." + key
			if table == "provider" || table == "target_defaults" {
				as = "target." + key
			}
			base := strings.TrimSuffix(strings.TrimSuffix(as, "_file"), "_credential")
			if !written[as] && !written[base+"_env"] && !strings.HasPrefix(as, "http.token_") {
				return fmt.Errorf("write reference: no meaning for %s", as)
			}
		}
	}
	return nil
}
