package configs

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
	"serin/probe"
)

func TestMinimal(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, base)
	if got, want := c.Store, (Store{DSN: "/var/lib/serin/serin.db", Retention: 40 * 24 * time.Hour}); got != want {
		t.Errorf("store = %+v, want %+v", got, want)
	}
	if len(c.Runs) != 1 || c.Slack != nil || c.HTTP.Listen != "127.0.0.1:9469" || c.Log != defaultFile().Log {
		t.Errorf("config = %+v", c)
	}
	r := c.Runs[0]
	if r.Canary.Key() != "gw/chat/short" || r.Canary.InputTokens != 30 || r.Canary.MaxTokens != 512 || len(r.Canary.Prompts) < 2 {
		t.Errorf("canary = %s, %d in, %d out, %d prompts", r.Canary.Key(), r.Canary.InputTokens, r.Canary.MaxTokens, len(r.Canary.Prompts))
	}
	if r.Entry.Spread != 5*time.Minute || r.Canary.Interval != 5*time.Minute || r.Cron != "*/5 * * * *" {
		t.Errorf("entry = %+v", r.Entry)
	}
	if diff := cmp.Diff(alert.DefaultRule(), r.Rule); diff != "" {
		t.Errorf("rule (-default +got):\n%s", diff)
	}
	if r.Canary.Target.Provider != "gw" || len(r.Entry.Lanes) != 1 || r.Entry.Lanes[0].Max != 4 {
		t.Errorf("target = %+v, lanes %+v", r.Canary.Target, r.Entry.Lanes)
	}
	if c.Redactor.Redact("key gw-key-123!") != "key ***!" {
		t.Error("the redactor does not know the key")
	}
}

func TestInheritance(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, `
[target_defaults]
connect_timeout = "3s"
stall_timeout = "20s"
labels = { team = "a", tier = "dev" }
api_key_env = "GATEWAY_API_KEY"
extra_body = { top_k = 1, deep = { a = 1, b = 2 } }

[[provider]]
name = "p"
title = "of the provider"
base_url = "https://p.example/v1"
max_in_flight = 9
stall_timeout = "30s"
api_key_file = "key"
labels = { tier = "prod", "app.kubernetes.io/name" = "x" }
extra_body = { deep = { b = 3 } }

[[target]]
name = "one"
provider = "p"
model = "m"
labels = { region = "eu" }

[[target]]
name = "two"
provider = "p"
model = "m"
base_url = "https://two.example/v1"
max_in_flight = 2
stall_timeout = "40s"

[[target]]
name = "three"
base_url = "https://three.example/v1"
model = "m"
api_key_env = "HOOK"

[[scene]]
name = "chat"
targets = ["*"]
short = "*/5 * * * *"
[scene.rule]
m = 3
[rule]
preset = "sharp"
n = 6
min_ratio = 1.4
`, "key", "file-key-789")
	one, two, three := c.Targets[0], c.Targets[1], c.Targets[2]
	if diff := cmp.Diff(map[string]string{"team": "a", "tier": "prod", "region": "eu", "app.kubernetes.io/name": "x"}, one.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"top_k": int64(1), "deep": map[string]any{"a": int64(1), "b": int64(3)}}, one.ExtraBody); diff != "" {
		t.Errorf("extra_body (-want +got):\n%s", diff)
	}
	f := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	f("title", one.Title, "")
	f("provider of one", one.Provider, "p")
	f("provider of three", three.Provider, "three")
	f("base_url of one", one.BaseURL, "https://p.example/v1")
	f("base_url of two", two.BaseURL, "https://two.example/v1")
	f("connect_timeout", one.ConnectTimeout, 3*time.Second)
	f("stall_timeout of one", one.StallTimeout, 30*time.Second)
	f("stall_timeout of two", two.StallTimeout, 40*time.Second)
	f("stall_timeout of three", three.StallTimeout, 20*time.Second)
	f("max_in_flight", []int{one.MaxInFlight, two.MaxInFlight, three.MaxInFlight}, []int{9, 2, 4})
	f("key of one", strings.HasSuffix(one.APIKey.Label(), "/key"), true)
	f("key of three", three.APIKey.Label(), "environment variable HOOK")
	f("redacted", c.Redactor.Redact("file-key-789 gw-key-123"), "*** gw-key-123") // the defaults' key is used by no target
	r := c.Runs[0].Rule
	f("rule", []any{r.Preset, r.Kappa, r.Reprobes, r.M, r.N, r.MinRatio, r.Sigma}, []any{"sharp", 1.375, 9, 3, 6, 1.4, 2.0})
	lanes := c.Runs[1].Entry.Lanes // three, then two: ordered by key
	f("order", []string{c.Runs[0].Canary.Key(), c.Runs[1].Canary.Key(), c.Runs[2].Canary.Key()}, []string{"one/chat/short", "three/chat/short", "two/chat/short"})
	f("lanes of three", fmt.Sprint(lanes), "[{target/three 4}]")
	f("lanes of two", fmt.Sprint(c.Runs[2].Entry.Lanes), "[{target/two 2} {provider/p 9}]")
}

