package daemon

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/configs"
	"serin/probe"
)

// A canary that leaves the config leaves /metrics too: a probe of it that ends later does not bring it back.
func TestReloadForgetsWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		path := filepath.Join(r.dir, "serin.toml")
		load := func() (*configs.Config, []configs.Problem) { return configs.Load(configs.Options{Path: path}) }
		red := &Redaction{}
		red.Add(r.cfg.Redactor)
		var before, after string
		ended := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		begun := func(d *Daemon, _ net.Addr) {
			go func() {
				defer close(ended)
				defer stop()
				time.Sleep(time.Minute)
				gone, _ := d.run("gw/chat/long")
				before = metricsOf(t, d)
				text, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(path, bytes.Replace(text, []byte(`long = "0 * * * *"`), nil, 1), 0o600); err != nil {
					t.Error(err)
					return
				}
				if err := (reloader{d}).reload(t.Context()); err != nil {
					t.Error(err)
				}
				d.deliver(d.unsent(gone, time.Now(), probe.Client, "shutdown"))
				after = metricsOf(t, d)
			}()
		}
		if err := Run(ctx, Options{Config: r.cfg, Load: load, Channels: r.channels, Dial: r.pipe.DialContext, OnStart: begun,
			Log: NewLogger(&r.log, "text", NewLevel("info"), red), Redact: red, Level: NewLevel("info")}); err != nil {
			t.Error(err)
		}
		<-ended
		if !strings.Contains(before, `size="long"`) || strings.Contains(after, `size="long"`) || !strings.Contains(after, `size="short"`) {
			t.Errorf("before the reload:\n%s\nafter it:\n%s", seriesOfProbes(before), seriesOfProbes(after))
		}
	})
}

func metricsOf(t *testing.T, d *Daemon) string {
	var text bytes.Buffer
	if err := d.tel.Write(&text); err != nil {
		t.Error(err)
	}
	return text.String()
}

func seriesOfProbes(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "size=") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// Whoever asked for something and hung up meanwhile does not leave it half done; an engine that ended takes nothing.
func TestInEngine(t *testing.T) {
	d := &Daemon{engineOps: make(chan func(context.Context)), ended: make(chan struct{})}
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		call := <-d.engineOps
		hangUp()
		call(t.Context())
	}()
	done := false
	if !d.onEngine(ctx, func(context.Context) { done = true }) || !done {
		t.Error("what had begun was not waited for")
	}
	if d.onEngine(ctx, func(context.Context) { t.Error("it ran") }) {
		t.Error("the caller was gone")
	}
	close(d.ended)
	if d.onEngine(t.Context(), func(context.Context) { t.Error("it ran") }) {
		t.Error("the engine had ended")
	}
}
