package app

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe"
)

// okOf is a success with one TTFT.
func okOf(ttft time.Duration) probe.Sample {
	return probe.Sample{Outcome: probe.OK, Family: probe.FamilyOK, TTFT: probe.Known(ttft)}
}

func spread(samples ...probe.Sample) string {
	var out bytes.Buffer
	printSpread(&out, samples)
	return out.String()
}

// Failures are counted beside the latency, and leave its figures alone.
func TestB25FailuresAreNoLatency(t *testing.T) {
	var mixed []probe.Sample
	for range 10 {
		mixed = append(mixed, okOf(300*time.Millisecond), probe.Sample{Outcome: probe.HTTP5xx})
	}
	if text := spread(mixed...); !strings.Contains(text, "min 300 ms  max 300 ms  (n 10 and 10 failed)") {
		t.Error(text)
	}
}

// A percentile that lies among failures is not met; it is not the best of what was left.
func TestB26FailuresAreEndless(t *testing.T) {
	f := func(failed int, o probe.Outcome, want string) {
		t.Helper()
		samples := make([]probe.Sample, 0, 100)
		for i := range 100 {
			if i < failed {
				samples = append(samples, probe.Sample{Outcome: o})
				continue
			}
			samples = append(samples, okOf(300*time.Millisecond))
		}
		if text := spread(samples...); !strings.Contains(text, want) {
			t.Errorf("%d of 100 %s: %s does not say %q", failed, o, text, want)
		}
	}
	f(10, probe.TimeoutFirstToken, "p50 300 ms  p95 not met")
	f(4, probe.TimeoutFirstToken, "p50 300 ms  p95 300 ms")
	f(60, probe.Reset, "p50 not met  p95 not met")
	f(10, probe.Auth, "p50 300 ms  p95 300 ms") // our own fault says nothing of the server's speed
}

// A slow answer does not thin the schedule unseen: every run that found no room is a stored sample.
func TestB36SlowAnswersAreNotOmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toml := strings.NewReplacer(`model = "m"`, "model = \"m\"\nmax_in_flight = 1\nfirst_token_timeout = \"90s\"", `short = "*/5 * * * *"`, `short = { schedule = "@every 10s", spread = "0s" }`,
			`medium = "*/15 * * * *"`, "", `long = "0 * * * *"`, "").Replace(rigToml)
		r := newRig(t, toml)
		r.llm.Set("m", calm(60*time.Second, time.Millisecond))
		r.run(65 * time.Second)
		skipped, answered := 0, 0
		for _, s := range r.seen {
			switch s.Outcome {
			case probe.Skipped:
				skipped++
			case probe.OK:
				answered++
			}
		}
		// The first run is due at 10 s and answers 60 s later, after the end; runs due from 20 s to 50 s give up after 10 s each.
		if skipped < 3 || skipped+answered < 4 {
			t.Errorf("%d skipped and %d answered samples of the runs of a minute", skipped, answered)
		}
	})
}

// No success: no figure.
func TestB39NoSuccessNoFigure(t *testing.T) {
	failed := probe.Sample{Outcome: probe.HTTP5xx}
	if text := spread(failed, failed); strings.Contains(text, "TTFT") || strings.Contains(text, " 0") && !strings.Contains(text, "0 ok") {
		t.Error(text)
	}
}
