package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// roleVariable makes this test binary play another process: a server that paces its streams, or a busy loop. Measuring
// against a server in the same process would measure that process.
const roleVariable = "SERIN_TEST_ROLE"

// stampDigits is the length of each instant in a paced stream: Unix nanoseconds with zeros in front.
const stampDigits = 20

// spin is what a busy process works on.
var spin atomic.Uint64

// playRole never returns by itself: it ends with its standard input.
func playRole(role string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if role == "busy" {
		for i := uint64(0); ; i++ {
			spin.Store(i) // work that no compiler takes away
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	defer keepStamping()()
	for {
		conn, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go servePaced(conn)
	}
}

// startRole starts this binary in a role and returns the first line it prints, where it is a server.
func startRole(tb testing.TB, role string) string {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if role == "busy" {
		return ""
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// servePaced answers one request whose path is /N/GAP/…: N events GAP apart, each with the instant right before its write
// as its content, and in front of the first that at which the kernel received the request.
func servePaced(c net.Conn) {
	defer c.Close()
	conn := newMeteredConn(c)
	conn.last.at = conn.last.at.Add(-time.Hour) // the request may have come long before a busy server accepts
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	got := conn.read()
	parts := strings.Split(req.URL.Path, "/")
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return
	}
	gap, err := time.ParseDuration(parts[2])
	if err != nil {
		return
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		return
	}
	next := time.Now()
	buf := make([]byte, 0, 512)
	for i := range n {
		next = next.Add(gap)
		time.Sleep(time.Until(next)) // a process of its own: it plays a model
		buf = append(buf[:0], `data: {"choices":[{"index":0,"delta":{"content":"`...)
		if i == 0 {
			buf = appendStamp(buf, got.at)
		}
		at := len(buf)
		buf = append(buf, "00000000000000000000\"}}]}\n\n"...)
		appendStamp(buf[:at], time.Now())
		if _, err := c.Write(buf); err != nil {
			return
		}
	}
	_, _ = fmt.Fprintf(c, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", n)
}

func appendStamp(b []byte, t time.Time) []byte {
	var digits [stampDigits]byte
	v := t.UnixNano()
	for i := stampDigits - 1; i >= 0; i-- {
		digits[i] = byte('0' + v%10)
		v /= 10
	}
	return append(b, digits[:]...)
}

// stampsIn reads the instants back.
func stampsIn(tb testing.TB, text string) []int64 {
	tb.Helper()
	var list []int64
	for ; len(text) >= stampDigits; text = text[stampDigits:] {
		v, err := strconv.ParseInt(text[:stampDigits], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}
