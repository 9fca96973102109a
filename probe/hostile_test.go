package probe

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/probe/wire"
)

// allowance is the memory that one probe may take beyond what was there before.
const allowance = 16 << 20

// flood is a hostile answer: a beginning, and what is written again and again until limit bytes are out or the client
// hangs up; 0 = without end.
type flood struct {
	name   string
	head   string
	block  string
	limit  int
	want   Outcome
	reason string
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

func floods(t *testing.T) []flood {
	fill := func(s string) string { return strings.Repeat(s, max(1, 64<<10/len(s))) }
	token := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var headers strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&headers, "X-Ratelimit-Limit-%d: %d\r\n", i, i)
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	return []flood{
		{"endless line", sseHead + "data: ", fill("x"), 0, Protocol, "4 MiB"},
		{"endless field name", sseHead, fill("x"), 0, Protocol, "4 MiB"},
		{"endless event of many lines", sseHead, fill("data: x\n"), 0, Protocol, "4 MiB"},
		{"endless stream", sseHead, fill(token), 0, Protocol, "1 000 000 events"},
		{"endless comments", sseHead, fill(": x\n"), 0, Protocol, "64 MiB"},
		{"one endless comment", sseHead + "\n:", fill("x"), 0, Protocol, "64 MiB"},
		{"endless blank lines", sseHead, fill("\r\n"), 0, Protocol, "64 MiB"},
		{"endless NUL bytes", sseHead + token, fill("\x00"), 0, Protocol, "4 MiB"},
		{"NUL bytes in events", sseHead, fill("data: {\"choices\":[{\"delta\":{\"content\":\"\x00\"}}]}\n\n"), 0, Protocol, "not JSON"},
		{"invalid UTF-8", sseHead, fill("data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xc0\x80\"}}]}\n\n"), 4 << 20, Truncated, ""},
		{"deep JSON", sseHead, "data: {\"choices\":[{\"delta\":{\"content\":" + deep + "}}]}\n\n", 1 << 20, Truncated, ""},
		{"deeper JSON", sseHead, "data: {\"a\":" + strings.Repeat("[", 1<<20) + "\n\n", 0, Protocol, "not JSON"},
		{"1 GB body of JSON", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n{\"a\":\"", fill("x"), 1 << 30, NotSSE, ""},
		{"1 GB body of HTML", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1073741824\r\n\r\n<html>", fill("x"), 1 << 30, NotSSE, "HTML"},
		{"1 GB body of an error", "HTTP/1.1 500 No\r\nContent-Length: 1073741824\r\n\r\n", fill("x"), 1 << 30, HTTP5xx, ""},
		{"gzip bomb", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + bomb.String(), "", 1, "", ""},
		{"10 000 headers", "HTTP/1.1 200 OK\r\n" + headers.String() + "Connection: close\r\n\r\n" + token + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "", 1, OK, ""},
		{"endless headers", "HTTP/1.1 200 OK\r\n", fill("X-A: b\r\n"), 0, Protocol, ""},
		{"one endless header", "HTTP/1.1 200 OK\r\nX-A: ", fill("b"), 0, Protocol, ""},
		{"endless status line", "HTTP/1.1 200 ", fill("b"), 0, Protocol, ""},
		{"endless chunk extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", fill("b"), 0, "", ""},
		{"endless trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", fill("X-A: b\r\n"), 0, "", ""},
		{"endless 103s", "", fill("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), 0, "", ""},
	}
}

// TestHostileFloods sends each flood over a real socket: one outcome, soon, and within the allowance.
func TestHostileFloods(t *testing.T) {
	for _, c := range floods(t) {
		t.Run(c.name, func(t *testing.T) {
			canary := testCanary()
			canary.Target.BaseURL = "http://" + floodServer(t, c)
			canary.Target.FirstTokenTimeout, canary.Target.TotalTimeout = 20*time.Second, 30*time.Second
			p := New(Options{})
			defer p.Close()
			var s Sample
			start := time.Now()
			most := memoryOf(func() {
				var err error
				if s, err = p.Do(t.Context(), Shot{Canary: canary, Diary: &Diary{WantText: true}}); err != nil {
					t.Error(err)
				}
			})
			if !slices.Contains(Outcomes(), s.Outcome) || c.want != "" && s.Outcome != c.want || !strings.Contains(s.Reason, c.reason) {
				t.Errorf("%s (%q), want %s (%q)", s.Outcome, s.Reason, c.want, c.reason)
			}
			if c.want == "" && s.Outcome.Success() {
				t.Errorf("%s is no success", s.Outcome)
			}
			if most > allowance {
				t.Errorf("%d KiB more than before", most>>10)
			}
			if took := time.Since(start); took > 40*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func floodServer(t *testing.T, c flood) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-served })
	go func() {
		defer close(served)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		if _, err := io.WriteString(conn, c.head); err != nil {
			return
		}
		block := []byte(c.block)
		for out := 0; c.limit == 0 || out < c.limit; out += max(1, len(block)) {
			if _, err := conn.Write(block); err != nil {
				return
			}
		}
	}()
	return l.Addr().String()
}

// memoryOf returns the most memory that was in use while f ran beyond what was before: heap and stacks, garbage included.
// The collector works harder than it would, so that little of it is garbage.
func memoryOf(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	in := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before, most := in(), int64(0)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				most = max(most, in()-before)
			}
		}
	}()
	f()
	close(done)
	<-over
	return most
}

// TestHostileByteASecond: bytes that lead nowhere end at the deadline of the first token, and those of an answer do not.
func TestHostileByteASecond(t *testing.T) {
	drip := func(text string) []step {
		var list []step
		for i := range len(text) {
			list = append(list, raw(text[i:i+1]), sleep(time.Second))
		}
		return list
	}
	s := probeOnce(t, scripted(steps(drip(strings.Repeat(":", 4000)))), testCanary())
	wantOutcome(t, s, TimeoutFirstToken, "")
	s = probeOnce(t, scripted(steps(tok("a"), drip(strings.Repeat(": x\n", 4000)))), testCanary())
	wantOutcome(t, s, TimeoutStall, "no_progress")
	s = probeOnce(t, scripted(steps(tok("a"), drip("data: "+strings.Repeat("x", 4000)))), testCanary())
	wantOutcome(t, s, TimeoutTotal, "")
	s = probeOnce(t, scripted(steps(head(200, true), func(sd *side) error {
		for i := range sd.head[:len(sd.head)-2] {
			if _, err := io.WriteString(sd.conn, sd.head[i:i+1]); err != nil {
				return err
			}
			if err := sleep(time.Second)(sd); err != nil {
				return err
			}
		}
		return nil
	})), testCanary())
	wantOutcome(t, s, TimeoutFirstToken, "")
}

// TestHostileRedirectLoop: no hop is taken.
func TestHostileRedirectLoop(t *testing.T) {
	srv := scripted(steps(head(307, true, "Location: http://gw.test/v1/chat/completions"), end()))
	s := probeOnce(t, srv, testCanary())
	wantOutcome(t, s, Redirect, "not followed")
	if srv.count() != 1 {
		t.Errorf("%d requests", srv.count())
	}
}

// TestHostileResetAtEveryByte resets a good transcript of each protocol after each byte, those of the response's head
// included: reset first, then truncated, then a success, and never back.
func TestHostileResetAtEveryByte(t *testing.T) {
	for _, pr := range wire.Protocols() {
		t.Run(pr.Name, func(t *testing.T) {
			body, kind := goodTranscript(t, pr)
			text := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", kind, len(body), body)
			rank := map[Outcome]int{Reset: 1, Protocol: 1, Truncated: 2, OK: 3, OKLength: 3}
			had := 0
			for i := 0; i <= len(text); i++ {
				s := probeCut(t, pr.Name, text[:i])
				r := rank[s.Outcome]
				if r == 0 || s.Outcome == Protocol && i > strings.Index(text, "\r\n\r\n")+20 {
					t.Fatalf("cut at %d: %s (%q)", i, s.Outcome, s.Reason)
				}
				if r < had {
					t.Fatalf("cut at %d: %s after something better", i, s.Outcome)
				}
				had = r
			}
			if had != 3 {
				t.Errorf("whole, it is no success")
			}
		})
	}
}

// goodTranscript returns the shortest transcript of pr that is a success, without the part behind its end.
func goodTranscript(t *testing.T, pr wire.Protocol) (text, kind string) {
	t.Helper()
	pattern, kind := "*.sse", "text/event-stream"
	if pr.Lines {
		pattern, kind = "*.ndjson", "application/x-ndjson"
	}
	files, err := filepath.Glob(filepath.Join("wire", "testdata", pr.Name, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n%s", kind, b)
		if (text == "" || len(b) < len(text)) && probeCut(t, pr.Name, whole).Outcome == OK {
			text = string(b)
		}
	}
	if text == "" {
		t.Fatal("no transcript is a success")
	}
	return text, kind
}

// probeCut probes an endpoint that answers with text and resets the connection.
func probeCut(t *testing.T, protocol, text string) (s Sample) {
	t.Helper()
	c := testCanary()
	c.Target.Protocol = protocol
	cut := func(sd *side) error {
		if _, err := io.WriteString(sd.conn, text); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			return err
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		srv := scripted(steps(cut, rst()))
		defer srv.stop()
		p := New(Options{Dial: srv.dial})
		defer p.Close()
		var err error
		if s, err = p.Do(t.Context(), Shot{Canary: c}); err != nil {
			t.Fatal(err)
		}
	})
	return s
}