func TestSizes(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, `
[[target]]
name = "gw"
base_url = "https://gateway.example/v1"
model = "acme/m-1"

[[target]]
name = "think"
base_url = "https://gateway.example/v1"
model = "m-2"
reasoning = true

[[scene]]
name = "chat"
targets = ["gw", "*"]
timezone = "Asia/Shanghai"
language = "zh"
metrics = ["ttfa"]
short = { schedule = "@every 30s", spread = "0s", max_tokens = 2048, expect = { contains = "a" } }
long = { schedule = "0 * * * *", prompts = ["p1.txt", "p2.txt"] }

[[price]]
model = "acme/*"
input = 1
output = 2.5
[[price]]
model = "*"
output = 7
`, "p1.txt", strings.Repeat("word ", 200), "p2.txt", strings.Repeat("text ", 200))
	if len(c.Runs) != 4 {
		t.Fatalf("%d runs, want 4: a target chosen twice counts once", len(c.Runs))
	}
	long, short, think := c.Runs[0], c.Runs[1], c.Runs[2]
	if short.Entry.Spread != 0 || short.Canary.MaxTokens != 2048 || short.Canary.Interval != 30*time.Second || short.Canary.Expect.Contains != "a" {
		t.Errorf("short = %+v %+v", short.Entry, short.Canary)
	}
	if len(long.Canary.Prompts) != 2 || long.Canary.InputTokens < 100 || think.Canary.MaxTokens != 4096 {
		t.Errorf("long = %+v; think caps at %d", long.Canary, think.Canary.MaxTokens)
	}
	if p := c.Targets[0].PriceAt(noon); p.Input != probe.Some(1.0) || p.Output != probe.Some(2.5) || p.CachedInput.Known {
		t.Errorf("price of gw = %+v", p)
	}
	if p := c.Targets[1].PriceAt(noon); p.Input.Known || p.Output != probe.Some(7.0) {
		t.Errorf("price of think = %+v", p)
	}
	if got := c.Scenes[0].Metrics; len(got) != 1 || got[0] != probe.TTFA {
		t.Errorf("metrics = %v", got)
	}
}

func TestDirectory(t *testing.T) {
	setEnv(t)
	dir := write(t, map[string]string{
		"10-base.toml":  base + "\n[log]\nlevel = \"debug\"\n",
		"20-more.toml":  "[[target]]\nname = \"gw2\"\nbase_url = \"https://b.example/v1\"\nmodel = \"m\"\n[log]\nformat = \"json\"\n",
		"30-scene.toml": "[[scene]]\nname = \"batch\"\ntargets = [\"gw2\"]\nlong = \"0 * * * *\"\n",
		".hidden.toml":  "nonsense",
		"notes.txt":     "nonsense",
	})
	c, problems := Load(Options{Path: dir, Now: noon})
	if len(butSlack(problems)) > 0 || len(c.Targets) != 2 || len(c.Scenes) != 2 || c.Log != (Log{"debug", "json"}) {
		t.Fatalf("config = %+v\n%s", c, lines(problems))
	}
	dir = write(t, map[string]string{"a.toml": base + "[log]\nlevel = \"debug\"\n", "b.toml": "\n[log]\nlevel = \"info\"\n"})
	_, problems = Load(Options{Path: dir, Now: noon})
	want := fmt.Sprintf("%s:3: error: log.level: is defined twice, first at %s:12; remove one of the two\n", filepath.Join(dir, "b.toml"), filepath.Join(dir, "a.toml"))
	if got := lines(problems); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	f := func(path, want string) {
		t.Helper()
		_, problems := Load(Options{Path: path, Now: noon})
		if got := lines(problems); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", path, got, want)
		}
	}
	f(filepath.Join(dir, "none.toml"), "cannot be read: no such file or directory")
	f(t.TempDir(), "holds no *.toml")
}

func TestOverrides(t *testing.T) {
	setEnv(t)
	t.Setenv("SERIN__LOG__LEVEL", "warn")
	t.Setenv("SERIN__RULE__SIGMA", "2.5")
	t.Setenv("SERIN__RULE__REPROBES", "5")
	t.Setenv("SERIN__RULE__CORROBORATE", "false")
	t.Setenv("SERIN__INCIDENT__GROUP_WAIT", "5s")
	t.Setenv("SERIN__SLACK__WEBHOOK_URL_ENV", "HOOK")
	t.Setenv("SERIN_SERVICE_HOST", "10.0.0.1")
	c := mustLoad(t, base+"[log]\nlevel = \"debug\"\n")
	r := c.Runs[0].Rule
	if c.Log.Level != "warn" || r.Sigma != 2.5 || r.Reprobes != 5 || r.Corroborate || c.Incident.GroupWait != 5*time.Second || c.Slack == nil {
		t.Errorf("config = %+v, rule %+v", c, r)
	}
	other := c.Revision
	t.Setenv("SERIN__LOG__LEVEL", "error")
	if mustLoad(t, base+"[log]\nlevel = \"debug\"\n").Revision == other {
		t.Error("the revision does not see an override")
	}
}

