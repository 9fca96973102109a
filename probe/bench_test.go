//go:build unix

package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkProbe is what reading costs: of an event in memory; of an event that comes alone, in CPU time, beside a loop
// that only reads and stamps; of a stream that is open, in memory, beside the same. Paced streams come from another
// process; run them with -benchtime 10x and more, a round takes six seconds.
func BenchmarkProbe(b *testing.B) {
	b.Run("memory", benchmarkMemory)
	for _, c := range []struct {
		streams int
		gap     time.Duration
	}{{1, time.Millisecond}, {1, 5 * time.Millisecond}, {1, 20 * time.Millisecond}, {10, 5 * time.Millisecond}, {40, 20 * time.Millisecond}} {
		b.Run(fmt.Sprintf("paced/streams=%d/gap=%s", c.streams, c.gap), func(b *testing.B) { benchmarkPaced(b, c.streams, c.gap) })
	}
	b.Run("open", benchmarkOpen)
}

// benchmarkMemory sends whole probes over an in-memory connection.
func benchmarkMemory(b *testing.B) {
	const events = 1000
	var out strings.Builder
	for range events {
		out.WriteString(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Blue"},"finish_reason":null}],"usage":null}` + "\n\n")
	}
	out.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	dial := func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(far, head+out.String())
		}()
		return near, nil
	}
	p := New(Options{Dial: dial})
	defer p.Close()
	c := testCanary()
	b.ReportAllocs()
	allocs := testing.AllocsPerRun(1, func() {
		if s, err := p.Do(b.Context(), Shot{Canary: c}); err != nil || s.Outcome != OK {
			b.Fatal(s.Outcome, s.Reason, err)
		}
	})
	before := cpuTime(b)
	for b.Loop() {
		if s, err := p.Do(b.Context(), Shot{Canary: c}); err != nil || s.Chunks != events {
			b.Fatal(s.Outcome, s.Reason, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N)/events, "cpu-ns/event")
	b.ReportMetric(allocs/events, "allocs/event")
}
