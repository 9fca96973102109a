package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkBacktest reads and judges some 207 000 samples in three shapes: what a million takes is five times that. It
// reports the largest size of the process too, which is that of all so far.
func BenchmarkBacktest(b *testing.B) {
	for _, shape := range []struct {
		name                           string
		targets, canaries, days, every int
	}{{"one series of minutes", 1, 1, 144, 1}, {"fleet", 8, 9, 10, 5}, {"twelve canaries of a target", 1, 12, 60, 5}} {
		b.Run(shape.name, func(b *testing.B) {
			file := sampleFile(shape.targets, shape.canaries, shape.days, shape.every, 1)
			lines := bytes.Count(file, []byte{'\n'})
			b.ReportAllocs()
			b.ResetTimer()
			cpu := processTime(b)
			for b.Loop() {
				c := backtestCmd{Samples: "-", Every: time.Duration(shape.every) * time.Minute, Format: "json"}
				if err := c.Run(b.Context(), Options{Stdin: bytes.NewReader(file), Stdout: io.Discard, Stderr: io.Discard}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processTime(b)-cpu).Nanoseconds())/float64(b.N*lines), "cpu-ns/sample")
			b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds(), "samples/s")
			b.ReportMetric(peakMemory(b), "peak-MB")
		})
	}
}

// fleetFile is days of samples each 5 minutes.
func fleetFile(targets, canaries, days int, seed uint64) []byte {
	return sampleFile(targets, canaries, days, 5, seed)
}

// sampleFile is days of samples, one in so many minutes, as JSON lines: a daily wave, one probe's scatter, and an hour at ×2
// on the last day from 10:00.
func sampleFile(targets, canaries, days, every int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	sizes := []string{"short", "medium", "long"}
	var out bytes.Buffer
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	for t := range targets {
		for m := 0; m < days*24*60; m += every {
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

// processTime is what this process has had of the cores.
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory returns the largest resident size of this process so far, in megabytes.
func peakMemory(b *testing.B) float64 {
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