func TestBadOverrides(t *testing.T) {
	setEnv(t)
	f := func(name, value, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, problems := loadText(t, base)
			if got := lines(problems); got != want+"\n" {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
	f("SERIN__TARGET__MODEL", "x", `environment: error: SERIN__TARGET__MODEL: names no single table of the config; remove it; known here: baseline budget digest heartbeat http incident instance log metrics rule slack store target_defaults; tables that come many times are set in the file only`)
	f("SERIN__LOGG__LEVEL", "x", `environment: error: SERIN__LOGG__LEVEL: names no single table of the config; did you mean "log"?; tables that come many times are set in the file only`)
	f("SERIN__LOG__LEVLE", "x", `environment: error: SERIN__LOG__LEVLE: names no key of [log]; did you mean "level"?`)
	f("SERIN__LOG", "x", `environment: error: SERIN__LOG: is not of the form SERIN__TABLE__KEY; name one table and one key, or unset it`)
	f("SERIN__RULE__M", "four", `environment: error: SERIN__RULE__M: cannot be set from the environment as integer; write a number`)
	f("SERIN__RULE__WINDOW", "60", `environment: error: rule.window: duration "60" has no unit; write "60s" if seconds are meant (units: ms, s, m, h, d)`)
	f("SERIN__METRICS__LABELS", "a=b", `environment: error: SERIN__METRICS__LABELS: cannot be set from the environment as table of strings; set it in the file`)
	f("SERIN__SLACK__BOT_TOKEN", "xoxb-1", `environment: error: slack.bot_token: is a secret in the config itself; use bot_token_env, bot_token_file or bot_token_credential (or allow_plain_secrets = true at the top of the file)
environment: error: slack.channel: is missing; a bot token needs the channel to post to, best by its id (C…)`)
}

// TestFleet loads a fleet of 600 canaries; what is judged once a scene must not be judged once a target.
func TestFleet(t *testing.T) {
	setEnv(t)
	var b strings.Builder
	b.WriteString("[target_defaults]\nbase_url = \"https://gateway.example/v1\"\nmodel = \"m\"\n")
	for i := range 200 {
		fmt.Fprintf(&b, "[[target]]\nname = \"t%03d\"\n", i)
	}
	b.WriteString("[[scene]]\nname = \"s\"\ntargets = [\"t*\"]\nshort = \"* * * * *\"\nmedium = \"*/5 * * * *\"\nlong = \"0 * * * *\"\n")
	c := mustLoad(t, b.String())
	if len(c.Runs) != 600 || c.Runs[0].Canary.Key() != "t000/s/long" {
		t.Errorf("%d runs, the first %s", len(c.Runs), c.Runs[0].Canary.Key())
	}
}

func TestRevision(t *testing.T) {
	setEnv(t)
	dir := write(t, map[string]string{"a.toml": base})
	load := func() string {
		c, problems := Load(Options{Path: dir, Now: noon})
		if c == nil {
			t.Fatal(lines(problems))
		}
		return c.Revision
	}
	if first := load(); first != load() || len(first) != 16 {
		t.Errorf("revision %q is not steady", first)
	}
}

// TestLimitsMerge gives two scenes limits over those of [rule]: each keeps its own.
func TestLimitsMerge(t *testing.T) {
	setEnv(t)
	c := mustLoad(t, base+`
[rule]
ttft_limit = { short = { warning = "2s" }, long = { warning = "9s" } }

[[scene]]
name = "a"
targets = ["gw"]
language = "zh"
short = "*/5 * * * *"
[scene.rule]
ttft_limit = { short = { critical = "5s" } }

[[scene]]
name = "b"
targets = ["gw"]
medium = "*/5 * * * *"
rule.ttft_limit.short = { warning = "3s", critical = "6s" }
`)
	f := func(i int, want map[probe.Size]alert.Limit) {
		t.Helper()
		if diff := cmp.Diff(want, c.Runs[i].Rule.TTFTLimit); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Runs[i].Canary.Key(), diff)
		}
	}
	long := alert.Limit{Warning: 9 * time.Second}
	f(0, map[probe.Size]alert.Limit{probe.Short: {Warning: 2 * time.Second, Critical: 5 * time.Second}, probe.Long: long})
	f(1, map[probe.Size]alert.Limit{probe.Short: {Warning: 3 * time.Second, Critical: 6 * time.Second}, probe.Long: long})
	f(2, map[probe.Size]alert.Limit{probe.Short: {Warning: 2 * time.Second}, probe.Long: long})
}
