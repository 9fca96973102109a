package baseline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/probe"
)

func TestBandsTellWhatTheyLeftOut(t *testing.T) {
	at := utc(3, 12, 12, 2)
	s := steady(t, DefaultThreshold(), at)
	s.Miss(utc(3, 11, 12, 3), "failed")
	s.Miss(utc(3, 11, 12, 3), "failed") // told twice
	s.Miss(utc(3, 10, 12, 3), "failed")
	s.Miss(utc(3, 10, 11, 31), "first")
	s.Miss(utc(3, 10, 11, 29), "client_suspect") // outside of the window
	s.Exclude(utc(3, 9, 12, 0), utc(3, 9, 12, 9), true)
	want := map[string]int{"failed": 2, "first": 1, "excluded": 2}
	if diff := cmp.Diff(want, s.Band(at).LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestValuesThatAreMissing(t *testing.T) {
	f := func(change func(*probe.Sample), v time.Duration, missing string) {
		t.Helper()
		s := &probe.Sample{Outcome: probe.OK, TTFT: probe.Known(time.Second)}
		change(s)
		got, why := Value(s, probe.TTFT)
		if got != v || why != missing {
			t.Errorf("%v, %q, want %v, %q", got, why, v, missing)
		}
	}
	f(func(*probe.Sample) {}, time.Second, "")
	f(func(s *probe.Sample) { s.Outcome = probe.OKLength }, time.Second, "")
	f(func(s *probe.Sample) { s.Outcome = probe.Truncated }, 0, "failed")
	f(func(s *probe.Sample) { s.First = true }, 0, "first")
	f(func(s *probe.Sample) { s.Flags = []probe.Flag{probe.ClientSuspect} }, 0, "client_suspect")
	f(func(s *probe.Sample) { s.Flags = []probe.Flag{probe.ColdStart} }, 0, "cold_start")
	f(func(s *probe.Sample) { s.TTFT = probe.Span{} }, 0, "absent")
	f(func(s *probe.Sample) { s.TTFT = probe.Known(0) }, 0, "absent")
}
