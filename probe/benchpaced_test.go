//go:build unix

package probe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the CPU time of this process, all threads, user and system.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare reads a stream with net/http alone and stamps each read; it returns how many reads there were.
func bare(b *testing.B, url string) (reads int) {
	tr := &http.Transport{ReadBufferSize: readBuffer, DisableCompression: true}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader([]byte("{}")))
	if err != nil {
		b.Error(err)
		return 0
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer resp.Body.Close()
	buf := make([]byte, readBuffer)
	var last time.Time
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			last = time.Now()
			reads++
		}
		if err != nil {
			if err != io.EOF || last.IsZero() {
				b.Error(err)
			}
			return reads
		}
	}
}

// sides are the two ways to read a paced stream, each as a function that reads one to its end.
type sides struct{ ours, bare func() }

// readers returns both ways to read streams of events, gap apart, from a server in another process.
func readers(b *testing.B, p *Prober, addr string, events int, gap time.Duration) sides {
	c := testCanary()
	c.Target.BaseURL = fmt.Sprintf("http://%s/%d/%s", addr, events, gap)
	return sides{
		ours: func() {
			s, err := p.Do(b.Context(), Shot{Canary: c})
			if err != nil || s.Outcome != OK || s.Chunks != events {
				b.Error(s.Outcome, s.Reason, s.Chunks, err)
			}
		},
		bare: func() {
			if n := bare(b, c.Target.BaseURL+"/chat/completions"); n == 0 {
				b.Error("nothing read")
			}
		},
	}
}

// The window in which a paced benchmark takes the CPU time: connections and first events lie before it, ends behind it.
const (
	pacedBefore = 250 * time.Millisecond
	pacedWindow = time.Second
	pacedAfter  = 250 * time.Millisecond
)

// cpuPerEvent reads many streams at once by f and returns the CPU time of each event in the middle of them.
func cpuPerEvent(b *testing.B, streams int, gap time.Duration, f func()) float64 {
	runtime.GC()
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			<-time.After(gap * time.Duration(i) / time.Duration(streams)) // events of different streams are not one wake
			f()
		})
	}
	<-time.After(pacedBefore)
	from, start := cpuTime(b), time.Now()
	<-time.After(pacedWindow)
	used, took := cpuTime(b)-from, time.Since(start)
	all.Wait()
	events := float64(streams) * float64(took) / float64(gap)
	return float64(used.Nanoseconds()) / 1e3 / events
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// benchmarkPaced compares the CPU time that an event costs with that of a bare loop. Each round measures bare, ours, ours,
// bare in one process, so that what else the machine does falls on both; the figures are medians over rounds.
func benchmarkPaced(b *testing.B, streams int, gap time.Duration) {
	addr := startRole(b, "server")
	p := New(Options{})
	defer p.Close()
	events := int((pacedBefore + pacedWindow + pacedAfter + gap) / gap)
	way := readers(b, p, addr, events, gap)
	var ours, bares, ratios []float64
	for range b.N {
		r1 := cpuPerEvent(b, streams, gap, way.bare)
		o1 := cpuPerEvent(b, streams, gap, way.ours)
		o2 := cpuPerEvent(b, streams, gap, way.ours)
		r2 := cpuPerEvent(b, streams, gap, way.bare)
		ours, bares = append(ours, (o1+o2)/2), append(bares, (r1+r2)/2)
		ratios = append(ratios, (o1+o2)/(r1+r2))
	}
	b.ReportMetric(median(ours), "cpu-µs/event")
	b.ReportMetric(median(bares), "bare-cpu-µs/event")
	b.ReportMetric(median(ratios), "times-bare")
	b.ReportMetric(slices.Min(ratios), "times-bare-min")
	b.ReportMetric(slices.Max(ratios), "times-bare-max")
	b.ReportMetric(0, "ns/op") // wall time says nothing of a paced stream
}

// benchmarkOpen compares the memory of streams that are open.
func benchmarkOpen(b *testing.B) {
	const streams = 200
	addr := startRole(b, "server")
	p := New(Options{})
	defer p.Close()
	way := readers(b, p, addr, 4, time.Second)
	open := func(f func()) float64 {
		before := inUse()
		var all sync.WaitGroup
		for range streams {
			all.Go(f)
		}
		<-time.After(2500 * time.Millisecond) // two events are in, two are to come
		held := inUse() - before
		all.Wait()
		return float64(held) / streams / 1024
	}
	var ours, bares float64
	for range b.N {
		bares += open(way.bare)
		ours += open(way.ours)
	}
	b.ReportMetric(ours/float64(b.N), "KiB/stream")
	b.ReportMetric(bares/float64(b.N), "bare-KiB/stream")
	b.ReportMetric(0, "ns/op")
}

// inUse returns the bytes of heap and stacks that are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what a pool kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
