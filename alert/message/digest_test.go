package message

import (
	"testing"
	"time"

	"serin/alert"
)

func digestStory() DigestStory {
	spike := func(clock, series string, value, ratio float64) alert.Transition {
		return alert.Transition{At: at(clock), Series: series, Kind: "ttft", Event: alert.EventSpike, Reason: "one probe", Evidence: alert.Evidence{Value: value, Ratio: ratio}}
	}
	single := slowAlert("gw-eu/chat/short", "ttft", .701, .3, .378)
	single.Severity, single.Resolved = alert.Info, at("04:08:00")
	open := slowAlert("gw-us/chat/short", "tpot", .044, .02, .027)
	open.Severity = alert.Info
	told := slowAlert("gw-3/chat/short", "ttft", .701, .3, .378)
	return DigestStory{From: at("09:00:00").AddDate(0, 0, -1), To: at("15:00:00"), Zone: shanghai, Instance: "vm", Region: "eu-1",
		Alerts: []alert.Alert{single, open, told},
		Transitions: []alert.Transition{
			{At: at("10:02:11"), Series: "gw-eu/chat/short", Kind: alert.KindChange, To: "model_changed", Reason: "the endpoint answers as model \"b\",\nbefore as \"a\""},
			{At: at("10:03:00"), Series: "gw-eu/chat/short", Kind: "ttft", From: "ok", To: "pending", Reason: "1 of 4 votes"},
			{At: at("03:10:00"), Series: "gw-eu/chat/long", Kind: "ttft", Event: alert.EventAccept, Reason: "1.4x of before accepted by kim"},
			spike("11:00:00", "gw-eu/chat/long", 8.4, 4.2), spike("11:30:00", "gw-eu/chat/long", 5, 2.5), spike("12:00:00", "gw-us/chat/short", .9, 2.2),
		}}
}

func TestDigest(t *testing.T) {
	m, ok := ComposeDigest(digestStory())
	if !ok || m.Severity != alert.Info || m.Mention {
		t.Fatalf("ok %t, %+v", ok, m)
	}
	golden(t, "digest", plain(m))
}

func TestDigestOfNothing(t *testing.T) {
	s := digestStory()
	s.Alerts, s.Transitions = s.Alerts[2:], s.Transitions[1:2] // a warning, and a change of state: sent elsewhere
	if m, ok := ComposeDigest(s); ok {
		t.Errorf("told %+v", m)
	}
}

func TestDigestIsBounded(t *testing.T) {
	s := digestStory()
	x := s.Transitions[0]
	for i := range 500 {
		x.At = x.At.Add(time.Duration(i) * time.Millisecond)
		s.Transitions = append(s.Transitions, x)
	}
	m, _ := ComposeDigest(s)
	if len(m.Lines) > 4*(maxDigestLines+1) || m.Lines[maxDigestLines].Text != "and 489 more lines of this sort; /api/v1/alerts/history has them all" {
		t.Errorf("%d lines, line %d: %q", len(m.Lines), maxDigestLines, m.Lines[maxDigestLines].Text)
	}
}
