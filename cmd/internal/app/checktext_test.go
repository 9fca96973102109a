package app

import (
	"strings"
	"testing"
	"time"

	"serin/configs"
	"serin/probe"
)

func TestCheckTable(t *testing.T) {
	s := sampleOf(probe.OK)
	s.RTT, s.Sent, s.Connect, s.TTFB, s.StreamTotal = probe.Known(30*time.Millisecond), probe.Known(31*time.Millisecond), probe.Known(30*time.Millisecond),
		probe.Known(290*time.Millisecond), probe.Known(2*time.Second)
	s.Stamp, s.Lag, s.Conn, s.RemoteAddr, s.HTTPStatus, s.Proto = "kernel", probe.Known(time.Millisecond), "new", "192.0.2.1:443", 200, "HTTP/2.0"
	s.Load = probe.Known(150 * time.Millisecond)
	s.CertDays, s.TokensSource, s.Chunks = probe.Some[int64](41), "usage", 86
	d := &probe.Diary{SendTook: probe.Known(20 * time.Microsecond), Text: "a\nb", Events: []probe.DiaryEvent{{At: 300 * time.Millisecond, Read: 4, Kind: "text"}}}
	var out strings.Builder
	tab := newTable(&out, []configs.Run{{Canary: &probe.Canary{Target: &probe.Target{Name: "gw"}, Scene: &probe.Scene{Name: "chat"}, Size: probe.Short}}})
	tab.row(s)
	tab.row(sampleOf(probe.TimeoutConnect))
	printDetails(&out, s, d)
	printDiary(&out, d)
	text := out.String()
	for _, want := range []string{
		"canary         outcome           TTFT",
		"gw/chat/short  ok              300 ms    300 ms   20.0 ms    2.00 s       40 → 86    50.0   30.0 ms\n",
		"gw/chat/short  timeout_connect         –",
		"200 HTTP/2.0, new connection to 192.0.2.1:443, certificate good for 41 days",
		"269 ms from the request's last byte on the wire, 239 ms of it the server's",
		"  load    150 ms to load the model, as the server says\n",
		"first screen 269 ms", "whole answer 2.00 s",
		"c connect 30.0 ms", "w wait for the first byte 259 ms", "a answer 1.70 s",
		"     300.000 ms", "read 4     text",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "| a") {
		t.Error("the answer's text came unasked")
	}
	var a accuracy
	a.add(s, d)
	out.Reset()
	a.print(&out)
	if got := out.String(); !strings.Contains(got, "from 1 probe\n") || !strings.Contains(got, "1.00 ms later is in no figure") || !strings.Contains(got, "at most 0.02 ms") {
		t.Errorf("accuracy: %s", got)
	}
	s.Stamp = "read"
	a.add(s, d)
	out.Reset()
	a.print(&out)
	if got := out.String(); !strings.Contains(got, "1 of 2 by read stamps: tokens were stamped up to 1.00 ms late") || !strings.Contains(got, "TPOT: within 0.059 %") {
		t.Errorf("accuracy: %s", got)
	}
}

// TestPhasesAddUp: the bar's steps follow one another from the call to the end.
func TestPhasesAddUp(t *testing.T) {
	s := &probe.Sample{DNS: probe.Known(2), Connect: probe.Known(3), TLS: probe.Known(5), Sent: probe.Known(12), TTFB: probe.Known(40), TTFT: probe.Known(50),
		TTFA: probe.Known(70), E2E: probe.Known(200), StreamTotal: probe.Known(210)}
	letters, sum := "", time.Duration(0)
	for _, p := range phaseSteps(s) {
		letters, sum = letters+p.letter, sum+p.d
	}
	if letters != "dctswprae" || sum != 210 {
		t.Errorf("%q, %d", letters, sum)
	}
}
