package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBacktestSaysWhatFellOffTheGrid: samples at minutes 2, 7, 12 … are none of a schedule of five minutes since 00:00.
func TestBacktestSaysWhatFellOffTheGrid(t *testing.T) {
	off := strings.NewReplacer(":00:00Z", ":02:00Z", ":05:00Z", ":07:00Z").Replace(string(sampleFile(1, 1, 2, 5, 1)))
	var lines []string
	for line := range strings.Lines(off) {
		if strings.Contains(line, ":02:00Z") || strings.Contains(line, ":07:00Z") {
			lines = append(lines, line)
		}
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Join(lines, ""))
	_, stderr := runText(t, ExitUsage, "backtest", "--samples", path, "--every", "5m")
	for _, want := range []string{"--every 5m", "2026-01-05T00:02:00Z", "leave --every out"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in %q", want, stderr)
		}
	}
	runText(t, ExitOK, "backtest", "--samples", path)
	write(strings.Join(lines, "") + strings.ReplaceAll(string(sampleFile(1, 1, 2, 5, 1)), `"s0"`, `"s1"`))
	_, stderr = runText(t, ExitOK, "backtest", "--samples", path, "--every", "5m")
	if want := "1 of 2 canaries are not judged, they have no regular sample: t0/s0/short"; !strings.Contains(stderr, want) {
		t.Errorf("no %q in %q", want, stderr)
	}
}

// TestBacktestSaysWhereTheGridIsThin: a schedule whose runs drifted off the grid is not taken for one of few samples.
func TestBacktestSaysWhereTheGridIsThin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f := func(onGrid int, code int, want ...string) {
		t.Helper()
		var text strings.Builder
		n := 0
		for line := range strings.Lines(string(sampleFile(1, 1, 2, 5, 1))) {
			if n++; n > onGrid {
				at := strings.Index(line, ":00Z")
				line = line[:at-1] + string(line[at-1]+1) + line[at:] // a minute later
			}
			text.WriteString(line)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr := runText(t, code, "backtest", "--samples", path, "--every", "5m")
		for _, w := range want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%d on the grid: no %q in %q", onGrid, w, stderr)
			}
		}
		if len(want) == 0 && stderr != "" {
			t.Errorf("%d on the grid: %q", onGrid, stderr)
		}
	}
	f(1, ExitUsage, "--every 5m", "hardly a sample", "leave --every out")
	f(200, ExitOK, "1 of 1 canaries", "t0/s0/short (200 of 576)")
	f(500, ExitOK)
	f(576, ExitOK)
}

// TestBacktestSaysWhatWasNeverMeasured: a file whose latencies go by another name must not look like one without alerts.
func TestBacktestSaysWhatWasNeverMeasured(t *testing.T) {
	samples := sampleFile(1, 2, 2, 5, 1)
	f := func(text, want string, args ...string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr := runText(t, ExitOK, append([]string{"backtest", "--samples", path}, args...)...)
		if stderr != want {
			t.Errorf("%q, want %q", stderr, want)
		}
	}
	f(string(samples), "")
	f(strings.ReplaceAll(string(samples), `"tpot_ms"`, `"tpot"`), "")
	f(strings.NewReplacer(`"ttft_ms"`, `"ttft"`, `"tpot_ms"`, `"tpot"`).Replace(string(samples)),
		"2 of 2 canaries are judged by failures alone, no sample of theirs has ttft_ms or tpot_ms: t0/s0/medium, t0/s0/short\n")
	f(string(samples), "2 of 2 canaries are judged by failures alone, no sample of theirs has e2e_ms: t0/s0/medium, t0/s0/short\n", "--metric", "e2e")
}
