package check

import (
	"strings"
	"testing"
	"time"

	"serin/probe"
)

func TestCheckTable(t *testing.T) {
	s := answeredSample()
	s.RTT, s.Sent, s.Connect, s.TTFB, s.StreamTotal = probe.Known(30*time.Millisecond), probe.Known(31*time.Millisecond), probe.Known(30*time.Millisecond),
		probe.Known(290*time.Millisecond), probe.Known(2*time.Second)
	s.Stamp, s.Lag, s.Conn, s.RemoteAddr, s.HTTPStatus, s.Proto = "kernel", probe.Known(time.Millisecond), "new", "192.0.2.1:443", 200, "HTTP/2.0"
	s.Load = probe.Known(150 * time.Millisecond)
	s.CertDays, s.TokensSource, s.Chunks = probe.Some[int64](41), "usage", 86
	d := &probe.Diary{SendTook: probe.Known(20 * time.Microsecond), Text: "a\nb", Events: []probe.DiaryEvent{{At: 300 * time.Millisecond, Read: 4, Kind: "text"}}}
	var out strings.Builder
	tab := newTable(&out, []string{"gw/chat/short"})
	tab.row(s)
	tab.row(&probe.Sample{Target: "gw", Scene: "chat", Size: probe.Short, Outcome: probe.TimeoutConnect})
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

// answeredSample is a success with what it usually carries.
func answeredSample() *probe.Sample {
	return &probe.Sample{Target: "gw", Scene: "chat", Size: probe.Short, Outcome: probe.OK, Family: probe.FamilyOK, Side: probe.SideServer,
		TTFT: probe.Known(300 * time.Millisecond), TTFA: probe.Known(300 * time.Millisecond), TPOT: probe.Known(20 * time.Millisecond), E2E: probe.Known(2 * time.Second),
		InputTokens: probe.Some[int64](40), OutputTokens: probe.Some[int64](86), CostUSD: probe.Some(0.002), Check: "pass", SchedLag: probe.Known(time.Millisecond)}
}

// TestPhasesAddUp: the bar's steps follow one another from the call to the end, or to where the probe was given up.
func TestPhasesAddUp(t *testing.T) {
	f := func(want string, end time.Duration, s probe.Sample, d probe.Diary) {
		t.Helper()
		letters, sum := "", time.Duration(0)
		for _, p := range phaseSteps(&s, &d) {
			letters, sum = letters+p.letter, sum+p.d
		}
		if letters != want || sum != end {
			t.Errorf("%q to %d, want %q to %d", letters, sum, want, end)
		}
	}
	whole := probe.Sample{Outcome: probe.OK, DNS: probe.Known(2), Connect: probe.Known(3), TLS: probe.Known(5), Sent: probe.Known(12), TTFB: probe.Known(40),
		TTFT: probe.Known(50), TTFA: probe.Known(70), E2E: probe.Known(200), StreamTotal: probe.Known(210)}
	f("dctswprae", 210, whole, probe.Diary{Took: 215})
	cut := whole
	cut.Outcome, cut.E2E, cut.StreamTotal = probe.TimeoutStall, probe.Span{}, probe.Span{}
	f("dctswpran", 500, cut, probe.Diary{Took: 500, Events: []probe.DiaryEvent{{At: 45}, {At: 120}}})
	cut.TTFA, cut.TTFT = probe.Span{}, probe.Span{}
	f("dctswn", 500, cut, probe.Diary{Took: 500})
	cut.TTFB = probe.Span{}
	f("dctsw", 500, cut, probe.Diary{Took: 500})
	f("dt", 90, probe.Sample{Outcome: probe.TLS, DNS: probe.Known(2)}, probe.Diary{Took: 90, Cause: probe.Cause{Phase: "tls"}})
	f("d", 90, probe.Sample{Outcome: probe.DNS}, probe.Diary{Took: 90, Cause: probe.Cause{Phase: "dns"}})
	f("c", 90, probe.Sample{Outcome: probe.TimeoutConnect}, probe.Diary{Took: 90, Cause: probe.Cause{Phase: "connect"}})
}
