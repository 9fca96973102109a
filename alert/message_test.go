package alert

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

var updateGolden = flag.Bool("update", false, "write the golden messages anew")

// plain writes a message as a person would read it, with the roles that channels go by.
func plain(m Message) string {
	var b strings.Builder
	emoji, word := m.Badge()
	fmt.Fprintf(&b, "%s %s  %s\n", emoji, word, m.Headline)
	for _, l := range m.Lines {
		fmt.Fprintf(&b, "%-9s| %s\n", l.Role, l.Text)
	}
	fmt.Fprintf(&b, "footer   | %s\n", strings.Join(m.Footer, " · "))
	fmt.Fprintf(&b, "link=%q runbook=%q thread=%q state=%s severity=%s incident=%s mention=%v\n",
		m.Link, m.Runbook, m.Thread, m.State, m.Severity, m.Incident, m.Mention)
	return b.String()
}

// shanghai is fixed, so that the tests need no zone files.
var shanghai = time.FixedZone("CST", 8*3600)

// at is a time of the story's day: 1 March 2026 in shanghai.
func at(clock string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04:05", "2026-03-01 "+clock, shanghai)
	if err != nil {
		panic(err)
	}
	return t
}

func breaches(pattern string) []Vote {
	var votes []Vote
	for _, c := range pattern {
		call := baseline.Calm
		if c == 'x' {
			call = baseline.Breach
		}
		votes = append(votes, Vote{Verdict: baseline.Ruling{Call: call}, Outcome: probe.OK})
	}
	return votes
}

func outcomes(list ...probe.Outcome) []Vote {
	var votes []Vote
	for _, o := range list {
		votes = append(votes, Vote{Outcome: o})
	}
	return votes
}

func ttftAlert() Alert {
	return Alert{ID: "a1", Series: "gw-eu/chat/long", Kind: KindTTFT, State: StateFiring, Severity: Critical,
		FirstBreach: at("14:05:00"), Fired: at("14:08:00"), Since: at("14:08:00"), Votes: breaches(".xxxx"), Probes: 12,
		Last:  Evidence{At: at("14:21:05"), Value: 8.4, Mean: 2, Low: 1.6, Limit: 2.5, Ratio: 4.2, Z: 9, Outcome: probe.OK, RequestID: "req_9f2"},
		Worst: Evidence{At: at("14:21:05"), Value: 8.4, Mean: 2, Low: 1.6, Limit: 2.5, Ratio: 4.2, Z: 9}}
}

func story(act Act) Story {
	return Story{Act: act, Now: at("14:21:10"), Alerts: []Alert{ttftAlert()}, Interval: 5 * time.Minute, M: 4, N: 5, Zone: shanghai,
		Incident: Incident{ID: "7f3k", Scope: "gw-eu", Severity: Critical, State: "open", Opened: at("14:08:00")},
		Siblings: []Sibling{{Name: "TPOT", State: StateOK}, {Name: "short", State: StateOK}, {Name: "medium", State: StateOK}, {Name: "gw-us", State: StateOK}},
		Spark:    []float64{2, 2.1, 1.9, 2, 2, 2.2, 1.8, 4, 8.1, 8.2, 8.4}, SparkOf: "TTFT",
		Instance: "serin-1", Region: "eu-1", URL: "https://serin.example/", Runbook: "https://wiki.example/ttft"}
}

func closed(s Story) Story {
	s.Now, s.Incident.Closed, s.Incident.State = at("14:52:30"), at("14:52:00"), "closed"
	s.Alerts[0].Resolved, s.Alerts[0].State, s.Alerts[0].Probes, s.Alerts[0].Errors = at("14:52:00"), StateOK, 19, 1
	s.Alerts[0].Last = Evidence{At: at("14:52:00"), Value: 2.1, Mean: 2, Low: 1.6, Limit: 2.5, Ratio: 1.05, RequestID: "req_a00"}
	return s
}

