package daemon

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/slack"
	"serin/alert/slack/slacktest"
	"serin/baseline/store"
	"serin/configs"
	"serin/probe"
	"serin/probe/fakellm"
)

// rig is a daemon in a bubble, against a scripted endpoint and a fake Slack over pipes.
type rig struct {
	t     *testing.T
	dir   string
	llm   *fakellm.Server
	pipe  *fakellm.Pipe
	slack *slacktest.Server
	cfg   *configs.Config
	log   strings.Builder
	mu    sync.Mutex
	seen  []probe.Sample                                                    // under mu while the daemon runs
	dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = everything leads to llm
	chans func(*configs.Config) ([]alert.Channel, error)                    // nil = the fake Slack
	load  func() (*configs.Config, []configs.Problem)                       // nil = no reload
	start func(d *Daemon)                                                   // nil = nothing more is done at the start
	each  func(s probe.Sample)                                              // nil = nothing more is done with a sample
}

const rigToml = `
[instance]
name = "test"
[store]
dsn = %q
[[target]]
name = "gw"
base_url = "http://gw.test/v1"
model = "m"
[[scene]]
name = "chat"
targets = ["gw"]
short = "*/5 * * * *"
medium = "*/15 * * * *"
long = "0 * * * *"
[slack]
bot_token_file = %q
channel = "#ops"
api_url = "http://slack.test/api/"
`

