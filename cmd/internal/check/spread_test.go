package check

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"serin/probe"
)

// No success: no figure.
func TestB39NoSuccessNoFigure(t *testing.T) {
	failed := probe.Sample{Outcome: probe.HTTP5xx}
	if text := spread(failed, failed); strings.Contains(text, "TTFT") || strings.Contains(text, " 0") && !strings.Contains(text, "0 ok") {
		t.Error(text)
	}
}

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
