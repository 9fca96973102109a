package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// all is the allowance of a room that wires the others.
const all = "*"

// arrows lists, for each directory, which directories of ours its non-test files may import. A directory that is not
// named here may import nothing of ours, and a new one has to be named. A new arrow is a decision: write its reason
// beside it.
var arrows = map[string][]string{
	"probe/wire":     nil, // leaf: protocols know bytes, not canaries
	"probe/prompt":   nil, // leaf
	"probe/schedule": nil, // leaf: knows no LLM
	"probe/secret":   nil, // leaf: whoever holds, sends or prints a credential imports it
	"probe/glob":     nil, // leaf: one dialect of patterns for all rooms
	"probe/fakellm":  nil, // leaf: a server that shares no code with its client proves more
	"probe":          {"probe/wire", "probe/prompt", "probe/secret"},
	"baseline/level": nil, // leaf: mathematics knows residuals and times
	"baseline":       {"baseline/level", "probe"},
	"alert":          {"baseline", "baseline/level", "probe", "probe/glob"}, // alerts store the level's state, and ask for the step score
	// Judging, telling and delivery know nothing of each other: the daemon carries data from one to the next.
	"alert/engine":   {"alert", "baseline", "baseline/level", "probe", "probe/glob"},
	"alert/incident": {"alert", "alert/message"},
	"alert/message":  {"alert", "probe"},                      // the words; probe has the outcomes and their advice
	"alert/slack":    {"alert", "alert/post", "probe/secret"}, // a channel knows the neutral message, nothing of what caused it
	// Delivery knows notices and channels, not what they are about.
	"alert/outbox": {"alert"},
	// Each channel technology is one package; none knows another.
	"alert/post":         {"alert", "probe/secret"}, // the HTTP call of them all
	"alert/webhook":      {"alert", "alert/post", "probe/secret"},
	"alert/alertmanager": {"alert", "alert/post", "probe/secret"},
	"alert/pagerduty":    {"alert", "alert/post", "probe/secret"},
	"alert/chart":        nil, // pictures know values and times, nothing of alerts
	// A scripted Slack for the demo and for tests; a leaf like fakellm, so that it cannot agree with its client by accident.
	"alert/slack/slacktest": nil,
	// The quality benchmark brings simulated endpoints to the production engine.
	"alert/sim": {"alert", "alert/replay", "baseline", "probe"},
	// Its command line, outside the binary; the presets are those of configs.
	"alert/sim/simulate": {"alert/sim", "configs"},
	// Recorded samples are brought to the production engine too, for backtest.
	"alert/replay":   {"alert", "alert/engine", "baseline", "probe"},
	"baseline/store": {"alert", "baseline", "probe", "probe/glob"},
	// configs composes the option structs of those who own them.
	"configs": {"probe", "probe/wire", "probe/prompt", "probe/secret", "probe/schedule", "probe/glob", "baseline", "alert", "alert/slack", "alert/webhook",
		"alert/alertmanager", "alert/pagerduty"},
	"cmd/internal/web": {"alert", "baseline", "probe", "probe/glob", "probe/secret"},
	// Counting knows samples and the config's labels, nothing of what is judged.
	"cmd/internal/telemetry": {"configs", "probe"},
	// Values as text, for every command; probe says what of a sample is not known.
	"cmd/internal/human": {"probe"},
	"cmd/internal/plan":  {"configs", "probe", "probe/schedule"}, // what a config comes to, for validate
	// A diagnosis starts from a probe and its target; wire says in which header a key goes, configs which name is nearest.
	"cmd/internal/check": {"probe", "probe/wire", "configs", "cmd/internal/human"},
	// Explanations read what the store keeps of decisions, and judge nothing again.
	"cmd/internal/explain": {"alert", "baseline", "baseline/store", "probe", "cmd/internal/human"},
	"cmd/internal/daemon":  {all},                                                                                                                                              // wires every room
	"cmd/internal/demo":    {"alert", "alert/slack/slacktest", "baseline", "baseline/store", "configs", "probe", "probe/fakellm", "cmd/internal/daemon", "cmd/internal/human"}, // a daemon against fakes
	"cmd/internal/cli":     {all},                                                                                                                                              // a command per room
	"cmd/serin":            {"cmd/internal/cli"},
}

// topLevel is what may lie at the top of the repository, besides dotfiles and what .gitignore keeps out.
var topLevel = []string{"LICENSE", "README.md", "alert", "baseline", "cmd", "configs", "deploy", "go.mod", "go.sum", "probe"}

// ignored is what .gitignore keeps out at the top.
var ignored = []string{"dist", "serin"}

// clockless are the directories whose files take time as an argument; the waits of delivery are real.
var clockless = []string{"baseline", "alert"}

// hasClock reports whether a file below a clockless directory may read the clock all the same.
func hasClock(file string) bool {
	dir, _ := path.Split(file)
	return strings.HasPrefix(dir, "alert/slack/") || dir == "alert/webhook/" || dir == "alert/alertmanager/" || dir == "alert/pagerduty/" || dir == "alert/outbox/"
}

