package message

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

	"serin/alert"
	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
	"serin/probe/secret"
)

var updateGolden = flag.Bool("update", false, "write the golden messages anew")

// plain writes a message as a person reads it, with the roles that channels go by.
func plain(m alert.Message) string {
	m = m.Plain()
	var b strings.Builder
	emoji, word := m.Badge()
	fmt.Fprintf(&b, "%s %s  %s\n", emoji, word, m.Headline)
	for _, l := range m.Lines {
		fmt.Fprintf(&b, "%-7s| %s\n", l.Role, l.Text)
	}
	fmt.Fprintf(&b, "footer | %s\n", strings.Join(m.Footer, " · "))
	if m.Thread != "" {
		fmt.Fprintf(&b, "thread | %s\n", m.Thread)
	}
	fmt.Fprintf(&b, "link=%q runbook=%q state=%s severity=%s\n", m.Link, m.Runbook, m.State, m.Severity)
	return b.String()
}

// shanghai is fixed, so that the tests need no zone files.
var shanghai = time.FixedZone("CST", 8*3600)

// at is a time of the story's day: 1 March 2026 in shanghai.
func at(clock string) time.Time {
	t, err := time.ParseInLocation("15:04:05", clock, shanghai)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 2, 0)
}

// the endpoints of the stories: twelve targets of gateway; gw-eu has three sizes, the others one.
func targets(change ...func(t *alert.Target)) []alert.Target {
	scene := &probe.Scene{Name: "chat", Title: "Customer chat", Zone: shanghai, Runbook: "https://wiki.example/slow"}
	var list []alert.Target
	for _, name := range []string{"gw-eu", "gw-us", "gw-3", "gw-4", "gw-5", "gw-6", "gw-7", "gw-8", "gw-9", "gw-10", "gw-11", "gw-12"} {
		p := probe.DefaultTarget()
		p.Name, p.Provider, p.Model, p.BaseURL = name, "gateway", "qwen2.5-72b", "https://llm.example/v1"
		t := alert.Target{Target: &p}
		sizes := []probe.Size{"short"}
		if name == "gw-eu" {
			sizes, p.Labels = []probe.Size{"long", "medium", "short"}, map[string]string{"team": "search"}
		}
		for _, size := range sizes {
			t.Canaries = append(t.Canaries, alert.CanaryStatus{Canary: &probe.Canary{Target: &p, Scene: scene, Size: size, Interval: time.Minute},
				States: map[alert.Kind]alert.State{"ttft": "ok", "tpot": "ok", "timeout": "ok", "error": "ok", "limit": "ok", "no_data": "ok"},
				Bands:  map[probe.Metric]baseline.Band{"ttft": {State: "ready", Mean: .3, Limit: .378}, "tpot": {State: "ready", Mean: .02, Limit: .026}}})
		}
		for _, f := range change {
			f(&t)
		}
		list = append(list, t)
	}
	return list
}

// state sets the state of one kind of a canary.
func state(list []alert.Target, series string, k alert.Kind, s alert.State) {
	for _, t := range list {
		for _, c := range t.Canaries {
			if c.Key() == series || t.Name == series {
				c.States[k] = s
			}
		}
	}
}

// slow is a story of gw-eu whose short canary is slow in the first token: the message of alerting.md.
func slow(act alert.Act) Story {
	a := slowAlert("gw-eu/chat/short", "ttft", .701, .3, .378)
	s := base(act, a)
	state(s.Targets, "gw-eu/chat/short", "ttft", "firing")
	state(s.Targets, "gw-eu/chat/medium", "ttft", "pending")
	state(s.Targets, "gw-eu/chat/long", "ttft", "pending")
	return s
}

func slowAlert(series string, k alert.Kind, value, mean, limit float64) alert.Alert {
	a := alert.Alert{ID: series + "/" + string(k), Series: series, Kind: k, State: "firing", Severity: "warning", FirstBreach: at("03:53:10"),
		Fired: at("03:55:00"), LastBreach: at("03:55:25"), Probes: 6}
	a.Last = alert.Evidence{At: at("03:55:25"), Value: value, Mean: mean, Limit: limit, Ratio: value / mean, Outcome: "ok", RequestID: "req_9f2"}
	a.Worst, a.Votes = a.Last, votes(k, "xxxxxx")
	a.Worst.At = at("03:55:10")
	return a
}

