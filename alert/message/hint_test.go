package message

import (
	"strings"
	"testing"

	"serin/alert"
)

func TestHintNeedsEvidence(t *testing.T) {
	f := func(want string, change func(*Story)) {
		t.Helper()
		s := slow(alert.ActOpen)
		state(s.Targets, "gw-eu", "ttft", "ok")
		s.Recent = recent(nil)
		change(&s)
		v := newView(s)
		if got, do := v.hint(v.now[0]); !strings.HasPrefix(got, want) || (want == "") != (got == "") || do == "" {
			t.Errorf("hint is %q, want %q…; do %q", got, want, do)
		}
	}
	f("", func(*Story) {})
	with := func(r alert.Recent, change func(*Story)) func(*Story) {
		return func(s *Story) {
			s.Recent = recent(map[string]alert.Recent{"ttft": r, "tpot": r})
			change(s)
		}
	}
	same := func(*Story) {}
	f("looks like network", with(alert.Recent{Connect: alert.BeforeAfter{Before: .012, After: .21}}, same))
	f("", with(alert.Recent{Connect: alert.BeforeAfter{Before: .001, After: .004}}, same)) // four times of nearly nothing
	f("", with(alert.Recent{Connect: alert.BeforeAfter{Before: .012, After: .21}}, func(s *Story) { state(s.Targets, "gw-eu", "tpot", "firing") }))
	f("looks like a proxy", with(alert.Recent{Buffered: true}, same))
	f("looks like a lost prefix cache", with(alert.Recent{Cached: alert.BeforeAfter{Before: 3200}}, same))
	f("", with(alert.Recent{Cached: alert.BeforeAfter{Before: 3200, After: 3100}}, same))
	long := func(s *Story) {
		s.Alerts[0].Series = "gw-eu/chat/long"
		state(s.Targets, "gw-eu/chat/long", "ttft", "firing")
	}
	f("looks like prefill", long)
	f("", func(s *Story) {
		long(s)
		state(s.Targets, "gw-eu/chat/short", "ttft", "learning")
	})
	f("looks like decoding", func(s *Story) { s.Alerts[0].Kind = "tpot" })
	f("", func(s *Story) {
		s.Alerts[0].Kind = "tpot"
		state(s.Targets, "gw-eu", "ttft", "firing")
	})
	others := func(n int) func(*Story) {
		return func(s *Story) {
			s.Targets = s.Targets[:1+n]
			for _, target := range s.Targets[1:] {
				state(s.Targets, target.Name, "error", "firing")
			}
		}
	}
	f("", others(1)) // one target proves nothing
	f("looks like our own side", others(2))
	f("", func(s *Story) {
		others(3)(s)
		state(s.Targets, "gw-4", "error", "ok")
	})
}

// TestOutageSaysNothingOfLatency holds that no line of an outage calls a latency normal.
func TestOutageSaysNothingOfLatency(t *testing.T) {
	for name, s := range stories() {
		v := newView(s)
		if len(v.now) != 1 || v.now[0].isSlow() {
			continue
		}
		for _, word := range []string{"normal", "usual", "short fine", "medium fine", "long fine"} {
			if text := plain(Compose(s)); strings.Contains(text, word) && s.Alerts[0].Kind != alert.KindNoData {
				t.Errorf("%s says %q: %s", name, word, text)
			}
		}
	}
}

// TestForeignText holds that whatever an endpoint or a person writes is one line, and no time of ours.
func TestForeignText(t *testing.T) {
	const evil = "a\nb\x02123|time|x\x03\u202e"
	s := gateway(failing(alert.ActOpen, "error", "http_5xx", evil))
	p := s.Targets[0].Target
	p.Title, p.Model, p.Labels = evil, evil, map[string]string{evil: evil}
	s.Alerts[0].Last.RequestID, s.Incident.Acked, s.Instance, s.Region, s.Incident.Scope = evil, evil, evil, evil, evil
	s.Marks = []alert.Mark{{At: s.Now, Text: evil}}
	s.Targets[0].Canaries[0].Scene.Title, s.Targets[0].Canaries[0].Scene.Runbook = evil, evil
	for _, act := range []alert.Act{alert.ActOpen, alert.ActThread, alert.ActResolve} {
		s.Act, s.News = act, []News{{What: NewsAcked, Detail: evil}}
		m := Compose(s)
		texts := append([]string{m.Headline, m.Thread, m.Runbook}, m.Footer...)
		for _, l := range m.Lines {
			texts = append(texts, l.Text)
		}
		for _, text := range texts {
			if strings.ContainsAny(alert.PlainTimes(text), "\n\x02\x03\u202e") || strings.Contains(alert.PlainTimes(text), "ab123") {
				t.Errorf("%s: %q", act, text)
			}
		}
	}
}
