package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"serin/probe"
)

// FuzzLoad feeds any text: no input may panic, and a config must come exactly when there is no error.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), "SERIN__RULE__SIGMA=3")
	}
	for _, text := range examples(f) {
		f.Add(text, "SERIN__LOG__LEVEL=warn")
	}
	f.Add("\"a\\u0000b\" = 1\n[labels]\n\"x\\u0000y\".z = 2\n[[target]]\nlabels = { \"a\\u0000b\" = \"c\", \"a\" = \"d\" }", "SERIN__\x00__=")
	f.Add("[[target]]\nx = [{a = 1}, {a = [[]]}]\n[target.y]\nz = {}", "SERIN__A__B__C")
	f.Add("a = "+strings.Repeat("[", 2000), "SERIN__STORE__RETENTION=9d")
	f.Add("[[a]]\n[a.b]\n[[a.b]]\n[a.b.c]\n", "")
	f.Fuzz(func(t *testing.T, text, override string) {
		rep := &report{}
		c, problems := load([]source{{name: "fuzz.toml", data: []byte(text)}}, []string{override}, Options{NoSecrets: true, Now: noon}, rep)
		if (c == nil) != HasErrors(problems) {
			t.Errorf("config is nil: %v, problems:\n%s", c == nil, lines(problems))
		}
		for _, p := range problems {
			if p.What == "" || p.File == "" || p.Severity == "" {
				t.Errorf("half a problem: %+v", p)
			}
			if strings.Contains(p.What, "unmarshal config") {
				t.Errorf("the type check has a hole: %s", p)
			}
		}
	})
}

func TestSetRule(t *testing.T) {
	base, _ := Preset("balanced")
	rule, problems := SetRule(base, "m=3", "sigma = 2.5", "window=2h", "corroborate=false", "ttft_limit.short.warning=3s")
	if len(problems) > 0 || rule.M != 3 || rule.Sigma != 2.5 || rule.Window.Hours() != 2 || rule.Corroborate || rule.TTFTLimit[probe.Short].Warning.Seconds() != 3 {
		t.Errorf("rule = %+v\n%s", rule, lines(problems))
	}
	if base.TTFTLimit != nil {
		t.Error("the base was changed")
	}
	rule, problems = SetRule(base, "kappa=1.6", "preset=sharp")
	if len(problems) > 0 || rule.Reprobes != 9 || rule.Kappa != 1.6 || rule.Preset != "sharp" {
		t.Errorf("rule = %+v\n%s", rule, lines(problems))
	}
	f := func(setting, want string) {
		t.Helper()
		_, problems := SetRule(base, setting)
		if got := lines(problems); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	f("m", `error: m: is not key=value; write for example sigma=2.5`)
	f("sigmma=3", `error: rule.sigmma: is not a key that is known here; did you mean "sigma"?`)
	f("m=x", `error: rule.m: must be an integer, is a string; write an integer`)
	f("m=9", `error: rule.m: is 9 of n = 5: it can never fire; write at most n`)
	f("preset=brisk", `error: rule.preset: "brisk" is unknown; use one of: balanced, sharp, literal`)
	f("preset=quiet", `error: rule.preset: "quiet" was removed: it measured the same as "balanced"; remove it, or write preset = "balanced" with the numbers of quiet: kappa = 1.5 and reprobes = 4`)
	f("window=60", `error: rule.window: duration "60" has no unit; write "60s" if seconds are meant (units: ms, s, m, h, d)`)
	f("ttft_limit.huge.warning=1s", `error: rule.ttft_limit.huge: is not a key that is known here; remove it; known here: long medium short`)
	f("m.x=1", `error: rule.m: must be an integer, is a table; write an integer`)
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		rule, ok := Preset(name)
		if !ok || rule.Preset != name {
			t.Errorf("preset %q = %+v, %v", name, rule, ok)
		}
		if got, problems := SetRule(rule); len(problems) > 0 || got.Literal() != (name == "literal") {
			t.Errorf("preset %q: %s", name, lines(problems))
		}
	}
	if _, ok := Preset("brisk"); ok {
		t.Error("a preset that does not exist")
	}
}