func votes(k alert.Kind, pattern string) []alert.Vote {
	outcome := map[alert.Kind]probe.Outcome{"timeout": "timeout_first_token", "error": "http_5xx", "limit": "rate_limited"}[k]
	var list []alert.Vote
	for _, c := range pattern {
		v := alert.Vote{Outcome: "ok", Verdict: baseline.Ruling{Call: "calm"}}
		if c == 'x' {
			v = alert.Vote{Outcome: outcome, Verdict: baseline.Ruling{Call: "breach"}}
		}
		list = append(list, v)
	}
	return list
}

func base(act alert.Act, alerts ...alert.Alert) Story {
	s := Story{Act: act, Now: at("03:55:30"), Alerts: alerts, Targets: targets(), Instance: "vm", URL: "https://serin.example/",
		Incident: alert.Incident{ID: "p4u2", Group: "target/gw-eu", Scope: "gw-eu", Severity: alerts[0].Severity, State: "open", Opened: at("03:55:00")}}
	for _, a := range alerts {
		s.Incident.Members = append(s.Incident.Members, alert.Member{Alert: a.ID, Target: a.Target()})
	}
	s.Recent = recent(map[string]alert.Recent{"ttft": {Since: .701, Values: []float64{.29, .31, .3, .28, .29, .3, .52, .61, .66, .69, .72, .701}},
		"tpot": {Since: .032, Values: []float64{.02, .021, .02, .02, .019, .02, .03, .031, .032, .032, .033, .032}}})
	return s
}

// recent answers by canary and metric, else by metric.
func recent(by map[string]alert.Recent) func(string, alert.Kind, time.Time) alert.Recent {
	return func(canary string, k alert.Kind, _ time.Time) alert.Recent {
		if r, ok := by[canary+" "+string(k)]; ok {
			return r
		}
		return by[string(k)]
	}
}

// gateway makes a story one of the group of a provider with twelve targets.
func gateway(s Story) Story {
	s.Incident.Group, s.Incident.Scope = "provider/gateway", "gateway"
	for _, t := range s.Targets {
		s.Group = append(s.Group, t.Name)
	}
	return s
}

// failing is a story of failures of one kind on one series.
func failing(act alert.Act, k alert.Kind, o probe.Outcome, reason string) Story {
	a := failure("gw-eu/chat/short", k, o, reason)
	s := base(act, a)
	state(s.Targets, a.Series, k, "firing")
	s.Recent = recent(map[string]alert.Recent{"ttft": {Values: []float64{.29, .31, .3, .28, .29, math.NaN(), math.NaN(), .3, math.NaN()}}})
	return s
}

func failure(series string, k alert.Kind, o probe.Outcome, reason string) alert.Alert {
	a := alert.Alert{ID: series + "/" + string(k), Series: series, Kind: k, State: "firing", Severity: "critical", FirstBreach: at("03:53:10"),
		Fired: at("03:55:00"), LastBreach: at("03:55:25"), Probes: 4, Votes: votes(k, "xx.x")}
	for i := range a.Votes {
		if a.Votes[i].SpeaksFor(k) {
			a.Votes[i].Outcome = o
		}
	}
	a.Last = alert.Evidence{At: at("03:55:25"), Outcome: o, Reason: reason, RequestID: "req_9f2"}
	switch k {
	case "timeout":
		a.Timeouts = 3
	case "error":
		a.Errors = 3
	}
	return a
}

// closed ends a story: the last bad check was at 03:58, which was sure at 04:08.
func closed(s Story) Story {
	s.Act, s.Now, s.Incident.State, s.Incident.Closed = alert.ActResolve, at("04:08:05"), "closed", at("04:08:00")
	for i := range s.Alerts {
		a := &s.Alerts[i]
		a.State, a.Resolved, a.LastBreach, a.Reason, a.Votes = "ok", at("04:08:00"), at("03:58:05"), "30 of the last 40 checks calm", nil
		a.Probes += 40
		a.Last.At, a.Last.Value = at("04:08:00"), .29
	}
	return s
}

