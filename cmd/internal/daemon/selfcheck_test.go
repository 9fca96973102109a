package daemon

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"serin/alert"
	"serin/cmd/internal/telemetry"
	"serin/configs"
	"serin/probe"
)

// TestSelfCheckSaysItOnce: more than half of an hour's samples suspect is one log line and one notice a channel; so is its
// end, and a few suspects are neither.
func TestSelfCheckSaysItOnce(t *testing.T) {
	var notices []alert.Notice
	var log strings.Builder
	c := &selfCheck{log: slog.New(slog.NewTextHandler(&log, nil)), tel: telemetry.New(configs.Metrics{}), alert: &selfAlert{name: "clock",
		tell: func(n ...alert.Notice) { notices = append(notices, n...) }, names: func() []string { return []string{"slack"} }}}
	now := time.Unix(1_800_000_000, 0)
	take := func(n int, suspect bool) {
		for range n {
			now = now.Add(time.Minute)
			s := &probe.Sample{Outcome: probe.OK, TTFT: probe.Known(300 * time.Millisecond), Stamp: "kernel", Lag: probe.Known(20 * time.Millisecond)}
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
	c.observe(&probe.Sample{Outcome: probe.TimeoutConnect}, now) // saw no token: says nothing
	take(100, false)
	want(2, "in time again")
	var text strings.Builder
	if err := c.tel.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"serin_self_suspect_samples_total", `serin_self_delay_seconds_count`} {
		if !strings.Contains(text.String(), w) {
			t.Errorf("no %s in %s", w, text.String())
		}
	}
}
