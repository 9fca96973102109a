package app

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// TestSelfCheckSaysItOnce: more than half of an hour's samples suspect is one log line and one notice a channel; so is its
// end, and a few suspects are neither.
func TestSelfCheckSaysItOnce(t *testing.T) {
	var notices []alert.Notice
	var log strings.Builder
	c := &selfCheck{log: slog.New(slog.NewTextHandler(&log, nil)), tel: testTelemetry(), alert: &selfAlert{name: "clock",
		tell: func(n ...alert.Notice) { notices = append(notices, n...) }, names: func() []string { return []string{"slack"} }}}
	now := time.Unix(1_800_000_000, 0)
	take := func(n int, suspect bool) {
		for range n {
			now = now.Add(time.Minute)
			s := sampleOf(probe.OK)
			s.Stamp, s.Lag = "kernel", probe.Known(20*time.Millisecond)
			if suspect {
				s.Flags = []probe.Flag{probe.ClientSuspect}
			}
			c.observe(s, now)
		}
	}
	want := func(n int, text string) {
		t.Helper()
		if len(notices) != n || strings.Count(log.String(), "level=WARN") != (n+1)/2 {
			t.Fatalf("%d notices, want %d; log: %s", len(notices), n, log.String())
		}
		if n > 0 && !strings.Contains(notices[n-1].Message.Headline, text) {
			t.Errorf("headline %q, want %q", notices[n-1].Message.Headline, text)
		}
	}
	take(selfFewest-1, true) // too few to tell
	want(0, "")
	now = now.Add(selfWindow) // and too old
	take(selfFewest, false)
	take(selfFewest-1, true) // 5 of 11
	want(0, "")
	take(10, true)
	want(1, "measures late")
	take(20, true)
	want(1, "measures late")
	c.observe(sampleOf(probe.TimeoutConnect), now) // saw no token: says nothing
	take(100, false)
	want(2, "in time again")
	text := exposed(t, c.tel)
	for _, w := range []string{"serin_self_suspect_samples_total", `serin_self_delay_seconds_count`} {
		if !strings.Contains(text, w) {
			t.Errorf("no %s in %s", w, text)
		}
	}
}

// TestMachine reads both versions of control groups, and threads that come and go.
func TestMachine(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := machine{root: root}
	if _, ok := m.throttled(); ok {
		t.Error("throttled is known without a control group")
	}
	m.read()
	if _, ok := m.runQueueDelay(); ok {
		t.Error("the run queue is known without schedstat")
	}
	f := func(cgroup, stat, text string, want time.Duration) {
		t.Helper()
		write("proc/self/cgroup", cgroup)
		write(stat, text)
		if d, ok := m.throttled(); !ok || d != want {
			t.Errorf("%s: throttled %v (%t), want %v", stat, d, ok, want)
		}
	}
	f("4:cpu,cpuacct:/a\n1:name=systemd:/\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_periods 1\nthrottled_time 7000\n", 7*time.Microsecond)
	f("0::/b\n", "sys/fs/cgroup/b/cpu.stat", "usage_usec 5\nthrottled_usec 9\n", 9*time.Microsecond)
	f("0::/not/seen/inside\n", "sys/fs/cgroup/cpu.stat", "throttled_usec 11\n", 11*time.Microsecond)

	thread := func(tid, waited int) {
		write(fmt.Sprintf("proc/self/task/%d/schedstat", tid), fmt.Sprintf("5 %d 7\n", waited))
	}
	thread(1, 100)
	m.read()
	thread(1, 150)
	thread(2, 30) // new: all of its wait is ours
	m.read()
	if err := os.RemoveAll(filepath.Join(root, "proc/self/task/2")); err != nil {
		t.Fatal(err)
	}
	thread(1, 160)
	m.read()
	if d, ok := m.runQueueDelay(); !ok || d != 90 {
		t.Errorf("waited %d (%t), want 90", d, ok)
	}
}