func failing(kind Kind, o probe.Outcome, reason string) Story {
	s := story(ActOpen)
	s.Incident.Severity, s.Incident.Opened, s.N = Warning, at("14:21:10"), 4
	s.Spark, s.Siblings = nil, []Sibling{{Name: "short", State: StateFiring}, {Name: "medium", State: StatePending}}
	s.Alerts[0] = Alert{ID: "a2", Series: "gw-eu/chat/long", Kind: kind, State: StateFiring, Severity: Warning, FirstBreach: at("14:18:00"),
		Votes: outcomes(probe.OK, o, o, o), Probes: 4, Last: Evidence{At: at("14:21:05"), Outcome: o, Reason: reason, RequestID: "req_9f2"}}
	if kind == KindTimeout {
		s.Alerts[0].Timeouts = 3
	} else if kind == KindError {
		s.Alerts[0].Errors = 3
	}
	return s
}

// outage is a provider's incident: errors on all of its three targets.
func outage(act Act) Story {
	s := failing(KindError, probe.HTTP5xx, "HTTP 503: upstream gone")
	s.Act, s.Incident.Provider, s.Incident.Scope, s.Incident.Severity = act, "openai", "openai", Critical
	s.Incident.Targets, s.Siblings = []string{"gw-1", "gw-2", "gw-3"}, nil
	one := s.Alerts[0]
	s.Alerts = nil
	for i, name := range s.Incident.Targets {
		a := one
		a.ID, a.Series, a.Severity = "b"+name, name+"/chat/short", Critical
		a.FirstBreach = a.FirstBreach.Add(time.Duration(i) * time.Minute)
		s.Alerts = append(s.Alerts, a)
		s.Kin = append(s.Kin, Kin{Target: name, State: StateFiring, In: true})
	}
	return s
}

// stepped is a step up of three canaries whose level moves by 6 % by itself.
func stepped() *Fit {
	return &Fit{Score: 12.4, Fires: 9, Votes: 6, Checks: 14, Ratio: 1.62, Before: 1.03, Hours: 1.1, Reach: 1.15,
		LevelModel: level.Model{.001, .001, .0008, .0006}}
}

