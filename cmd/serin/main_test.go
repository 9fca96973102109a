package main

import (
	"flag"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"serin/alert/slack/slacktest"
	"serin/probe/fakellm"
)

var update = flag.Bool("update", false, "write the expected output of scripts anew")

// TestMain makes the program callable as "serin" in scripts.
func TestMain(m *testing.M) {
	if os.Getenv(beSerin) != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"serin": main})
}

// TestScripts runs the commands as a user does. Scripts find a fake endpoint at $LLM, one with a key at $LLM_KEYED, and a
// fake Slack at $SLACK_API and $SLACK_HOOK.
func TestScripts(t *testing.T) {
	calm := fakellm.Behaviour{TTFT: 5 * time.Millisecond, TPOT: time.Millisecond, OutputTokens: 20}
	open := httptest.NewServer(fakellm.New(fakellm.Options{Models: []string{"fake-7b", "fake-70b"}, Default: calm}))
	t.Cleanup(open.Close)
	keyed := httptest.NewServer(fakellm.New(fakellm.Options{Key: "sk-planted-key-123456", Default: calm}))
	t.Cleanup(keyed.Close)
	slack := slacktest.New("xoxb-planted-token")
	if err := slack.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(slack.Close)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireUniqueNames: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){"envsubst": envsubst, "record": record, "fleet": fleet, "brief": brief, "reverse": reverse, "plant": plant}, Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", e.WorkDir)
		e.Setenv("LLM", open.URL)
		e.Setenv("LLM_KEYED", keyed.URL)
		e.Setenv("SLACK_API", slack.APIURL())
		e.Setenv("SLACK_HOOK", slack.WebhookURL())
		return nil
	}})
}

// envsubst replaces ${NAME} in files by the script's variables.
func envsubst(ts *testscript.TestScript, neg bool, files []string) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: envsubst file...")
	}
	for _, name := range files {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}
