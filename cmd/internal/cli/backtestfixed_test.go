package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBacktestSaysThatALimitIsFixed: while learning, a value's ratio is that to the fixed limit of 5 s, not to what is usual.
func TestBacktestSaysThatALimitIsFixed(t *testing.T) {
	slow := strings.NewReplacer(`"ttft_ms":1`, `"ttft_ms":8001`, `"ttft_ms":2`, `"ttft_ms":8002`, `"ttft_ms":3`, `"ttft_ms":8003`)
	n, text := 0, strings.Builder{}
	for line := range strings.Lines(string(sampleFile(1, 1, 2, 5, 1))) {
		if n++; n > 400 && n < 420 {
			line = slow.Replace(line)
		}
		text.WriteString(line)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	preset := "balanced"
	f := func(format string, wants ...string) {
		t.Helper()
		out, _ := runText(t, ExitOK, "backtest", "--samples", path, "--metric", "ttft", "--preset", preset, "--format", format)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in %q", format, want, out)
			}
		}
	}
	f("text", " of the fixed limit of 5.00 s")
	f("json", `"fixed":true`)
	f("json", `"reason":"4 of the last 5 observations breach"`)
	preset = "literal"
	f("json", `"reason":"above the limit"`)
}
