package probe

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkProbe sends whole probes over an in-memory connection; 1 000 events each.
func BenchmarkProbe(b *testing.B) {
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
	for b.Loop() {
		if s, err := p.Do(b.Context(), Shot{Canary: c}); err != nil || s.Chunks != events {
			b.Fatal(s.Outcome, s.Reason, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
	b.ReportMetric(allocs/events, "allocs/event")
}
