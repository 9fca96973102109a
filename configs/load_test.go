package configs

import (
	"fmt"
	"strings"
	"testing"
)

// TestProbesOnly wants no credential that a probe of the chosen targets does not need.
func TestProbesOnly(t *testing.T) {
	setEnv(t)
	dir := write(t, map[string]string{"serin.toml": base + `
[[target]]
name = "other"
base_url = "https://other.example/v1"
model = "m"
api_key_env = "NOT_SET"
[[scene]]
name = "more"
targets = ["other"]
medium = "*/5 * * * *"
[slack]
webhook_url_env = "NOT_SET"
[heartbeat]
url_env = "NOT_SET"
[[http.token]]
name = "ci"
role = "read"
token_file = "nowhere"
`})
	f := func(o Options, want int) {
		t.Helper()
		o.Path, o.Now = dir+"/serin.toml", noon
		if c, problems := Load(o); len(problems) != want || (c == nil) != (want > 0) {
			t.Errorf("%+v: %d problems, want %d:\n%s", o, len(problems), want, lines(problems))
		}
	}
	f(Options{}, 4)
	f(Options{ProbesOnly: true}, 1)
	f(Options{ProbesOnly: true, Pattern: "other/more"}, 1)
	f(Options{ProbesOnly: true, Pattern: "gw"}, 0)
}

// TestManyProblems lists the first and says how many more there are.
func TestManyProblems(t *testing.T) {
	setEnv(t)
	var b strings.Builder
	b.WriteString(base + "[log]\n")
	for i := range 300 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	_, problems := loadText(t, b.String())
	if len(problems) != maxListed+1 || problems[0].Line != 12 || problems[maxListed].What != "200 more problems are not listed" || !HasErrors(problems[maxListed:]) {
		t.Errorf("%d problems, the last %s", len(problems), problems[len(problems)-1])
	}
}
