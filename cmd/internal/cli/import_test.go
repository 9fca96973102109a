package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestImportRefusesWhatCannotBe names line, value and fix of samples that would poison a band.
func TestImportRefusesWhatCannotBe(t *testing.T) {
	const good = `{"time":"2026-03-01T08:05:00Z","target":"gw","scene":"chat","size":"short","outcome":"ok","ttft_ms":312.4,"flags":["cache_hit"]}`
	f := func(from, to, want string) {
		t.Helper()
		var err error
		lines := good + "\n" + strings.Replace(good, from, to, 1)
		n := 0
		for _, e := range readSamples(strings.NewReader(lines), "f.jsonl") {
			if n++; e != nil {
				err = e
			}
		}
		switch {
		case want == "":
			if err != nil || n != 2 {
				t.Errorf("%s: %d samples, %v", to, n, err)
			}
		case err == nil:
			t.Errorf("%s: taken", to)
		case !strings.HasPrefix(err.Error(), "f.jsonl line 2: ") || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %q, want %q", to, err, want)
		}
	}
	ahead := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	f("312.4", "0.1", "")
	f("2026-03-01T08:05:00Z", ahead(50*time.Minute), "")
	f("2026-03-01T08:05:00Z", ahead(2*time.Hour), "in the future: mend its year or zone")
	f("2026-03-01T08:05:00Z", "2999-01-01T00:00:00Z", "in the future")
	for _, bad := range []string{"GW", "a b", "日本", "-x", strings.Repeat("a", 64), "a/b"} {
		f(`"gw"`, fmt.Sprintf("%q", bad), fmt.Sprintf(`"target" is %q, which no config can name`, bad))
		f(`"chat"`, fmt.Sprintf("%q", bad), fmt.Sprintf(`"scene" is %q, which no config can name`, bad))
	}
	for _, key := range []string{"ttft_ms", "ttfa_ms", "tpot_ms", "e2e_ms"} {
		for bad, say := range map[string]string{"0": "is 0, it must lie above 0", "-1": "is -1, it must lie above 0", "86400001": "below a day", "1e308": "1e+308 ms is longer than any duration"} {
			f(`"ttft_ms":312.4`, fmt.Sprintf("%q:%s", key, bad), say)
		}
	}
	f(`"flags"`, `"input_tokens":0,"flags"`, "")
	for _, key := range []string{"input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "chunks", "cost_usd"} {
		f(`"flags"`, fmt.Sprintf(`%q:-5,"flags"`, key), fmt.Sprintf("%q is -5, it must not be negative", key))
	}
	f("cache_hit", "cash_hit", `"flags" holds "cash_hit", which is none of buffered_suspect, client_suspect, `)
}
