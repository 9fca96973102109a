package app

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkBacktest reads and judges a fleet's ten days: what a million samples take is five times that.
func BenchmarkBacktest(b *testing.B) {
	file := fleetFile(8, 9, 10, 1)
	lines := bytes.Count(file, []byte{'\n'})
	b.ReportAllocs()
	for b.Loop() {
		c := backtestCmd{Samples: "-", Every: 5 * time.Minute, Format: "json"}
		if err := c.Run(b.Context(), Options{Stdin: bytes.NewReader(file), Stdout: io.Discard, Stderr: io.Discard}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/sample")
}

// fleetFile is days of samples each 5 minutes as JSON lines: a daily wave, one probe's scatter, and an hour at ×2 on the
// last day from 10:00.
func fleetFile(targets, canaries, days int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	sizes := []string{"short", "medium", "long"}
	var out bytes.Buffer
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for t := range targets {
		for m := 0; m < days*24*60; m += 5 {
			at := start.Add(time.Duration(m) * time.Minute)
			wave := .2 * math.Sin(2*math.Pi*float64(m%1440)/1440)
			slow := 1.0
			if m/1440 == days-1 && at.Hour() == 10 {
				slow = 2
			}
			for c := range canaries {
				fmt.Fprintf(&out, `{"time":"%s","target":"t%d","scene":"s%d","size":"%s","outcome":"ok","ttft_ms":%.1f,"tpot_ms":%.2f}`+"\n",
					at.Format(time.RFC3339), t, c/3, sizes[c%3], 200*slow*math.Exp(wave+.1*r.NormFloat64()), 20*math.Exp(wave+.05*r.NormFloat64()))
			}
		}
	}
	return out.Bytes()
}
