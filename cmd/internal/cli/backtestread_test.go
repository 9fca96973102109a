package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"serin/alert/replay"
)

// sampleLines are samples a minute apart, of so many milliseconds.
func sampleLines(from, n, ms int) string {
	var out strings.Builder
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&out, `{"time":"%s","target":"t","scene":"s","size":"short","outcome":"ok","ttft_ms":%d}`+"\n", start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), ms)
	}
	return out.String()
}

// TestTapeKeepsTheFirst reads a file that tells everything twice: what came first stays, however many decode.
func TestTapeKeepsTheFirst(t *testing.T) {
	const n, block = 20_000, 2500
	var twice strings.Builder
	for from := 0; from < n; from += block { // each time in neighbouring chunks
		twice.WriteString(sampleLines(from, block, 200) + sampleLines(from, block, 900))
	}
	tape, err := readTape(t.Context(), strings.NewReader(twice.String()), "twice")
	if err != nil {
		t.Fatal(err)
	}
	c := tape.Canaries(replay.Cut{})
	if twice.Len() < 8*chunkSize || len(c) != 1 || c[0].Samples != n || c[0].Gap != time.Minute {
		t.Fatalf("%d bytes, %+v", twice.Len(), c)
	}
	var out bytes.Buffer
	cmd := backtestCmd{Samples: "-", Format: "json"}
	if err := cmd.Run(t.Context(), Options{Stdin: strings.NewReader(twice.String()), Stdout: &out, Stderr: io.Discard}); err != nil || out.Len() > 0 {
		t.Errorf("%v, decisions %s", err, out.String())
	}
}

// TestTapeNamesTheFirstBadLine reads files with several faults, chunks apart, and one that ends in the middle.
func TestTapeNamesTheFirstBadLine(t *testing.T) {
	long := sampleLines(0, 10_000, 200)
	for text, want := range map[string]string{
		long + "no sample\n" + long + long + "{}\n":     "file line 10001: ",
		"{}\n" + long + "no sample\n":                   "file line 1: ",
		strings.Repeat("\n", 3) + long + long + "[1]\n": "file line 20004: ",
	} {
		tape, err := readTape(t.Context(), strings.NewReader(text), "file")
		if tape != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	broken := errors.New("broken disk")
	in := io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken))
	if _, err := readTape(t.Context(), in, "file"); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
