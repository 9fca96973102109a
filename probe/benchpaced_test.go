//go:build unix

package probe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bare reads a stream with net/http alone and stamps each read.
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

// BenchmarkPaced reads streams of one event a GAP from another process, with the probe and with a bare loop in turn: the
// CPU that an event costs without what a request costs, and the memory of a stream that is open.
func BenchmarkPaced(b *testing.B) {
	for _, gap := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		b.Run("gap="+gap.String(), func(b *testing.B) {
			addr := startRole(b, "server")
			streams := max(1, int(gap/(500*time.Microsecond))) // 2 000 events a second
			many := int(2 * time.Second / gap)
			p := New(Options{})
			defer p.Close()
			side := func(f func()) time.Duration {
				start := cpuTime(b)
				var all sync.WaitGroup
				for range streams {
					all.Go(f)
				}
				all.Wait()
				return cpuTime(b) - start
			}
			both := func(events int) (ours, bares time.Duration) {
				url := fmt.Sprintf("http://%s/%d/%s", addr, events, gap)
				c := testCanary()
				c.Target.BaseURL = url
				bares = side(func() { bare(b, url+"/chat/completions") })
				ours = side(func() {
					if s, err := p.Do(b.Context(), Shot{Canary: c}); err != nil || s.Outcome != OK || s.Chunks != events {
						b.Error(s.Outcome, s.Reason, s.Chunks, err)
					}
				})
				return ours, bares
			}
			var ours, bares, setUp, bareSetUp time.Duration
			for range b.N {
				o, r := both(2)
				setUp, bareSetUp = setUp+o, bareSetUp+r
				o, r = both(many)
				ours, bares = ours+o, bares+r
			}
			per := float64(b.N * streams * (many - 2))
			b.ReportMetric(float64((ours-setUp).Microseconds())/per, "cpu-µs/event")
			b.ReportMetric(float64((bares-bareSetUp).Microseconds())/per, "bare-cpu-µs/event")
			b.ReportMetric(float64(ours-setUp)/float64(bares-bareSetUp), "times-bare")
			b.ReportMetric(float64(setUp.Microseconds())/float64(b.N*streams), "cpu-µs/probe")
			b.ReportMetric(float64(bareSetUp.Microseconds())/float64(b.N*streams), "bare-cpu-µs/request")
		})
	}
	b.Run("open", func(b *testing.B) {
		const streams = 200
		addr := startRole(b, "server")
		url := fmt.Sprintf("http://%s/4/1s", addr)
		p := New(Options{})
		defer p.Close()
		c := testCanary()
		c.Target.BaseURL = url
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
			bares += open(func() { bare(b, url+"/chat/completions") })
			ours += open(func() {
				if s, err := p.Do(b.Context(), Shot{Canary: c}); err != nil || s.Outcome != OK {
					b.Error(s.Outcome, s.Reason, err)
				}
			})
		}
		b.ReportMetric(ours/float64(b.N), "KiB/stream")
		b.ReportMetric(bares/float64(b.N), "bare-KiB/stream")
	})
}

// inUse returns the bytes of heap and stacks that are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what a pool kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