// stories are one of every kind of message.
func stories() map[string]Story {
	list := map[string]Story{"open": story(ActOpen), "update": story(ActUpdate), "resolve": closed(story(ActResolve)), "test": {Act: ActTest, Now: at("14:21:10"), Zone: shanghai, Instance: "serin-1", Region: "eu-1"}}
	with := func(name string, s Story, change func(*Story)) {
		change(&s)
		list[name] = s
	}
	with("open_no_url", story(ActOpen), func(s *Story) { s.URL, s.Runbook, s.Region, s.Zone = "", "", "", nil })
	with("open_title", story(ActOpen), func(s *Story) { s.Title = "EU gateway" })
	with("open_mark", story(ActOpen), func(s *Story) {
		s.Marks = []Mark{{At: at("13:58:00"), Text: "vllm 0.13"}, {At: at("14:12:00"), Text: "rolled\nback <!channel>"}}
	})
	with("update_silenced", story(ActUpdate), func(s *Story) {
		b := ttftAlert()
		b.ID, b.Series, b.Mute = "a2", "gw-eu/chat/medium", Mute{Silence: "s1", By: "ann", Reason: "known, INFRA-123", Until: at("18:00:00")}
		s.Alerts[0].Mute = Mute{Silence: "s2", By: "kim", Reason: "drill", Until: at("15:00:00"), Cap: Warning}
		s.Alerts = append(s.Alerts, b)
	})
	with("resolve_mark", closed(story(ActResolve)), func(s *Story) { s.Marks = []Mark{{At: at("13:58:00"), Text: "vllm 0.13"}} })
	with("open_tpot", story(ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Kind, a.Severity, s.Incident.Severity = KindTPOT, Warning, Warning
		a.Last.Value, a.Last.Low, a.Last.Limit, a.Last.Ratio = 0.044, 0.018, 0.027, 2.02
		s.Siblings = []Sibling{{Name: "TTFT", State: StateOK}, {Name: "short", State: StateLearning}}
		s.Spark, s.SparkOf = []float64{.021, .022, .02, math.NaN(), .021, .04, .044}, "TPOT"
	})
	with("open_connect", story(ActOpen), func(s *Story) {
		s.Alerts[0].Series, s.Connect = "gw-eu/chat/short", Moved{Now: .21, Usual: .012}
		s.Siblings = []Sibling{{Name: "TPOT", State: StateOK}, {Name: "medium", State: StateFiring}}
	})
	with("open_own_side", story(ActOpen), func(s *Story) {
		s.Siblings = []Sibling{{Name: "gw-us", State: StateFiring}, {Name: "gw-cn", State: StateFiring}}
	})
	with("open_other_recovers", story(ActOpen), func(s *Story) {
		s.Siblings = []Sibling{{Name: "gw-us", State: StateFiring}, {Name: "gw-cn", State: StateRecovering}}
	})
	with("open_round", story(ActOpen), func(s *Story) {
		s.Alerts[0].Series, s.Alerts[0].Last = "gw-eu", Evidence{At: at("14:21:05"), Ratio: 2.1, Z: 6}
		s.Siblings, s.Spark = nil, nil
	})
	with("open_target", story(ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Series, a.Severity, s.Incident.Severity, s.M, s.N = "gw-eu", Warning, Warning, 5, 6
		a.Last = Evidence{At: at("14:21:05"), Ratio: 1.82, Z: 4, Canaries: 9, Outcome: probe.OK}
		a.Votes, a.Probes, a.Fit = breaches("xxx.xxx"), 7, stepped()
		s.Parts = []Part{{"short", .42, .14, .26, 2.1}, {"medium", 1.1, .5, .8, 1.7}, {"long", 2.2, 1.6, 2.5, 1.1}}
		s.Siblings, s.Spark = []Sibling{{Name: "short", State: StateFiring}, {Name: "medium", State: StatePending}, {Name: "long", State: StateOK}, {Name: "TPOT", State: StateOK}}, nil
	})
	with("open_sharp", story(ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Fit, a.Severity, s.Incident.Severity = stepped(), Warning, Warning
		a.Fit.Votes, a.Fit.Checks, a.Fit.Fires = 8, 8, 10
	})
	with("open_away", story(ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Series, a.Severity, s.Incident.Severity = "gw-eu", Warning, Warning
		a.Last, a.Fit = Evidence{At: at("14:21:05"), Ratio: 1.31, Z: 2.1, Canaries: 3, Outcome: probe.OK}, stepped()
		a.Fit.Away, a.Fit.Hours, a.Fit.Score = true, 1.58, 4.2
		s.Siblings, s.Spark = nil, nil
	})
	with("open_several", story(ActOpen), func(s *Story) {
		b := ttftAlert()
		b.ID, b.Series, b.Last.Value, b.Last.Low, b.Last.Limit, b.Last.Ratio = "a5", "gw-eu/chat/medium", 1.94, .39, .61, 3.9
		c := failing(KindError, probe.HTTP5xx, "upstream gone").Alerts[0]
		s.Alerts = append(s.Alerts, b, c)
	})
	with("open_censored", story(ActOpen), func(s *Story) {
		s.Alerts[0].Last = Evidence{At: at("14:21:05"), Outcome: probe.TimeoutFirstToken, Low: 1.6, Limit: 2.5, Reason: "no token within 120 s"}
		s.Alerts[0].Timeouts = 1
	})
	with("learning", story(ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Series, a.Fixed, a.Learned, a.Severity, s.Incident.Severity = "gw-eu/chat/short", true, "day 2 of 7, 180 samples", Warning, Warning
		a.Last = Evidence{At: at("14:21:05"), Value: 8.4, Limit: 5, Ratio: 1.68, RequestID: "req_9f2"}
		s.Siblings = []Sibling{{Name: "TPOT", State: StateLearning}, {Name: "medium", State: StateLearning}}
	})
	with("fixed", story(ActOpen), func(s *Story) {
		s.Alerts[0].Fixed, s.Alerts[0].Last = true, Evidence{At: at("14:21:05"), Value: 8.4, Limit: 5, Ratio: 1.68}
	})
	list["timeout"] = failing(KindTimeout, probe.TimeoutFirstToken, "no token within 120 s")
	list["error"] = failing(KindError, probe.HTTP5xx, "HTTP 503:\n upstream connect error or disconnect/reset before headers. reset reason: connection failure, transport failure reason: delayed connect error: 111")
	with("auth", failing(KindError, probe.Auth, "HTTP 401: invalid api key"), func(s *Story) {
		s.Alerts[0].Votes, s.SameKey = outcomes(probe.Auth), []string{"gw-us", "gw-cn"}
	})
	list["limit"] = failing(KindLimit, probe.RateLimited, "")
	with("no_data", failing(KindNoData, "", ""), func(s *Story) {
		s.Alerts[0].Votes, s.Alerts[0].Probes, s.Alerts[0].Last = nil, 0, Evidence{}
		s.Alerts[0].FirstBreach, s.Incident.Severity, s.Siblings = at("14:10:00"), Critical, nil
	})
	with("reminder", story(ActThread), func(s *Story) { s.Reminder, s.Now = true, at("18:08:00") })
	with("thread", story(ActThread), func(s *Story) {
		b := failing(KindTimeout, probe.TimeoutStall, "").Alerts[0]
		b.Resolved = at("14:21:00")
		c := ttftAlert()
		c.ID, c.Series = "a3", "gw-eu/chat/medium"
		s.Alerts = append(s.Alerts, b, c)
		s.News = []News{{What: TurnJoined, Alert: "a3"}, {What: TurnResolved, Alert: "a2"}, {What: TurnSuppressed, Alert: "a1", Detail: "timeouts of gw-eu"},
			{What: TurnAcked, Detail: "on-call"}}
	})
	normalNow := Evidence{At: at("14:44:05"), Value: 2.1, Mean: 2, Low: 1.6, Limit: 2.5, Ratio: 1.05, RequestID: "req_a00"}
	recovering := func(s *Story) {
		a := &s.Alerts[0]
		a.State, a.Last, a.Votes, s.Now = StateRecovering, normalNow, breaches("xxx.."), at("14:44:10")
	}
	with("update_recovering", story(ActUpdate), recovering)
	with("provider_open", outage(ActOpen), func(s *Story) {})
	with("provider_widened", outage(ActThread), func(s *Story) { s.News = []News{{What: TurnWidened}} })
	with("provider_joined", outage(ActThread), func(s *Story) {
		s.News = []News{{What: TurnResolved, Target: "gw-1"}, {What: TurnJoined, Target: "gw-3"}, {What: TurnJoined, Target: "gw-2"}}
	})
	with("provider_reminder", outage(ActThread), func(s *Story) { s.Reminder, s.Now = true, at("18:18:00") })
	with("provider_slow", outage(ActUpdate), func(s *Story) {
		for i := range s.Alerts {
			a := ttftAlert()
			a.ID, a.Series, a.Last.Ratio, s.Incident.Severity = s.Alerts[i].ID, s.Alerts[i].Series, 1.8+float64(i), Warning
			s.Alerts[i] = a
		}
		s.Kin = append(s.Kin, Kin{Target: "gw-4", State: StateOK}, Kin{Target: "gw-5", State: StatePending}, Kin{Target: "gw-6", State: StateOK, Left: true})
	})
	with("provider_silenced", outage(ActUpdate), func(s *Story) {
		s.Incident.Acked, s.Marks = "kim (rolling back)", []Mark{{At: at("14:12:00"), Text: "vllm 0.13"}}
		for i := range s.Alerts {
			s.Alerts[i].Mute = Mute{Silence: "s1", By: "ann", Reason: "new GPUs", Until: at("15:00:00")}
		}
	})
	with("provider_partly_silenced", outage(ActUpdate), func(s *Story) {
		s.Alerts[1].Mute = Mute{Silence: "s1", By: "ann", Reason: "new GPUs", Until: at("15:00:00")}
	})
	with("update_acked", story(ActUpdate), func(s *Story) { s.Incident.Acked = "kim (rolling\nback)" })
	with("provider_resolve", outage(ActResolve), func(s *Story) {
		s.Marks = []Mark{{At: at("14:12:00"), Text: "vllm 0.13"}}
		s.Now, s.Incident.Closed, s.Incident.State = at("20:20:30"), at("20:20:00"), "closed"
		for i := range s.Alerts {
			s.Alerts[i].Resolved, s.Alerts[i].State = at("20:20:00"), StateOK
		}
		for i := range s.Kin {
			s.Kin[i].In, s.Kin[i].Left, s.Kin[i].State = false, true, StateOK
		}
	})
	with("merged", story(ActResolve), func(s *Story) { s.Incident.Merged, s.Merged, s.Incident.State = "q2x5", "openai", "closed" })
	with("update_one_over", story(ActUpdate), func(s *Story) {
		recovering(s)
		b := ttftAlert()
		b.ID, b.Series, b.State, b.Resolved, b.Votes = "a5", "gw-eu/chat/short", StateOK, at("14:44:05"), nil
		s.Alerts = append(s.Alerts, b)
	})
	with("update_one_calm", story(ActUpdate), func(s *Story) {
		recovering(s)
		s.Alerts[0].State, s.Alerts[0].Votes = StateFiring, breaches("xxx.x.")
	})
	with("update_target_recovering", story(ActUpdate), func(s *Story) {
		recovering(s)
		a := &s.Alerts[0]
		a.Series, a.Last, a.Fit = "gw-eu", Evidence{At: at("14:44:05"), Ratio: 1.02, Canaries: 9}, stepped()
		a.Worst = Evidence{At: at("14:21:05"), Ratio: 1.9, Canaries: 9}
		s.Siblings, s.Spark = nil, nil
	})
	with("update_errors_recovering", failing(KindError, probe.HTTP5xx, "upstream gone"), func(s *Story) {
		s.Act, s.Alerts[0].State, s.Alerts[0].Votes = ActUpdate, StateRecovering, outcomes(probe.HTTP5xx, probe.HTTP5xx, probe.HTTP5xx, probe.OK)
	})
	with("timeout_overlap", failing(KindTimeout, probe.Skipped, probe.ReasonOverlap), func(s *Story) {})
	with("thread_one_over", story(ActThread), func(s *Story) {
		b := ttftAlert()
		b.ID, b.Series, b.State, b.Resolved, b.Votes = "a5", "gw-eu/chat/short", StateOK, at("14:44:05"), nil
		s.Alerts = append(s.Alerts, b)
		s.News = []News{{What: TurnResolved, Alert: "a5"}}
	})
	with("escalated", story(ActThread), func(s *Story) { s.Escalated, s.News = true, []News{{What: TurnEscalated}} })
	with("resolve_new_normal", closed(story(ActResolve)), func(s *Story) {
		s.Alerts[0].Reason, s.Alerts[0].FirstBreach = "new_normal", at("14:05:00").Add(-24*time.Hour)
	})
	with("resolve_target", closed(story(ActResolve)), func(s *Story) {
		a := &s.Alerts[0]
		a.Series, a.Last = "gw-eu", Evidence{At: at("14:52:00"), Ratio: 1.02, Canaries: 3}
		a.Worst = Evidence{At: at("14:21:05"), Ratio: 1.9, Canaries: 3}
	})
	with("resolve_accepted", closed(story(ActResolve)), func(s *Story) {
		s.Alerts[0].Reason, s.Alerts[0].FirstBreach, s.Alerts[0].Accepted = "new_normal", at("14:05:00").Add(-24*time.Hour), 1.42
	})
	with("resolve_accepted_unasked", closed(story(ActResolve)), func(s *Story) {
		s.Alerts[0].Reason, s.Alerts[0].Accepted, s.Alerts[0].Unasked = "new_normal", 1.42, true
		s.Alerts[0].Undo = "serin accept --undo gw-eu/chat/long --why TEXT"
	})
	with("resolve_accepted_undo", closed(story(ActResolve)), func(s *Story) {
		s.Alerts[0].Reason, s.Alerts[0].Accepted, s.Alerts[0].Undo = "new_normal", 1.42, "undo-it gw-eu/chat/long"
	})
	with("flapping", story(ActThread), func(s *Story) {
		s.News = []News{{What: TurnFlapping, Detail: "opened and closed 4 times in 6 h"}}
	})
	with("resolve_removed", closed(story(ActResolve)), func(s *Story) { s.Alerts[0].Reason = "removed" })
	with("resolve_several", closed(story(ActResolve)), func(s *Story) {
		b := failing(KindTimeout, probe.TimeoutStall, "").Alerts[0]
		b.Resolved = at("14:40:00")
		s.Alerts = append(s.Alerts, b)
	})
	with("resolve_errors", failing(KindError, probe.HTTP5xx, ""), func(s *Story) { s.Act = ActResolve; *s = closed(*s) })
	return list
}

