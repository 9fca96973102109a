package plan

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/configs"
	"serin/probe/schedule"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

var update = flag.Bool("update", false, "rewrite golden files")

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../../configs/examples/*.toml")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %d examples, error %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, path := mustLoad(t, string(text)), filepath.Join("testdata", "examples", strings.TrimSuffix(filepath.Base(file), ".toml")+".txt")
		got := Summarize(c, Options{Now: noon}).String() + DeliveryOf(c).String()
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
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

func mustLoad(t *testing.T, text string) *configs.Config {
	t.Helper()
	t.Setenv("STATE_DIRECTORY", t.TempDir())
	path := filepath.Join(t.TempDir(), "serin.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := configs.Load(configs.Options{Path: path, NoSecrets: true, Now: noon})
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

func TestRuns(t *testing.T) {
	c := mustLoad(t, base+`medium = { schedule = "30 2,14 * * *", spread = "0s" }
timezone = "Europe/Berlin"
`)
	list := Runs(c, noon, 3)
	if len(list) != 2 || list[0].Key != "gw/chat/medium" || list[1].Key != "gw/chat/short" {
		t.Fatalf("schedule = %+v", list)
	}
	for i, want := range []string{"2026-03-02T14:30:00+01:00", "2026-03-03T02:30:00+01:00", "2026-03-03T14:30:00+01:00"} {
		if got := list[0].Runs[i].Format(time.RFC3339); got != want {
			t.Errorf("medium run %d = %s, want %s", i, got, want)
		}
	}
	offset := schedule.Offset("gw/chat/short", 5*time.Minute, 5*time.Minute)
	if list[1].Offset != offset || offset == 0 {
		t.Errorf("offset = %s, want %s", list[1].Offset, offset)
	}
	for i, run := range list[1].Runs { // the run due at noon itself is sent after it
		if want := noon.Add(offset).Add(time.Duration(i) * 5 * time.Minute); !run.Equal(want) {
			t.Errorf("short run %d = %s, want %s", i, run, want)
		}
	}
	if len(list[0].Notes) != 2 { // no 02:30 in spring, two in autumn
		t.Errorf("notes = %q", list[0].Notes)
	}
}

func TestDelivery(t *testing.T) {
	t.Setenv("HOOK", "https://hooks.slack.example/services/T000/B000/abcdefghijklmnop")
	c := mustLoad(t, base+`
[slack]
webhook_url_env = "HOOK"
[[channel]]
name = "ops"
type = "slack"
bot_token_env = "GATEWAY_API_KEY"
channel = "#ops"
[[route]]
match = { severity = "critical", target = "gw*" }
channels = ["ops"]
[[route]]
channels = ["slack"]
`)
	want := `channel slack (slack): posts only: no edits, no threads
channel ops (slack): edits its message, writes into its thread
route: severity = critical, target = gw* to ops
route: everything to slack
route: what none of these matches to all channels
`
	if got := DeliveryOf(c).String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
