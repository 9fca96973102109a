package daemon

import (
	"bytes"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/secret"
)

// TestGoLog: what Go's own packages print is redacted before it is cut, shown at level debug alone, and bounded.
func TestGoLog(t *testing.T) {
	t.Cleanup(func() { log.SetOutput(os.Stderr); log.SetFlags(log.LstdFlags) })
	secret := strings.Repeat("k", 64)
	hide := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	print := func(level slog.Level, lines int) string {
		var out bytes.Buffer
		LogGo(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})), hide)
		for range lines {
			log.Printf("Unsolicited response received on idle HTTP channel starting with %q", strings.Repeat("x", goLength-100)+secret)
		}
		time.Sleep(time.Minute)
		log.Print("later")
		return out.String()
	}
	synctest.Test(t, func(t *testing.T) {
		if got := print(slog.LevelInfo, 5); got != "" {
			t.Errorf("at level info: %s", got)
		}
		got := print(slog.LevelDebug, 1000)
		if n := strings.Count(got, "Unsolicited"); n != goLines || strings.Contains(got, "kkk") || !strings.Contains(got, "lines=990") || !strings.Contains(got, "text=later") {
			t.Errorf("%d lines of 1000: %s", n, got)
		}
	})
}

// TestPanicIsRedacted: a part that panics ends the daemon, and its value reaches stderr through the redactor alone.
func TestPanicIsRedacted(t *testing.T) {
	var out bytes.Buffer
	code := 0
	key, err := secret.FromValue("a key", "sk-planted-key-1")
	if err != nil {
		t.Fatal(err)
	}
	var known secret.Redactor
	known.Add(key)
	hidden := &Redaction{}
	hidden.Add(&known)
	d := &Daemon{opt: Options{Exit: func(c int) { code = c }}}
	d.log = slog.New(&redactHandler{next: slog.NewTextHandler(&out, nil), redact: hidden})
	d.guarded(func() { panic("answer holds sk-planted-key-1") })()
	if got := out.String(); code != exitPanic || strings.Contains(got, "planted") || !strings.Contains(got, "answer holds ***") || !strings.Contains(got, "golog_test.go") {
		t.Errorf("exit %d: %s", code, got)
	}
}