func TestComposeGolden(t *testing.T) {
	for name, s := range stories() {
		t.Run(name, func(t *testing.T) {
			golden(t, name, plain(Compose(s)))
		})
	}
}

// golden holds a text against its file, or writes that anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "message", name+".txt")
	if *updateGolden {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestHintNeedsEvidence(t *testing.T) {
	f := func(want string, change func(*Story)) {
		t.Helper()
		s := story(ActOpen)
		change(&s)
		if got := hint(s); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("hint is %q, want %q…", got, want)
		}
	}
	f("looks like prefill", func(*Story) {})
	f("", func(s *Story) { s.Siblings = nil })
	f("", func(s *Story) { s.Siblings = []Sibling{{Name: "short", State: StateLearning}} })
	f("", func(s *Story) { s.Siblings = []Sibling{{Name: "TPOT", State: StateOK}} })
	f("", func(s *Story) { s.Siblings = []Sibling{{Name: "gw-us", State: StateFiring}} }) // one target proves nothing
	f("looks like our own side", func(s *Story) {
		s.Siblings = []Sibling{{Name: "a", State: StateFiring}, {Name: "b", State: StateFiring}}
	})
	f("", func(s *Story) {
		s.Siblings = []Sibling{{Name: "a", State: StateFiring}, {Name: "b", State: StateFiring}, {Name: "c", State: StateOK}}
	})
	short := func(change func(*Story)) func(*Story) {
		return func(s *Story) {
			s.Alerts[0].Series = "gw-eu/chat/short"
			change(s)
		}
	}
	f("", short(func(*Story) {}))
	f("looks like network", short(func(s *Story) { s.Connect = Moved{.21, .012} }))
	f("", short(func(s *Story) { s.Connect = Moved{.004, .001} })) // four times of nearly nothing
	f("", short(func(s *Story) { s.Connect, s.Siblings[0].State = Moved{.21, .012}, StateFiring }))
	f("looks like a proxy", short(func(s *Story) { s.Buffered = true }))
	f("looks like a lost prefix cache", short(func(s *Story) { s.Cached = Moved{0, 3200} }))
	f("", short(func(s *Story) { s.Cached = Moved{3100, 3200} }))
	f("looks like decoding", func(s *Story) {
		s.Alerts[0].Kind, s.Siblings = KindTPOT, []Sibling{{Name: "TTFT", State: StateOK}}
	})
	f("", func(s *Story) { s.Alerts[0].Kind, s.Siblings = KindTPOT, []Sibling{{Name: "TTFT", State: StateFiring}} })
}
