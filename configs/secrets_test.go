package configs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const keyFile = `[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "m"
api_key_file = "key"

[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"
`

func TestSecretFileModes(t *testing.T) {
	setEnv(t)
	f := func(mode os.FileMode, want string) {
		t.Helper()
		dir := write(t, map[string]string{"serin.toml": keyFile, "key": "sk-12345\n"})
		key := filepath.Join(dir, "key")
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		_, problems := Load(Options{Path: filepath.Join(dir, "serin.toml"), Now: noon})
		got := strings.ReplaceAll(lines(butSlack(problems)), dir+"/", "")
		if got != want {
			t.Errorf("mode %o: got %q, want %q", mode, got, want)
		}
	}
	f(0o600, "")
	f(0o640, "")
	f(0o644, "serin.toml:5: warning: target[gw].api_key_file: file key may be read by everybody (mode 0644); chmod 600 key\n")
	f(0o602, "serin.toml:5: error: target[gw].api_key_file: file key may be written by everybody (mode 0602); chmod 600 key\n")
}

func TestCredential(t *testing.T) {
	setEnv(t)
	dir := write(t, map[string]string{"gw": "sk-cred1\n"})
	if err := os.Chmod(filepath.Join(dir, "gw"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	c := mustLoad(t, strings.ReplaceAll(keyFile, `api_key_file = "key"`, `api_key_credential = "gw"`))
	if len(butSlack(c.Warnings)) > 0 {
		t.Errorf("warnings: %s", lines(c.Warnings))
	}
	if v, err := c.Targets[0].APIKey.Reveal(); v != "sk-cred1" || err != nil {
		t.Errorf("key = %q, %v", v, err)
	}
	// A key file below the credentials' directory is guarded as well.
	c = mustLoad(t, strings.ReplaceAll(keyFile, `"key"`, `"`+filepath.Join(dir, "gw")+`"`))
	if len(butSlack(c.Warnings)) > 0 {
		t.Errorf("warnings: %s", lines(c.Warnings))
	}
}

func TestGuarded(t *testing.T) {
	setEnv(t)
	f := func(path string, want bool) {
		t.Helper()
		if got := guarded(path); got != want {
			t.Errorf("guarded(%q) = %v", path, got)
		}
	}
	f("/run/secrets/key", true)
	f("/run/secrets-of-all/key", false)
	f("/run/secrets/../key", false)
	f("/etc/key", false)
}

func TestPlainSecretsAllowed(t *testing.T) {
	setEnv(t)
	text := `allow_plain_secrets = true
[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "m"
api_key = "sk-plain-1"
headers = { Authorization = "Bearer sk-plain-2" }
headers_env = { "X-Other" = "OTHER" }
proxy = "http://u:pw-plain-3@proxy.example:3128"

[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"

[slack]
webhook_url = "https://hooks.slack.example/services/T0/B0/zzzzzzzzzzzzzzzz"
`
	t.Setenv("OTHER", "Token sk-plain-4")
	t.Setenv("HTTPS_PROXY", "http://u:pw-env-5@proxy.example:3128")
	c := mustLoad(t, text)
	said := c.Redactor.Redact("sk-plain-1 sk-plain-2 pw-plain-3 sk-plain-4 pw-env-5 https://hooks.slack.example/services/T0/B0/zzzzzzzzzzzzzzzz /services/T0/B0/zzzzzzzzzzzzzzzz")
	if said != "*** *** *** *** *** https://hooks.slack.example*** ***" {
		t.Errorf("redacted: %s", said)
	}
	shown, err := json.Marshal(c.Slack)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%+v %v %#v", c.Slack, c.Slack, c.Slack), string(shown), fmt.Sprintf("%+v", *c.Targets[0])} {
		if strings.Contains(s, "zzzz") || strings.Contains(s, "sk-plain-1") {
			t.Errorf("a secret is shown: %s", s)
		}
	}
}

func TestNoSecrets(t *testing.T) {
	setEnv(t)
	text := strings.Replace(base, "GATEWAY_API_KEY", "NOT_HERE", 1) + `
[slack]
bot_token_file = "not-here"
channel = "C1"
[http]
listen = "0.0.0.0:9469"
token_file = "not-here"
`
	dir := write(t, map[string]string{"serin.toml": text})
	path := filepath.Join(dir, "serin.toml")
	if c, problems := Load(Options{Path: path, NoSecrets: true, Now: noon}); c == nil || len(problems) > 0 {
		t.Errorf("without secrets: %s", lines(problems))
	}
	if c, problems := Load(Options{Path: path, Now: noon}); c != nil || len(problems) != 3 {
		t.Errorf("with secrets: %s", lines(problems))
	}
}

// TestProblemsHoldNoSecret loads configs whose secrets are all wrong in some way.
func TestProblemsHoldNoSecret(t *testing.T) {
	setEnv(t)
	t.Setenv("K1", "hush 1")
	t.Setenv("K2", "hush-2")
	t.Setenv("K3", "hush\x013")
	_, problems := loadText(t, `[[target]]
name = "gw"
base_url = "https://u:hush@gateway.example/v1?key=hush"
model = "m"
api_key_env = "K1"
headers = { "X-Api-Key" = "hush" }
headers_env = { "X-A" = "K3" }
proxy = "ftp://u:hush@h"
extra_body = { api_key = "hush" }
[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"
[slack]
webhook_url_env = "K2"
bot_token = "hush"
[metrics]
push_url = "https://u:hush@push.example"
`)
	if got := lines(problems); len(problems) < 8 || strings.Contains(got, "hush") {
		t.Errorf("%d problems:\n%s", len(problems), got)
	}
}

func TestPastedSecrets(t *testing.T) {
	setEnv(t)
	f := func(line string) {
		t.Helper()
		_, problems := loadText(t, strings.Replace(keyFile, `api_key_file = "key"`, line, 1))
		if got := lines(problems); !strings.Contains(got, "looks like the secret itself") || strings.Contains(got, "hush") {
			t.Errorf("%s: %s", line, got)
		}
	}
	f(`api_key_env = "sk-hush"`)
	f(`api_key_env = "hushhushhushhush1234567890"`)
	f(`api_key_env = "hush/hush+hush="`)
	f(`api_key_file = "sk-hush"`)
	f(`api_key_credential = "sk-hush"`)
	f(`headers_env = { "X-Key" = "hush-hush" }`)
	good := func(name string) {
		t.Helper()
		if !variableName(name) {
			t.Errorf("%q is a name", name)
		}
	}
	good("OPENAI_API_KEY")
	good("my_key_2")
	good("gateway_eu_primary_api_key_2")
	good("A_VERY_LONG_NAME_OF_A_VARIABLE_2026")
}

// TestShortSecrets: what cannot be told from ordinary text is refused where it is configured, by key, with the fix.
func TestShortSecrets(t *testing.T) {
	setEnv(t)
	t.Setenv("SHORT", "EMPTY")
	t.Setenv("SHORT_HOOK", "http://10.0.0.1:101/hook")
	t.Setenv("SHORT_TOKEN", "https://beat.example/ping/in?token=abc")
	t.Setenv("GOOD_HOOK", "http://10.0.0.1:101/services/T0/B0/x")
	f := func(old, line, want string) {
		t.Helper()
		_, problems := loadText(t, strings.Replace(base, old, line, 1))
		if got := lines(problems); !strings.Contains(got, want) || strings.Contains(got, "EMPTY") || strings.Contains(got, "abc") {
			t.Errorf("%s: %s", line, got)
		}
	}
	f(`"GATEWAY_API_KEY"`, `"SHORT"`, "api_key_env: environment variable SHORT is shorter than 8 characters, too short to be told from ordinary text and masked; use one of 8 characters or more")
	f(`model = `, "headers_env = { X-A = \"SHORT\" }\nmodel = ", "headers_env.X-A: environment variable SHORT is shorter than 8 characters")
	f("[[scene]]", "[slack]\nwebhook_url_env = \"SHORT_HOOK\"\n[[scene]]", "slack.webhook_url_env: its path has only 5 characters: this part is too short to be told from ordinary text")
	f("[[scene]]", "[heartbeat]\nurl_env = \"SHORT_TOKEN\"\n[[scene]]", `heartbeat.url_env: its query parameter "token" has only 3 characters`)
	f("[[scene]]", "[metrics]\npush_url = \"http://10.0.0.1/push?token=abc\"\n[[scene]]", `metrics.push_url: its query parameter "token" has only 3 characters`)
	c := mustLoad(t, strings.Replace(base, "[[scene]]", "[slack]\nwebhook_url_env = \"GOOD_HOOK\"\n[metrics]\npush_url = \"http://10.0.0.1/push?token=abcdefgh\"\n[[scene]]", 1))
	const before = "POST http://10.0.0.1:101/services/T0/B0/x: dial tcp 10.0.0.1:101: refused; push http://10.0.0.1/push?token=abcdefgh"
	if got, want := c.Redactor.Redact(before), "POST http://10.0.0.1:101***: dial tcp 10.0.0.1:101: refused; push http://10.0.0.1/push***"; got != want {
		t.Errorf("%s", got)
	}
}
