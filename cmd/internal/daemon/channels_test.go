package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"serin/alert"
	"serin/configs"
)

const channelsToml = `
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

// channelsConfig loads a config whose channels are all one server.
func channelsConfig(t *testing.T, base string) (*configs.Config, string) {
	t.Helper()
	t.Setenv("HOOK_URL", base+"/hook/plantedtoken")
	t.Setenv("PAGER_KEY", "planted:key")
	path := filepath.Join(t.TempDir(), "serin.toml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(channelsToml, "BASE", base)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path})
	if err := configs.AsError(problems); err != nil {
		t.Fatal(err)
	}
	return cfg, path
}

func TestRoutesOfConfig(t *testing.T) {
	cfg, _ := channelsConfig(t, "http://127.0.0.1:9")
	list, err := Channels(cfg)
	if err != nil {
		t.Fatal(err)
	}
	set := newChannelSet(cfg, list)
	f := func(severity alert.Severity, want ...string) {
		t.Helper()
		facts := alert.Facts{Incident: alert.Incident{Severity: severity}, Alerts: []alert.Fact{{Alert: alert.Alert{State: alert.StateFiring}, Labels: map[string]string{"team": "search"}}}}
		if got := set.routes.Channels(facts); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", severity, got, want)
		}
	}
	f(alert.Critical, "hook", "pager")
	f(alert.Warning, "am", "hook", "ding", "pager", "tg")
	if states := set.states(); len(states) != 1 || states[0].Name() != "am" {
		t.Errorf("channels of state: %v", states)
	}
}

// sink is a channel of state that keeps what it was refreshed with.
type sink struct {
	alert.Channel
	name string
	err  error
	got  [][]alert.Notice
}

func (s *sink) Name() string { return s.name }

func (s *sink) Refresh(_ context.Context, firing []alert.Notice) error {
	s.got = append(s.got, firing)
	return s.err
}

var _ alert.StateChannel = (*sink)(nil)

func TestRefreshGivesEachItsOwn(t *testing.T) {
	var log strings.Builder
	d := &Daemon{log: slog.New(slog.NewTextHandler(&log, nil)), opt: Options{Redact: &Redaction{}}}
	a, b := &sink{name: "a"}, &sink{name: "b", err: errors.New("am-1:9093 http 500")}
	firing := []alert.Notice{{Incident: "1", Channel: "a"}, {Incident: "1", Channel: "b"}, {Incident: "2", Channel: "a"}}
	d.refresh(t.Context(), a, firing)
	d.refresh(t.Context(), b, firing)
	if len(a.got) != 1 || len(a.got[0]) != 2 || len(b.got[0]) != 1 || b.got[0][0].Incident != "1" {
		t.Errorf("a %+v, b %+v", a.got, b.got)
	}
	if !strings.Contains(log.String(), "channel=b") || strings.Contains(log.String(), "channel=a") {
		t.Errorf("log: %s", log.String())
	}
}
