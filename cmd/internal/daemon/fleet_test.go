package daemon

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"serin/alert"
	"serin/configs"
	"serin/probe"
)

// Size of the fleet: 500 canaries on one-minute schedules.
const (
	fleetTargets = 250
	fleetRun     = 150 * time.Second
)

// BenchmarkFleet runs the daemon with 500 canaries, each once a minute, against a fake endpoint in another process. It
// reports how much later than their spread slot probes were sent, and the memory of the process. One iteration takes
// two and a half minutes: go test ./cmd/internal/daemon -run - -bench Fleet -benchtime 1x
func BenchmarkFleet(b *testing.B) {
	base := startFake(b)
	for b.Loop() {
		lags := runFleet(b, base, fleetRun, nil, nil)
		slices.Sort(lags)
		b.ReportMetric(rankOf(lags, .5), "lag-ms-p50")
		b.ReportMetric(rankOf(lags, .95), "lag-ms-p95")
		b.ReportMetric(rankOf(lags, 1), "lag-ms-max")
		b.ReportMetric(float64(len(lags)), "probes")
		b.ReportMetric(peakMB(b), "peak-MB")
	}
}

func startFake(b *testing.B) string {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), exe)
	cmd.Env = append(os.Environ(), beFake+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/v1"
}

// runFleet runs the fleet for a time and returns how late each probe was sent, milliseconds. channels and started may be nil.
func runFleet(b *testing.B, base string, run time.Duration, channels []alert.Channel, started func(*Daemon)) []float64 {
	dir := b.TempDir()
	var toml strings.Builder
	fmt.Fprintf(&toml, "[store]\ndsn = %q\n", filepath.Join(dir, "serin.db"))
	for i := range fleetTargets {
		fmt.Fprintf(&toml, "[[target]]\nname = \"t%03d\"\nbase_url = %q\nmodel = \"m\"\n", i, base)
	}
	toml.WriteString("[[scene]]\nname = \"chat\"\ntargets = [\"*\"]\nshort = \"* * * * *\"\nmedium = \"* * * * *\"\n")
	path := filepath.Join(dir, "serin.toml")
	if err := os.WriteFile(path, []byte(toml.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	cfg, problems := configs.Load(configs.Options{Path: path})
	if err := configs.AsError(problems); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var lags []float64
	keep := func(s probe.Sample) {
		if s.Outcome != probe.OK {
			b.Errorf("%s: %s %s", s.Key(), s.Outcome, s.Reason)
		}
		mu.Lock()
		defer mu.Unlock()
		lags = append(lags, s.SchedLag.Millis())
	}
	ctx, cancel := context.WithTimeout(b.Context(), run)
	defer cancel()
	red := &Redaction{}
	red.Add(cfg.Redactor)
	told := func(*configs.Config) ([]alert.Channel, error) { return channels, nil }
	begun := func(d *Daemon, _ net.Addr) {
		if started != nil {
			started(d)
		}
	}
	err := Run(ctx, Options{Config: cfg, Channels: told, OnStart: begun, Log: NewLogger(os.Stderr, "text", NewLevel("error"), red), Redact: red,
		Level: NewLevel("error"), OnSample: keep})
	if err != nil {
		b.Fatal(err)
	}
	return lags
}

// peakMB returns the largest resident size of this process so far, in megabytes.
func peakMB(b *testing.B) float64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1000
		}
	}
	b.Fatal("no VmHWM in /proc/self/status")
	return 0
}

// rankOf returns the value below which a share q of sorted xs lies.
func rankOf(xs []float64, q float64) float64 { return xs[int(q*float64(len(xs)-1))] }
