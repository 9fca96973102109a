package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"serin/alert"
	"serin/alert/slack/slacktest"
	"serin/baseline/store"
	"serin/cmd/internal/daemon"
	"serin/cmd/internal/human"
	"serin/configs"
	"serin/probe"
	"serin/probe/fakellm"
)

// targets names the two fake targets; their models have the same names.
func targets() []string { return []string{"gw-eu", "gw-us"} }

const (
	scene = "chat"
	token = "xoxb-demo"
	port  = "127.0.0.1:9469"
)

// Run plays the whole product in one process, printing to out; on a terminal it goes on after the story, unless once.
func Run(ctx context.Context, out io.Writer, once bool) error {
	d := &demo{once: once, out: out}
	defer d.cleanup()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	return d.play(ctx)
}

// demo is the fakes around one real daemon.
type demo struct {
	once  bool
	out   io.Writer
	dir   string
	llm   *fakellm.Server
	slack *slacktest.Server
	cfg   *configs.Config
	url   string
	undo  []func()
}

func (d *demo) cleanup() {
	for i := len(d.undo) - 1; i >= 0; i-- {
		d.undo[i]()
	}
}

// prepare starts the fakes, writes the history and makes the config.
func (d *demo) prepare(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "serin-demo-")
	if err != nil {
		return fmt.Errorf("make a place for the demo's store: %w", err)
	}
	d.dir = dir
	d.undo = append(d.undo, func() { _ = os.RemoveAll(dir) }) // a leftover in the temporary directory hurts nobody
	base, err := d.startLLM(ctx)
	if err != nil {
		return err
	}
	d.slack = slacktest.New(token)
	if err := d.slack.Listen(); err != nil {
		return err
	}
	d.undo = append(d.undo, d.slack.Close)
	if err := d.configure(ctx, base); err != nil {
		return err
	}
	return d.importHistory(ctx)
}

// startLLM serves the fake models on a free loopback port and returns their base URL.
func (d *demo) startLLM(ctx context.Context) (string, error) {
	d.llm = fakellm.New(fakellm.Options{Seed: 1, Keep: -1})
	d.slow(false)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for the fake endpoints: %w", err)
	}
	srv := &http.Server{Handler: d.llm, ReadHeaderTimeout: 10 * time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })                             // ends with Close
	d.undo = append(d.undo, func() { _ = srv.Close(); wg.Wait() }) // what it says of cut connections helps nobody
	return "http://" + l.Addr().String() + "/v1", nil
}

// slow makes gw-eu slow, or as it was.
func (d *demo) slow(on bool) {
	usual := usual()
	for _, name := range targets() {
		d.llm.Set(name, usual)
	}
	if on {
		usual.SlowTTFT, usual.SlowTPOT = 3, 2
		d.llm.Set("gw-eu", usual)
	}
}

// configure makes the config of the demo; all of it could stand in a file of yours.
func (d *demo) configure(ctx context.Context, base string) error {
	listen := port
	if l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", port); err != nil {
		listen = "127.0.0.1:0" // a serin runs here already
	} else if err := l.Close(); err != nil {
		return err
	}
	path, tokenFile := filepath.Join(d.dir, "serin.toml"), filepath.Join(d.dir, "token")
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		return fmt.Errorf("write the demo's token: %w", err)
	}
	if err := os.WriteFile(path, []byte(configText(base, listen, filepath.Join(d.dir, "serin.db"), tokenFile, d.slack.APIURL())), 0o600); err != nil {
		return fmt.Errorf("write the demo's config: %w", err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path})
	d.cfg = cfg
	return configs.AsError(problems)
}

func (d *demo) importHistory(ctx context.Context) error {
	inputs, err := inputTokens(ctx, d.cfg)
	if err != nil {
		return err
	}
	st, err := store.Open(ctx, d.cfg.Store.DSN, store.Options{Version: daemon.Version})
	if err != nil {
		return err
	}
	_, _, err = st.Import(ctx, history(d.cfg, inputs, time.Now()))
	return errors.Join(err, st.Close())
}

// play runs the daemon and tells the story.
func (d *demo) play(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	terminal := human.IsTerminal(d.out)
	d.out = &closing{out: d.out, gone: stop}
	story := &story{out: d.out, start: time.Now(), fault: d.slow, samples: make(chan probe.Sample, 256), slack: make(chan slackMessage, 64)}
	story.terminal, story.newest = terminal, map[string]probe.Sample{}
	redact := &daemon.Redaction{}
	redact.Add(d.cfg.Redactor)
	started := make(chan *daemon.Daemon, 1)
	ended := make(chan error, 1)
	opt := daemon.Options{Config: d.cfg, Channels: d.channels(story), HTTP: true, Log: daemon.NewLogger(d.logFile(), "text", daemon.NewLevel("info"), redact),
		Redact: redact, Level: daemon.NewLevel("info"), OnSample: story.take, OnStart: func(x *daemon.Daemon, addr net.Addr) {
			d.url = "http://" + addr.String()
			started <- x
		}}
	go func() { ended <- daemon.Run(ctx, opt) }()
	select {
	case err := <-ended:
		return fmt.Errorf("start the demo's daemon: %w", err)
	case x := <-started:
		story.status = x.Judged
	}
	_, _ = fmt.Fprintf(d.out, intro, d.url, d.url)
	err := story.tell(ctx)
	if err == nil {
		_, _ = fmt.Fprintf(d.out, outro, d.url)
	}
	if err == nil && story.terminal && !d.once {
		story.goOn(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause // whoever watched is gone
	}
	stop(nil)
	return errors.Join(err, <-ended)
}

// closing ends the demo when its output cannot be written any more.
type closing struct {
	out  io.Writer
	gone context.CancelCauseFunc
}

// Write writes p, or ends the demo.
func (c *closing) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	if err != nil {
		c.gone(err)
	}
	return n, err
}

// channels wraps the real Slack channel so that what it sent is told in the story.
func (d *demo) channels(story *story) func(*configs.Config) ([]alert.Channel, error) {
	return func(cfg *configs.Config) ([]alert.Channel, error) {
		list, err := daemon.Channels(cfg)
		for i := range list {
			list[i] = toldChannel{Channel: list[i], slack: d.slack, story: story, seen: new(int)}
		}
		return list, err
	}
}

// toldChannel shows the messages that the fake Slack took since the last send, and what it refused.
type toldChannel struct {
	alert.Channel
	slack *slacktest.Server
	story *story
	seen  *int
}

// Send sends through the real channel and tells what arrived.
func (t toldChannel) Send(ctx context.Context, n alert.Notice, open alert.Receipt) (alert.Receipt, error) {
	r, err := t.Channel.Send(ctx, n, open)
	if err != nil {
		t.story.say("SLACK  refuses a message: %v", err)
	}
	calls := t.slack.Calls()
	for _, c := range calls[*t.seen:] {
		if !c.Taken {
			continue
		}
		t.story.hear(slackMessage{Method: c.Method, Thread: c.Thread != "", Text: slackText(c)})
	}
	*t.seen = len(calls)
	return r, err
}

// logFile returns where the demo's log goes: a file in its own directory, so that the story stays readable.
func (d *demo) logFile() io.Writer {
	f, err := os.Create(filepath.Join(d.dir, "serin.log"))
	if err != nil {
		return io.Discard
	}
	d.undo = append(d.undo, func() { _ = f.Close() }) // goes with the directory
	return f
}
