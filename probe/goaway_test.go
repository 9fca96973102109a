package probe

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2Server speaks raw HTTP/2 frames over TLS: play is called with each request's stream, and how many requests there were.
func h2Server(t *testing.T, cert tls.Certificate, play func(f *http2.Framer, conn net.Conn, stream uint32, request int)) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-served })
	go func() {
		defer close(served)
		for request := 1; ; {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request = h2Conn(conn, request, play)
		}
	}()
	return "https://" + l.Addr().String()
}

// h2Conn serves one connection until the client or play ends it.
func h2Conn(conn net.Conn, request int, play func(*http2.Framer, net.Conn, uint32, int)) int {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return request
	}
	f := http2.NewFramer(conn, conn)
	if f.WriteSettings() != nil {
		return request
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return request
		}
		if frame.Header().Flags.Has(http2.FlagDataEndStream) && frame.Header().Type == http2.FrameData {
			play(f, conn, frame.Header().StreamID, request)
			request++
		}
	}
}

func h2Head(f *http2.Framer, stream uint32) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"}) // into memory
	_ = enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/event-stream"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
}

// TestB109GoAway: a server that goes away in mid-stream is told from one that breaks off, one that lets the stream end is
// no error, and the next probe redials.
func TestB109GoAway(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1", time.Now().Add(30*24*time.Hour))
	text := chat("\n")
	half := text[:strings.Index(text, "🙂\"}}]}\n\n")+len("🙂\"}}]}\n\n")]
	whole := func(f *http2.Framer, stream uint32) {
		h2Head(f, stream)
		_ = f.WriteData(stream, true, []byte(text))
	}
	for _, c := range []struct {
		name   string
		play   func(f *http2.Framer, conn net.Conn, stream uint32)
		want   Outcome
		reason string
	}{
		{"after a token, connection closed", func(f *http2.Framer, conn net.Conn, stream uint32) {
			h2Head(f, stream)
			_ = f.WriteData(stream, false, []byte(half))
			_ = f.WriteGoAway(stream, http2.ErrCodeInternal, nil)
			_ = conn.Close()
		}, Truncated, "goaway"},
		{"no error code, connection closed", func(f *http2.Framer, conn net.Conn, stream uint32) {
			h2Head(f, stream)
			_ = f.WriteData(stream, false, []byte(half))
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			_ = conn.Close()
		}, Truncated, "goaway"},
		{"head, no token", func(f *http2.Framer, conn net.Conn, stream uint32) {
			h2Head(f, stream)
			_ = f.WriteGoAway(stream, http2.ErrCodeEnhanceYourCalm, []byte("calm down"))
			_ = conn.Close()
		}, Reset, "goaway"},
		{"no head", func(f *http2.Framer, conn net.Conn, stream uint32) {
			_ = f.WriteGoAway(stream, http2.ErrCodeInternal, nil)
			_ = conn.Close()
		}, Reset, "goaway"},
		{"before this request", func(f *http2.Framer, conn net.Conn, stream uint32) {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
			_ = conn.Close()
		}, Reset, "goaway"},
		{"graceful, the stream ends", func(f *http2.Framer, _ net.Conn, stream uint32) {
			h2Head(f, stream)
			_ = f.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			_ = f.WriteData(stream, true, []byte(text))
		}, OK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int32
			canary := testCanary()
			canary.Target.BaseURL = h2Server(t, cert, func(f *http2.Framer, conn net.Conn, stream uint32, request int) {
				requests.Store(int32(request))
				if request == 1 {
					c.play(f, conn, stream)
					return
				}
				whole(f, stream)
			})
			canary.Target.CAFile, canary.Target.Connection = ca, "reuse"
			p := New(Options{})
			defer p.Close()
			d := &Diary{}
			s, err := p.Do(t.Context(), Shot{Canary: canary, Diary: d})
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, s, c.want, c.reason)
			if d.HiddenRetries != 0 {
				t.Errorf("sent %d times more", d.HiddenRetries)
			}
			if c.want != OK && d.Cause.Kind != "goaway" {
				t.Errorf("cause %+v", d.Cause)
			}
			s, err = p.Do(t.Context(), Shot{Canary: canary})
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, s, OK, "")
			if s.Conn != "new" || s.Proto != "HTTP/2.0" {
				t.Errorf("the next one: %s connection, %s", s.Conn, s.Proto)
			}
			if got := requests.Load(); got != 2 {
				t.Errorf("%d requests", got)
			}
		})
	}
}
