package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"serin/configs"
	"strings"
	"sync"
	"testing"
)

func TestNotifyTestTriesEveryChannel(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, r.URL.Path)
		if r.URL.Path == "/pager" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"errcode":0,"ok":true}`))
	}))
	defer srv.Close()
	_, path := everyChannel(t, srv.URL)
	var out strings.Builder
	err := (&notifyTestCmd{configFlag: configFlag{Config: path}, Format: "text", Sample: "slow"}).Run(t.Context(), Options{Stdout: &out, Stderr: &out})
	if err == nil {
		t.Error("a channel that refuses is no failure")
	}
	for _, want := range []string{"ok      am: ", "ok      hook: ", "ok      ding: ", "FAILED  pager: ", "ok      tg: ", "routing key"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "planted") {
		t.Errorf("shows a secret:\n%s", out.String())
	}
	if len(paths) != 5 {
		t.Errorf("calls: %q", paths)
	}
}

// everyChannel loads a config whose channels are all one server.
func everyChannel(t *testing.T, base string) (*configs.Config, string) {
	t.Helper()
	t.Setenv("HOOK_URL", base+"/hook/plantedtoken")
	t.Setenv("PAGER_KEY", "planted:key")
	path := filepath.Join(t.TempDir(), "serin.toml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(everyChannelToml, "BASE", base)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path})
	if err := configs.AsError(problems); err != nil {
		t.Fatal(err)
	}
	return cfg, path
}

const everyChannelToml = `
[[target]]
name = "gw"
base_url = "http://127.0.0.1:9/v1"
model = "m"
labels = { team = "search" }
[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"
[[channel]]
name = "am"
type = "alertmanager"
urls = ["BASE"]
[[channel]]
name = "hook"
type = "webhook"
webhook_url_env = "HOOK_URL"
[[channel]]
name = "ding"
type = "dingtalk"
webhook_url_env = "HOOK_URL"
[[channel]]
name = "pager"
type = "pagerduty"
routing_key_env = "PAGER_KEY"
api_url = "BASE/pager"
[[channel]]
name = "tg"
type = "telegram"
bot_token_env = "PAGER_KEY"
chat_id = "-1"
api_url = "BASE"
[[route]]
match = { team = "search", severity = "critical" }
channels = ["pager", "hook"]
`