func newRig(t *testing.T, toml string) *rig {
	r := &rig{t: t, dir: t.TempDir(), llm: fakellm.New(fakellm.Options{Keep: -1}), pipe: fakellm.NewPipe(), slack: slacktest.New("xoxb-test")}
	token := filepath.Join(r.dir, "token")
	if err := os.WriteFile(token, []byte("xoxb-test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.dir, "serin.toml")
	if err := os.WriteFile(path, []byte(fmt.Sprintf(toml, filepath.Join(r.dir, "serin.db"), token)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path})
	if err := configs.AsError(problems); err != nil {
		t.Fatal(err)
	}
	r.cfg = cfg
	srv := &http.Server{Handler: r.llm}
	go func() { _ = srv.Serve(r.pipe) }() // ends with Close
	t.Cleanup(func() { _ = srv.Close(); r.slack.Close() })
	return r
}

// run runs the daemon for d of virtual time and stops it in order.
func (r *rig) run(d time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	red := &Redaction{}
	red.Add(r.cfg.Redactor)
	dial := r.pipe.DialContext
	if r.dial != nil {
		dial = r.dial
	}
	channels := r.channels
	if r.chans != nil {
		channels = r.chans
	}
	begun := func(d *Daemon, _ net.Addr) {
		if r.start != nil {
			r.start(d)
		}
	}
	err := Run(ctx, Options{Config: r.cfg, Channels: channels, Dial: dial, Load: r.load, OnStart: begun, Log: NewLogger(&r.log, "text", NewLevel("info"), red),
		Redact: red, Level: NewLevel("info"), OnSample: func(s probe.Sample) { // probes end in goroutines of their own
			if r.each != nil {
				r.each(s)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.seen = append(r.seen, s)
		}})
	if err != nil {
		r.t.Fatalf("daemon: %v\n%s", err, r.log.String())
	}
}

func (r *rig) channels(cfg *configs.Config) ([]alert.Channel, error) {
	ch, err := slack.New(*cfg.Slack, slack.WithDial(r.slack.Dial))
	return []alert.Channel{ch}, err
}

// history imports seven days of what the endpoint gives when all is well.
func (r *rig) history(now time.Time, ttft, tpot time.Duration) {
	r.t.Helper()
	st, err := store.Open(r.t.Context(), r.cfg.Store.DSN, store.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	added, _, err := st.Import(r.t.Context(), r.calmWeek(now, ttft, tpot))
	if err != nil || added == 0 {
		r.t.Fatalf("import: %d added, %v", added, err)
	}
	if err := st.Close(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) calmWeek(now time.Time, ttft, tpot time.Duration) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		for _, run := range r.cfg.Runs {
			for at := run.Due(now.Add(-7 * 24 * time.Hour)); at.Before(now); at = run.Due(at) {
				s := probe.Sample{Time: at, Target: "gw", Scene: "chat", Size: run.Canary.Size, Outcome: probe.OK, TTFT: probe.Known(ttft), TPOT: probe.Known(tpot)}
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// calm is a scripted answer: first token after ttft, then 9 more, tpot apart.
func calm(ttft, tpot time.Duration) fakellm.Behaviour {
	steps := []fakellm.Step{fakellm.Role(), fakellm.Sleep(ttft), fakellm.Tok("a")}
	for range 9 {
		steps = append(steps, fakellm.Sleep(tpot), fakellm.Tok("b"))
	}
	return fakellm.Behaviour{Script: append(steps, fakellm.Fin("stop"), fakellm.Usage(10), fakellm.Done())}
}

// TestDay runs the whole daemon for 24 virtual hours, with one hour in which the endpoint is twice as slow.
func TestDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttft, tpot = 200 * time.Millisecond, 20 * time.Millisecond
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(ttft, tpot))
		start := time.Now() // the bubble's midnight
		r.history(start, ttft, tpot)
		slow := func(from, to time.Duration) {
			time.AfterFunc(from, func() { r.llm.Set("m", calm(2*ttft, tpot)) })
			time.AfterFunc(to, func() { r.llm.Set("m", calm(ttft, tpot)) })
		}
		slow(12*time.Hour, 13*time.Hour)
		r.run(24 * time.Hour)
		r.checkProbes(ttft, tpot)
		r.checkMessages(start)
	})
}

// checkProbes holds every regular probe against the script: exact counts, exact figures.
func (r *rig) checkProbes(ttft, tpot time.Duration) {
	regular, extra, slow := map[probe.Size]int{}, 0, 0
	for _, s := range r.seen {
		if s.Outcome != probe.OK {
			r.t.Errorf("%s at %s: %s %s", s.Key(), s.Time, s.Outcome, s.Reason)
		}
		if s.TTFT.D != ttft {
			slow++
		}
		if (s.TTFT.D != ttft && s.TTFT.D != 2*ttft) || s.TPOT.D != tpot || s.E2E.D != s.TTFT.D+9*tpot || s.OutputTokens.V != 10 {
			r.t.Errorf("%s at %s: ttft %s tpot %s e2e %s tokens %d", s.Key(), s.Time, s.TTFT.D, s.TPOT.D, s.E2E.D, s.OutputTokens.V)
		}
		if s.Regular() {
			regular[s.Size]++
			continue
		}
		extra++
	}
	if regular[probe.Short] != 288 || regular[probe.Medium] != 96 || regular[probe.Long] != 24 {
		r.t.Errorf("regular probes: %v, want 288 short, 96 medium, 24 long", regular)
	}
	// The first slow probe of short and of medium is followed by 3 each, which with it are the 4 of 5 that fire. The first
	// slow one of long ends the round of 12:00: 2 re-rounds of all three fire; they serve long's own wishes too, which has
	// one more. After the slow hour the first calm probe of medium is followed by 2, and the first calm round, which come each
	// quarter of an hour here, by 2 of all three; they serve long's wishes too. Long runs hourly: it is looked at again 15 and 30 min
	// after it fired, to know whether it lasts.
	if want := 3 + 3 + (2*3 + 1) + 2 + 2*3 + 2; extra != want {
		r.t.Errorf("%d re-probes, want %d", extra, want)
	}
	if slow == 0 {
		r.t.Error("the slow hour was not seen")
	}
}

// checkMessages wants one incident: one message, edited to resolved.
func (r *rig) checkMessages(start time.Time) {
	var posts, updates []slacktest.Call
	for _, c := range r.slack.Calls() {
		switch {
		case c.Method == slacktest.Post && c.Thread == "":
			posts = append(posts, c)
		case c.Method == slacktest.Update:
			updates = append(updates, c)
		}
	}
	if len(posts) != 1 {
		r.t.Fatalf("%d opening messages, want 1: %v\n%s", len(posts), posts, r.log.String())
	}
	opened := posts[0].At.Sub(start)
	if opened < 12*time.Hour || opened > 12*time.Hour+10*time.Minute {
		r.t.Errorf("opened %s after the start, want within 10 min of 12h", opened)
	}
	if text := posts[0].Text; !strings.Contains(text, "first token 400 ms, usually 200 ms (2x)") { // of the canary, or of the slowest of the whole target
		r.t.Errorf("headline %q does not name the number", posts[0].Text)
	}
	last := updates[len(updates)-1]
	if !strings.Contains(last.Text, "RESOLVED") {
		r.t.Errorf("last edit is %q, want RESOLVED", last.Text)
	}
	if at := last.At.Sub(start); at < 13*time.Hour || at > 15*time.Hour+30*time.Minute {
		r.t.Errorf("resolved %s after the start", at)
	}
}
