package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// problemsOf loads a directory of files and returns its problems, without the directory's name.
func problemsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	setEnv(t)
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, problems := Load(Options{Path: dir})
	var out []string
	for _, p := range problems {
		out = append(out, strings.ReplaceAll(p.String(), dir+"/", ""))
	}
	return out
}

const goodTarget = "[[target]]\nname = \"a\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n"
const goodScene = "[[scene]]\nname = \"s\"\ntargets = [\"a\"]\nshort = \"*/5 * * * *\"\n"

// hooked tells somebody: a config without any channel gets a warning.
const hooked = "[slack]\nwebhook_url_env = \"HOOK\"\n"

// TestABrokenFileHidesNothing reports the mistakes of what can be read beside the one that cannot, and nothing that
// follows from what is not there.
func TestABrokenFileHidesNothing(t *testing.T) {
	got := problemsOf(t, map[string]string{
		"a.toml": "[[target]\nname = \"a\"\n",
		"b.toml": goodScene + "timzone = \"UTC\"\n[log]\nlevel = 3\n",
		"c.toml": "[[target]]\nname = \"c\"\n[[target]]\nname = \"c\"\n[rule]\nsigma = nan\n",
	})
	want := []string{"a.toml:1: error: is not TOML", "b.toml:5: error: scene[s].timzone: is not a key", "b.toml:7: error: log.level: must be a string, is an integer",
		"c.toml:4: error: target[c].name: \"c\" is the name of another one at ", "c.toml:6: error: rule.sigma: is NaN, not a finite number; write a finite number"}
	if len(got) != len(want) {
		t.Fatalf("%d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
			t.Errorf("%q is not told:\n%s", w, strings.Join(got, "\n"))
		}
	}
}

// TestOneMistakeIsToldOnce takes what is right, and says one thing of what is wrong.
func TestOneMistakeIsToldOnce(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		got := problemsOf(t, map[string]string{"c.toml": text})
		if len(got) != len(want) {
			t.Errorf("%s\n%d problems, want %d:\n%s", text, len(got), len(want), strings.Join(got, "\n"))
			return
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q, want %q in it", got[i], want[i])
			}
		}
	}
	f(goodTarget + goodScene + hooked)
	f(`target = [{name = "a", base_url = "http://127.0.0.1:1/v1", model = "m"}]` + "\n" + `scene = [{name = "s", targets = ["a"], short = "*/5 * * * *"}]` + "\n" + hooked)
	f(strings.Replace(goodTarget, `"m"`, "5", 1)+goodScene, "target[a].model: must be a string, is an integer")
	f(strings.Replace(goodTarget, `"http://127.0.0.1:1/v1"`, "true", 1)+goodScene, "target[a].base_url: must be a string, is a boolean")
	f(goodTarget+"stall_timeout = \"1ns\"\n"+goodScene, `target[a].stall_timeout: "1ns" is shorter than a millisecond; write "1ms"`)
	f(goodTarget+goodScene+"[rule]\nkappa = inf\n", "rule.kappa: is +Inf, not a finite number")
	f("[[provider]]\nname = \"p\"\nbase_url = \"x\"\n"+goodTarget+"provider = \"p\"\n"+goodScene, "provider[p].base_url: has no http:// or https:// in front")
}
