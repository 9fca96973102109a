package configs

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// noon is when every test's schedules are judged from.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// setEnv gives a test a known environment.
func setEnv(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "SLACK_WEBHOOK_URL", "SLACK_BOT_TOKEN", "SLACK_CHANNEL", "CREDENTIALS_DIRECTORY"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, overridePrefix) {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	t.Setenv("STATE_DIRECTORY", "/var/lib/serin:/var/lib/other")
	t.Setenv("GATEWAY_API_KEY", "gw-key-123")
	t.Setenv("ANTHROPIC_API_KEY_TEST", "ak-45678")
	t.Setenv("HOOK", "https://hooks.slack.example/services/T000/B000/abcdefghijklmnop")
}

// write puts files into a fresh directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mustLoad loads a text and fails the test on a problem; files are names and texts of what lies beside it.
func mustLoad(t *testing.T, text string, files ...string) *Config {
	t.Helper()
	c, problems := loadText(t, text, files...)
	if c == nil {
		t.Fatalf("load: %s", lines(problems))
	}
	return c
}

func loadText(t *testing.T, text string, files ...string) (*Config, []Problem) {
	t.Helper()
	all := map[string]string{"serin.toml": text}
	for i := 0; i < len(files); i += 2 {
		all[files[i]] = files[i+1]
	}
	dir := write(t, all)
	return Load(Options{Path: filepath.Join(dir, "serin.toml"), Now: noon})
}

// butSlack leaves out that nobody is told, which most configs of these tests do not care about.
func butSlack(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Severity == Warning && p.Key == "slack" })
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// golden holds text against a file of testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// base is a config without a mistake.
const base = `[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "m"
api_key_env = "GATEWAY_API_KEY"

[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"
`

// examples returns the example configs by name.
func examples(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("examples/*.toml")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d examples, error %v", len(files), err)
	}
	out := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".toml")] = string(text)
	}
	return out
}

func TestExamples(t *testing.T) {
	setEnv(t)
	t.Setenv("SLACK_WEBHOOK_URL", "https://hooks.slack.example/services/T000/B000/abcdefghijklmnop")
	t.Setenv("SLACK_BOT_TOKEN", "xoxb-1-2-3")
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AZURE_OPENAI_API_KEY"} {
		t.Setenv(name, "ak-45678")
	}
	for name, text := range examples(t) {
		t.Run(name, func(t *testing.T) {
			c, problems := loadText(t, text)
			if name == "local" { // tells nobody, on purpose
				problems = butSlack(problems)
			}
			if c == nil || len(problems) > 0 {
				t.Fatalf("problems:\n%s", lines(problems))
			}
			if len(c.Runs) == 0 {
				t.Error("no canary comes of it")
			}
		})
	}
}

// TestBad holds the problems of each testdata/bad/NAME.toml against NAME.txt.
func TestBad(t *testing.T) {
	setEnv(t)
	t.Setenv("SPACED", "sk-a b")
	t.Setenv("NOT_A_HOOK", "hooks.slack.example/secret")
	t.Setenv("PLAIN_HOOK", "http://qyapi.example.com/cgi-bin/webhook/send?key=0123456789abcdef")
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d fixtures, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".toml"), func(t *testing.T) {
			c, problems := Load(Options{Path: file, Now: noon})
			if len(problems) == 0 {
				t.Error("no problem is found")
			}
			if (c == nil) != HasErrors(problems) {
				t.Errorf("config is nil: %v, but errors: %v", c == nil, HasErrors(problems))
			}
			for _, p := range problems {
				if p.Key == "" && !strings.HasPrefix(p.What, "is not TOML") || p.Line == 0 || p.Fix == "" || p.What == "" {
					t.Errorf("no key, line or fix: %+v", p)
				}
			}
			golden(t, strings.TrimSuffix(file, ".toml")+".txt", lines(problems))
		})
	}
}
