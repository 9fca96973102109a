package telemetry

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of deploy/metrics.md")

const (
	metricsDoc  = "../../../deploy/metrics.md"
	metricsFrom = "<!-- metrics: made by go test ./cmd/internal/telemetry -update -->\n"
	metricsTo   = "<!-- /metrics -->"
)

// TestMetricsDoc holds deploy/metrics.md of metrics against the table that /metrics is written from.
func TestMetricsDoc(t *testing.T) {
	raw, err := os.ReadFile(metricsDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), metricsFrom)
	old, after, ok2 := strings.Cut(rest, metricsTo)
	if !ok || !ok2 {
		t.Fatal("deploy/metrics.md has no place for metrics")
	}
	want := metricsMarkdown()
	if *update {
		if err := os.WriteFile(metricsDoc, []byte(before+metricsFrom+want+metricsTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != want {
		t.Error("deploy/metrics.md is stale: go test ./cmd/internal/telemetry -update")
	}
}

func metricsMarkdown() string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, m := range metricTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, m.Labels, m.Help)
	}
	return b.String()
}
