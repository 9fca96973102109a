package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"serin/alert/slack/slacktest"
	"serin/probe/fakellm"
)

// beSerin makes the test binary the real program, so that it can be killed.
const beSerin = "SERIN_TEST_BE_SERIN"

const killToml = `
[instance]
name = "killed"
[store]
dsn = %q
[http]
listen = "127.0.0.1:0"
[rule]
resolve_for = "2s"
[incident]
group_wait = "0s"
[[target]]
name = "gw"
base_url = %q
model = "m"
[[scene]]
name = "chat"
targets = ["gw"]
metrics = ["ttft"]
short = { schedule = "@every 1s", spread = "0s" }
[slack]
bot_token_file = %q
channel = "#ops"
api_url = %q
`

// killRig is a real serin process against a fake endpoint and a fake Slack.
type killRig struct {
	t        *testing.T
	dir      string
	config   string
	llm      *fakellm.Server
	slack    *slacktest.Server
	requests atomic.Int64
	arrived  chan struct{}
	kills    int
}

func newKillRig(t *testing.T) *killRig {
	r := &killRig{t: t, dir: t.TempDir(), arrived: make(chan struct{}, 1024), llm: fakellm.New(fakellm.Options{Keep: -1}), slack: slacktest.New("xoxb-kill")}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.llm.ServeHTTP(w, q)
		r.requests.Add(1)
		r.arrived <- struct{}{}
	}))
	t.Cleanup(web.Close)
	if err := r.slack.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.slack.Close)
	r.pace(1)
	token := filepath.Join(r.dir, "token")
	r.write(token, "xoxb-kill")
	r.config = filepath.Join(r.dir, "serin.toml")
	r.write(r.config, fmt.Sprintf(killToml, filepath.Join(r.dir, "serin.db"), web.URL+"/v1", token, r.slack.APIURL()))
	r.importWeek()
	return r
}

func (r *killRig) write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// pace makes the endpoint this many times as slow as usual.
func (r *killRig) pace(times float64) {
	r.llm.Set("m", fakellm.Behaviour{TTFT: 150 * time.Millisecond, TPOT: time.Millisecond, OutputTokens: 10, SlowTTFT: times})
}

// importWeek brings seven days of what the endpoint usually gives.
func (r *killRig) importWeek() {
	var lines strings.Builder
	now := time.Now().UTC()
	for at := now.Add(-7 * 24 * time.Hour); at.Before(now); at = at.Add(5 * time.Minute) {
		fmt.Fprintf(&lines, `{"time":%q,"target":"gw","scene":"chat","size":"short","outcome":"ok","ttft_ms":%d}`+"\n", at.Format(time.RFC3339), 150+at.Minute()%7)
	}
	path := filepath.Join(r.dir, "week.jsonl")
	r.write(path, lines.String())
	if out, err := r.serin("import", "-c", r.config, path).CombinedOutput(); err != nil {
		r.t.Fatalf("import: %v\n%s", err, out)
	}
}

func (r *killRig) serin(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), beSerin+"=1", "RUNTIME_DIRECTORY="+r.dir)
	return cmd
}

// life runs the daemon until the condition holds after some request, and kills it with -9.
func (r *killRig) life(until func(requests int) bool) {
	r.t.Helper()
	log, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // only read when the test failed
	cmd := r.serin("run", "-c", r.config)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		r.kills++
	}()
	limit, cancel := context.WithTimeout(r.t.Context(), 60*time.Second)
	defer cancel()
	for n := 1; ; n++ {
		select {
		case <-r.arrived:
			if until(n) {
				return
			}
		case <-limit.Done():
			raw, _ := os.ReadFile(log.Name()) // for the message only
			r.t.Fatalf("no end after %d requests\n%s", n-1, raw)
		}
	}
}

func (r *killRig) calls(method string, thread bool, with string) int {
	n := 0
	for _, c := range r.slack.Calls() {
		if c.Method == method && (c.Thread != "") == thread && strings.Contains(c.Text, with) {
			n++
		}
	}
	return n
}

// TestKill kills the real program with -9 again and again while an alert is pending, fires and resolves: no sample older
// than a second is lost, the alert is told once and resolved once.
func TestKill(t *testing.T) {
	r := newKillRig(t)
	r.life(func(n int) bool { return n == 3 })
	r.pace(4)
	for r.calls(slacktest.Post, false, "") == 0 && r.kills < 12 {
		r.life(func(n int) bool { return n == 4 || r.calls(slacktest.Post, false, "") > 0 })
	}
	for range 2 { // an alert that was told survives
		r.life(func(n int) bool { return n == 3 })
	}
	r.pace(1)
	for r.calls(slacktest.Update, false, "RESOLVED") == 0 && r.kills < 30 {
		r.life(func(n int) bool { return n == 5 || r.calls(slacktest.Update, false, "RESOLVED") > 0 })
	}
	r.life(func(n int) bool { return n == 3 })
	if n := r.calls(slacktest.Post, false, ""); n != 1 {
		t.Errorf("%d opening messages after %d kills, want 1", n, r.kills)
	}
	if n := r.calls(slacktest.Update, false, "RESOLVED"); n < 1 || n > 2 { // a kill between the call and its receipt allows one more
		t.Errorf("%d edits to RESOLVED after %d kills, want 1", n, r.kills)
	}
	r.checkSamples()
}

// checkSamples compares what the endpoint answered with what is stored: each kill may lose the last second, and the probe
// under way.
func (r *killRig) checkSamples() {
	out, err := r.serin("export", "-c", r.config, "--since", "1h").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	stored := 0
	for line := range strings.Lines(string(out)) {
		var s struct {
			Spec    string `json:"spec"`
			Outcome string `json:"outcome"`
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			r.t.Fatal(err)
		}
		if s.Spec != "" && s.Outcome == "ok" { // imported ones have no spec
			stored++
		}
	}
	answered := int(r.requests.Load())
	if lost := answered - stored; lost > 2*r.kills || stored == 0 {
		r.t.Errorf("%d requests answered, %d samples stored, %d kills", answered, stored, r.kills)
	}
}