// outage is a story of three targets of gateway.
func outage(act alert.Act, more ...string) Story {
	var list []alert.Alert
	for i, name := range append([]string{"gw-eu", "gw-us", "gw-3"}, more...) {
		a := failure(name+"/chat/short", "error", "http_5xx", "HTTP 503: no healthy upstream")
		a.FirstBreach = a.FirstBreach.Add(time.Duration(i) * 10 * time.Second)
		list = append(list, a)
	}
	s := gateway(base(act, list...))
	for _, a := range list {
		state(s.Targets, a.Series, "error", "firing")
	}
	return s
}

// stories are one of every kind of message.
func stories() map[string]Story {
	list := map[string]Story{"open": slow(alert.ActOpen), "resolve": closed(slow(alert.ActResolve))}
	with := func(name string, s Story, change func(*Story)) {
		change(&s)
		list[name] = s
	}
	with("open_both_metrics", gateway(slow(alert.ActOpen)), func(s *Story) {
		s.Alerts = append(s.Alerts, slowAlert("gw-eu/chat/short", "tpot", .032, .02, .026))
		s.Marks = []alert.Mark{{At: at("03:51:41"), Text: "vllm 0.13\nrollout <!channel>"}, {At: at("03:54:00"), Text: "rollback"}}
	})
	with("open_bare", slow(alert.ActOpen), func(s *Story) {
		s.URL, s.Instance, s.Recent, s.Targets = "", "", nil, nil
	})
	with("open_title", slow(alert.ActOpen), func(s *Story) { s.Targets[0].Title, s.Region = "EU gateway", "eu-1" })
	with("open_sizes", slow(alert.ActOpen), func(s *Story) {
		s.Alerts = append(s.Alerts, slowAlert("gw-eu/chat/medium", "ttft", 1.4, .8, 1.01))
		state(s.Targets, "gw-eu/chat/medium", "ttft", "firing")
		state(s.Targets, "gw-eu/chat/long", "ttft", "ok")
	})
	whole := func(s *Story) {
		a := slowAlert("gw-eu", "ttft", 0, 0, 0)
		a.Last = alert.Evidence{At: at("03:55:25"), Ratio: 1.82, Canaries: 3, Outcome: "ok"}
		a.Worst = a.Last
		a.Fit = &alert.Fit{Score: 14, Votes: 6, Checks: 14, Ratio: 1.6, LevelModel: level.Model{.001, .001, .0008, .0006}}
		s.Alerts, s.Incident.Members = []alert.Alert{a}, []alert.Member{{Alert: a.ID, Target: "gw-eu"}}
		s.Recent = recent(map[string]alert.Recent{"gw-eu/chat/short ttft": {Since: .62, Values: []float64{.3, .31, .3, .6, .61, .62}},
			"gw-eu/chat/medium ttft": {Since: .48, Values: []float64{.3, .5}}, "gw-eu/chat/long ttft": {Since: .31, Values: []float64{.3, .31}}})
		state(s.Targets, "gw-eu", "ttft", "ok")
	}
	with("open_target", slow(alert.ActOpen), whole)
	with("open_target_for_hours", slow(alert.ActOpen), func(s *Story) {
		whole(s)
		s.Recent = nil
		s.Alerts[0].Fit = &alert.Fit{Away: true, Hours: 1.58, Reach: 1.2}
	})
	with("open_learning", slow(alert.ActOpen), func(s *Story) {
		a := &s.Alerts[0]
		a.Fixed, a.Learned = true, "day 2 of 7, 180 samples"
		a.Last = alert.Evidence{At: at("03:55:25"), Value: 8.4, Limit: 5, Ratio: 1.68, RequestID: "req_9f2"}
		state(s.Targets, "gw-eu/chat/medium", "ttft", "learning")
		state(s.Targets, "gw-eu/chat/long", "ttft", "learning")
	})
	with("open_fixed_limit", slow(alert.ActOpen), func(s *Story) {
		s.Alerts[0].Fixed, s.Alerts[0].Last = true, alert.Evidence{At: at("03:55:25"), Value: 8.4, Limit: 5, Ratio: 1.68}
	})
	with("open_newest_calm", slow(alert.ActUpdate), func(s *Story) {
		a := &s.Alerts[0]
		a.Votes, a.Last.Value, a.Last.Ratio = votes("ttft", "xxx.x."), .31, 1.03
	})
	with("open_beyond_timeout", slow(alert.ActOpen), func(s *Story) {
		s.Alerts[0].Last.Value, s.Alerts[0].Last.Ratio, s.Alerts[0].Worst = 0, 0, alert.Evidence{}
	})
	with("open_network", slow(alert.ActOpen), func(s *Story) {
		s.Recent = recent(map[string]alert.Recent{"ttft": {Connect: alert.BeforeAfter{Before: .012, After: .21}}})
	})
	with("open_own_side", outage(alert.ActOpen, "gw-4", "gw-5", "gw-6", "gw-7", "gw-8", "gw-9", "gw-10", "gw-11", "gw-12"), func(*Story) {})
	with("open_provider", outage(alert.ActOpen), func(s *Story) {
		for i := range s.Targets[3:] {
			s.Targets[3+i].Target.Provider = ""
		}
		s.Group = s.Group[:3]
	})
	with("open_group", outage(alert.ActOpen), func(*Story) {})
	with("open_group_slow", gateway(slow(alert.ActOpen)), func(s *Story) {
		b := slowAlert("gw-us/chat/short", "ttft", 1.26, .3, .378)
		s.Alerts = append(s.Alerts, b)
		state(s.Targets, b.Series, "ttft", "firing")
		state(s.Targets, "gw-7", "ttft", "pending")
	})
	with("update_group_mixed", outage(alert.ActUpdate), func(s *Story) {
		s.Alerts[1] = slowAlert("gw-us/chat/short", "ttft", 1.26, .3, .378)
		s.Alerts[2].State, s.Alerts[2].Resolved = "ok", at("03:55:20")
	})
	with("open_host", gateway(slow(alert.ActOpen)), func(s *Story) {
		s.Incident.Group, s.Incident.Scope = "host/llm.example:443", "llm.example:443"
		for i := range s.Targets {
			s.Targets[i].Target.Provider = ""
		}
	})
	list["open_timeout"] = failing(alert.ActOpen, "timeout", "timeout_first_token", "")
	list["open_stuck"] = failing(alert.ActOpen, "timeout", "skipped", probe.ReasonOverlap)
	with("open_error", failing(alert.ActOpen, "error", "http_5xx", "HTTP 503:\n upstream connect error or disconnect/reset before headers. reset reason: connection failure, transport failure reason: delayed connect error: 111"), func(s *Story) {
		b := failure("gw-eu/chat/long", "timeout", "timeout_total", "")
		slow := slowAlert("gw-eu/chat/medium", "ttft", .8, .3, .378)
		s.Alerts = append(s.Alerts, b, slow)
		s.Incident.Members = append(s.Incident.Members, alert.Member{Alert: slow.ID, Target: "gw-eu", Inhibited: "errors of gw-eu"})
		state(s.Targets, b.Series, "timeout", "firing")
	})
	with("open_rate", failing(alert.ActOpen, "error", "http_5xx", "HTTP 502"), func(s *Story) {
		a := &s.Alerts[0]
		a.Series, a.Votes, a.Probes, a.Errors = "gw-eu", nil, 60, 9
	})
	apiKey, err := secret.FromValue("GATEWAY_API_KEY", "sk-1234567890")
	if err != nil {
		panic(err)
	}
	key := func(o probe.Outcome, reason string) Story {
		s := failing(alert.ActOpen, "error", o, reason)
		s.Alerts[0].Votes, s.Alerts[0].Probes, s.Alerts[0].Errors = s.Alerts[0].Votes[:1], 1, 1
		s.Incident.Group, s.Incident.Scope, s.Group = "credential/gateway/environment variable GATEWAY_API_KEY", "key GATEWAY_API_KEY at gateway", []string{"gw-eu", "gw-us", "gw-3"}
		s.Paused = at("04:00:25")
		for i := range s.Targets {
			s.Targets[i].APIKey = apiKey
		}
		return s
	}
	list["open_key"] = key("auth", "HTTP 401: invalid api key")
	list["open_quota"] = key("quota", "HTTP 429: insufficient_quota")
	with("resolve_key", key("auth", "HTTP 401: invalid api key"), func(s *Story) {
		*s = closed(*s)
		s.Alerts[0].Probes, s.Alerts[0].LastBreach = 2, at("03:55:25")
	})
	list["open_rate_limited"] = failing(alert.ActOpen, "limit", "rate_limited", "")
	with("open_no_data", failing(alert.ActOpen, "no_data", "", ""), func(s *Story) {
		a := &s.Alerts[0]
		a.Votes, a.Probes, a.FirstBreach, a.Last = nil, 0, at("03:40:00"), alert.Evidence{Reason: "max_in_flight of gateway is taken by runs that hang"}
	})
	with("update_silenced", slow(alert.ActUpdate), func(s *Story) {
		s.Alerts = append(s.Alerts, slowAlert("gw-eu/chat/medium", "ttft", 1.4, .8, 1.01), slowAlert("gw-eu/chat/long", "ttft", 2, 1, 1.5))
		m := alert.Mute{Silence: "s1", By: "ann", Reason: "known, INFRA-123", Until: at("18:00:00")}
		s.Incident.Members = append(s.Incident.Members, alert.Member{Alert: s.Alerts[1].ID, Mute: m}, alert.Member{Alert: s.Alerts[2].ID, Mute: m})
	})
	with("update_all_silenced", outage(alert.ActUpdate), func(s *Story) {
		for i := range s.Incident.Members {
			s.Incident.Members[i].Mute = alert.Mute{Maintenance: "gpu-swap", Until: at("05:00:00"), Cap: "warning"}
		}
	})
	with("update_acked", slow(alert.ActUpdate), func(s *Story) {
		s.Incident.Acked, s.Incident.AckedUntil = "kim (rolling\nback)", at("09:00:00")
	})
	recovering := func(s *Story) {
		s.Now = at("03:59:10")
		for i := range s.Alerts {
			a := &s.Alerts[i]
			a.State, a.LastBreach, a.Watched, a.Votes = "recovering", at("03:58:05"), at("04:08:05"), votes(a.Kind, "xxx..")
			a.Last.Value, a.Last.At = .29, at("03:59:05")
		}
		s.Recent = recent(map[string]alert.Recent{"ttft": {Since: .6, Values: []float64{.3, .31, .3, .6, .61, .62, .7, .3, .29}}})
	}
	with("update_recovering", slow(alert.ActUpdate), recovering)
	with("update_errors_recovering", failing(alert.ActUpdate, "error", "http_5xx", "HTTP 503"), recovering)
	with("resolve_errors", closed(failing(alert.ActResolve, "error", "http_5xx", "HTTP 503")), func(s *Story) { s.Alerts[0].Timeouts = 2 })
	with("resolve_one_error", closed(failing(alert.ActResolve, "error", "connect", "")), func(s *Story) {
		a := &s.Alerts[0]
		a.Probes, a.Errors, a.LastBreach = 2, 1, a.FirstBreach
	})
	with("resolve_group", closed(outage(alert.ActResolve)), func(s *Story) { s.Marks = []alert.Mark{{At: at("03:53:10"), Text: "vllm 0.13"}} })
	with("resolve_target", slow(alert.ActResolve), func(s *Story) {
		whole(s)
		*s = closed(*s)
	})
	with("resolve_no_data", closed(failing(alert.ActResolve, "no_data", "", "")), func(s *Story) { s.Alerts[0].FirstBreach, s.Alerts[0].LastBreach = at("03:40:00"), time.Time{} })
	ended := func(reason string) {
		with("closed_"+strings.ReplaceAll(reason, " ", "_"), closed(slow(alert.ActResolve)), func(s *Story) {
			a := &s.Alerts[0]
			a.Reason = reason
			if reason == alert.EndAccepted {
				a.Accepted, a.By = 1.42, "kim"
			}
		})
	}
	for _, why := range []string{alert.EndRemoved, alert.EndAccepted, alert.EndRelearned, alert.EndSpec, alert.EndReset, alert.EndLearning} {
		ended(why)
	}
	news := func(name string, s Story, n News) {
		with("news_"+name, s, func(s *Story) { s.Act, s.News = alert.ActThread, []News{n} })
	}
	id := "gw-eu/chat/short/ttft"
	grown := gateway(slow(alert.ActThread))
	grown.Alerts = append(grown.Alerts, slowAlert("gw-us/chat/short", "ttft", 1.26, .3, .378))
	news("target_joined", grown, News{What: NewsTargetJoined, Target: "gw-us", Alert: "gw-us/chat/short/ttft"})
	news("joined", list["open_sizes"], News{What: NewsJoined, Alert: "gw-eu/chat/medium/ttft"})
	with("news_escalated", failing(alert.ActThread, "timeout", "timeout_first_token", ""), func(s *Story) {
		s.Incident.Severity, s.News = "critical", []News{{What: NewsEscalated}}
	})
	with("news_reminder", slow(alert.ActThread), func(s *Story) { s.Now, s.News = at("07:55:00"), []News{{What: NewsReminder}} })
	slower := slow(alert.ActThread)
	slower.Alerts[0].Slower = 1.3
	news("slower", slower, News{What: NewsSlower, Alert: id})
	half := gateway(slow(alert.ActThread))
	over := closed(gateway(failing(alert.ActThread, "error", "http_5xx", "HTTP 503"))).Alerts[0]
	over.ID, over.Series = "e1", "gw-us/chat/short"
	half.Alerts, half.Now = append(half.Alerts, over), at("04:08:05")
	news("target_recovered", half, News{What: NewsTargetRecovered, Target: "gw-us"})
	news("ended", half, News{What: NewsEnded, Alert: "e1"})
	news("acked", slow(alert.ActThread), News{What: NewsAcked, Detail: "kim (rolling back)"})
	with("news_several", half, func(s *Story) {
		s.News = []News{{What: NewsEnded, Alert: "e1"}, {What: NewsEscalated}, {What: NewsAcked, Detail: "kim"}}
	})
	with("news_ended_sizes", slow(alert.ActThread), func(s *Story) {
		for _, a := range closed(base(alert.ActThread, slowAlert("gw-eu/chat/medium", "ttft", 1.4, .8, 1.01), slowAlert("gw-eu/chat/medium", "tpot", .032, .02, .026),
			slowAlert("gw-eu/chat/long", "ttft", 2, 1, 1.5))).Alerts {
			s.Alerts, s.News = append(s.Alerts, a), append(s.News, News{What: NewsEnded, Alert: a.ID})
		}
	})
	with("update_calm_but_open", closed(slow(alert.ActUpdate)), func(s *Story) {
		s.Act, s.Incident.Closed, s.Incident.Reopened = alert.ActUpdate, time.Time{}, []time.Time{at("03:55:00"), at("03:56:00")}
	})
	news("target_joined_key", key("auth", "HTTP 401: invalid api key"), News{What: NewsTargetJoined, Target: "gw-eu"})
	with("reopen", slow(alert.ActReopen), func(s *Story) {
		s.Incident.Opened, s.Incident.Reopened = at("02:10:00"), []time.Time{at("03:00:00"), at("03:55:00")}
	})
	return list
}

func TestComposeGolden(t *testing.T) {
	for name, s := range stories() {
		t.Run(name, func(t *testing.T) { golden(t, name, plain(Compose(s))) })
	}
}

func TestSampleGolden(t *testing.T) {
	for _, kind := range Samples() {
		golden(t, "sample_"+kind, plain(Sample(kind, SampleOptions{Instance: "vm", Region: "eu-1", Config: "/etc/serin/serin.toml", Now: at("03:55:30"), Zone: shanghai})))
	}
}

// golden holds a text against its file, or writes that anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *updateGolden {
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
