package main

import (
	"bytes"
	"encoding/json"
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

// fleet writes twelve days of one target's three canaries, a sample each five minutes: on the last days both measures double
// for an hour, all are half as slow again, one canary is slow alone, one times out, and all fail.
func fleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fleet file")
	}
	r := rand.New(rand.NewPCG(3, 4))
	var out bytes.Buffer
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for m := 0; m < 12*24*60; m += 5 {
		for i, size := range []string{"short", "medium", "long"} {
			at := start.Add(time.Duration(m)*time.Minute + time.Duration(i)*20*time.Second)
			wave := .2 * math.Sin(2*math.Pi*float64(m%1440)/1440)
			ttft, tpot := 200*math.Exp(wave+.1*r.NormFloat64()), 20*math.Exp(wave+.05*r.NormFloat64())
			outcome := "ok"
			switch day, hour := m/1440, at.Hour(); {
			case day == 9 && hour == 10:
				ttft, tpot = 2*ttft, 2*tpot
			case day == 10 && hour == 10:
				ttft *= 1.5
			case day == 10 && hour >= 15 && hour < 17 && size == "long":
				ttft *= 2
			case day == 11 && hour == 10 && at.Minute() < 30 && size == "medium":
				outcome = "timeout_first_token"
			case day == 11 && hour == 15 && at.Minute() < 20:
				outcome = "http_5xx"
			}
			fmt.Fprintf(&out, `{"time":"%s","target":"gw","scene":"chat","size":"%s","outcome":"%s"`, at.Format(time.RFC3339), size, outcome)
			if outcome == "ok" {
				fmt.Fprintf(&out, `,"ttft_ms":%.1f,"tpot_ms":%.2f`, ttft, tpot)
			}
			out.WriteString("}\n")
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// brief rewrites the events of a backtest, JSON lines, as lines without figures that a sum in another order would change.
func brief(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: brief from to")
	}
	var out bytes.Buffer
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var e struct {
			Rule, Event, Series, Kind, Severity string
			Time                                time.Time
			Ratio                               float64
		}
		ts.Check(json.Unmarshal([]byte(line), &e))
		fmt.Fprintf(&out, "%s %s %s %s %s x%.1f\n", e.Time.Format("01-02 15:04:05"), e.Event, e.Series, e.Kind, e.Severity, e.Ratio)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}