func TestArrows(t *testing.T) {
	for _, v := range layerFaults(sources(t, os.DirFS("../.."))) {
		t.Error(v)
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range topLevelFaults(entries) {
		t.Error(v)
	}
}

func TestClockIsAnArgument(t *testing.T) {
	for _, v := range clockFaults(sources(t, os.DirFS("../.."))) {
		t.Error(v)
	}
}

// TestGuards shows that each guard sees what it is there for.
func TestGuards(t *testing.T) {
	tree := fstest.MapFS{
		"probe/wire/a.go":          {Data: []byte("package wire\n\nimport \"serin/probe\"\n\nvar _ probe.Sample\n")},
		"probe/a.go":               {Data: []byte("package probe\n\nimport \"serin/probe/wire\"\n\nvar _ wire.Ask\n")},
		"probe/a_test.go":          {Data: []byte("package probe\n\nimport _ \"serin/alert\"\n")},
		"probe/gpu/a.go":           {Data: []byte("package gpu\n")},
		"alert/a.go":               {Data: []byte("package alert\n\nimport clock \"time\"\n\nvar now = clock.Now\n")},
		"alert/outbox/a.go":        {Data: []byte("package outbox\n\nimport \"time\"\n\nvar x = time.Now()\n")},
		"alert/slack/a.go":         {Data: []byte("package slack\n\nimport \"time\"\n\nvar x = time.Now()\n")},
		"baseline/a.go":            {Data: []byte("package baseline\n\nimport \"time\"\n\nvar d = time.Since\n\nvar e = time.Second\n")},
		"baseline/testdata/bad.go": {Data: []byte("not Go")},
		".hidden/a.go":             {Data: []byte("not Go")},
		"scripts/README":           {Data: []byte("x")},
	}
	files := sources(t, tree)
	wantFaults(t, "arrows", layerFaults(files), "probe/gpu is not in the list", "probe/wire imports serin/probe")
	wantFaults(t, "clock", clockFaults(files), "alert/a.go:5: time.Now", "baseline/a.go:5: time.Since")
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		t.Fatal(err)
	}
	wantFaults(t, "top level", topLevelFaults(entries), "scripts is at the top level")
}

// wantFaults wants exactly one fault for each prefix, in that order.
func wantFaults(t *testing.T, guard string, got []string, prefixes ...string) {
	t.Helper()
	if len(got) != len(prefixes) {
		t.Errorf("%s: got %d faults, want %d: %q", guard, len(got), len(prefixes), got)
		return
	}
	for i, p := range prefixes {
		if !strings.HasPrefix(got[i], p) {
			t.Errorf("%s: got %q, want it to begin with %q", guard, got[i], p)
		}
	}
}

// source is one parsed non-test file; name is its path from the top of the repository.
type source struct {
	name string
	fset *token.FileSet
	file *ast.File
}

// sources parses every non-test Go file of tree, whatever its build tags, but what the go tool leaves out.
func sources(t *testing.T, tree fs.FS) []source {
	t.Helper()
	var list []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && leftOut(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		list = append(list, source{name, fset, f})
		return err
	})
	if err != nil {
		t.Fatalf("read the repository's Go files: %v", err)
	}
	if len(list) == 0 {
		t.Fatal("the repository has no Go file: the guards look in the wrong place")
	}
	return list
}

// leftOut reports whether the go tool leaves out a directory of this name.
func leftOut(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// layerFaults says, sorted, which directories break the arrows.
func layerFaults(files []source) []string {
	found := map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.name)
		allowed, known := arrows[dir]
		if !known {
			found[dir+" is not in the list of arrows: find its nouns a home that exists, or add it to arrows in layers_test.go with its reason"] = true
			continue
		}
		for _, spec := range f.file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
			of, ours := strings.CutPrefix(imported, "serin/")
			if ours && !slices.Contains(allowed, of) && !slices.Contains(allowed, all) {
				found[fmt.Sprintf("%s imports %s in %s: it may import %s; move the code to where the arrow is allowed, or let the caller hand it in",
					dir, imported, path.Base(f.name), orNothing(allowed))] = true
			}
		}
	}
	return sortedKeys(found)
}

func orNothing(allowed []string) string {
	if len(allowed) == 0 {
		return "nothing of ours"
	}
	return strings.Join(allowed, ", ")
}

// clockFaults says which files of the clockless directories read the clock.
func clockFaults(files []source) []string {
	found := map[string]bool{}
	for _, f := range files {
		top, _, _ := strings.Cut(f.name, "/")
		if !slices.Contains(clockless, top) || hasClock(f.name) {
			continue
		}
		name := importedAs(f.file, "time")
		ast.Inspect(f.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if ok && pkg.Name == name && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
				pos := f.fset.Position(sel.Pos())
				found[fmt.Sprintf("%s:%d: time.%s: here time is an argument, so that a replay decides as the daemon did; take it from the caller",
					pos.Filename, pos.Line, sel.Sel.Name)] = true
			}
			return true
		})
	}
	return sortedKeys(found)
}

// importedAs returns the name under which a file knows an import path, "" when it does not import it.
func importedAs(f *ast.File, imported string) string {
	for _, spec := range f.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(imported)
	}
	return ""
}

// topLevelFaults says what lies at the top of the repository and does not belong there.
func topLevelFaults(entries []fs.DirEntry) []string {
	var out []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(topLevel, name) || slices.Contains(ignored, name) {
			continue
		}
		out = append(out, name+" is at the top level, which is fixed: put it below "+strings.Join(topLevel, ", ")+", or under .ci when it is a tool")
	}
	return out
}

func sortedKeys(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}
