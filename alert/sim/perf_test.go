package sim

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

func BenchmarkRun(b *testing.B) {
	w := NewWorld(102, probe.TTFT, Healthy, 30)
	n := 0
	for b.Loop() {
		out, err := Run(b.Context(), w, alert.DefaultRule(), 5*time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		n += out.Regular
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/sample")
}
