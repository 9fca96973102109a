package store

import (
	"testing"
	"time"

	"serin/alert"
	"serin/probe"
)

// Commits without a notice: what a probe waits.
func BenchmarkCommit(b *testing.B) {
	s := openTemp(b)
	i := 0
	for b.Loop() {
		commit(b, s, bare(plain("gw-eu", i)))
		i++
		if i%10_000 == 0 {
			b.StopTimer()
			flush(b, s)
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// Samples from Commit to the disk, a thousand a notice.
func BenchmarkWrite(b *testing.B) {
	s := openTemp(b)
	i := 0
	for b.Loop() {
		commit(b, s, bare(plain("gw-eu", i)))
		if i++; i%1000 == 0 {
			flush(b, s)
		}
	}
	flush(b, s)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}

// Commits with a notice: each is synced to the disk before it returns.
func BenchmarkCommitNotice(b *testing.B) {
	s := openTemp(b)
	i := 0
	for b.Loop() {
		commit(b, s, alert.Change{Judged: alert.Judged{Records: bare(plain("gw-eu", i)).Records}, Told: alert.Told{Notices: []alert.Notice{notice("7f3k", i)}}})
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

func BenchmarkImport(b *testing.B) {
	s := openTemp(b)
	b.ResetTimer()
	added, _, err := s.Import(b.Context(), func(yield func(probe.Sample, error) bool) {
		for i := range b.N {
			if !yield(plain("gw-eu", i), nil) {
				return
			}
		}
	})
	if err != nil || added != b.N {
		b.Fatal(added, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}

// The seven days of one canary on a five-minute schedule, with its re-probes: what a start reads for each canary.
func BenchmarkHistory(b *testing.B) {
	s := openTemp(b)
	for i := range 2300 {
		for _, target := range []string{"gw-eu", "gw-us", "lab"} {
			commit(b, s, bare(plain(target, i)))
		}
	}
	flush(b, s)
	for b.Loop() {
		if n := len(collect(b, s.History(b.Context(), "gw-us/chat/short", time.Time{}))); n != 2300 {
			b.Fatal(n)
		}
	}
}
