package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// record writes nine days of one canary's samples, one a minute, as JSON lines: a daily wave, one probe's scatter, and
// twice the usual from 10:00 to 11:00 on the last day.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: record file")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for m := range 9 * 24 * 60 {
		at := start.Add(time.Duration(m) * time.Minute)
		v := 200 * math.Exp(.2*math.Sin(2*math.Pi*float64(m%1440)/1440)+.08*r.NormFloat64())
		if m/1440 == 8 && at.Hour() == 10 {
			v *= 2
		}
		fmt.Fprintf(&out, `{"time":"%s","target":"t0","scene":"s0","size":"short","outcome":"ok","ttft_ms":%.1f}`+"\n", at.Format(time.RFC3339), v)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// reverse turns the order of a file's lines around.
func reverse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reverse file")
	}
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	slices.Reverse(lines)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o600))
}
