package daemon

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/slack"
	"serin/alert/slack/slacktest"
	"serin/probe/secret"
)

// jitterRun is how long each Slack of BenchmarkJitter is looked at: each canary is probed once.
const jitterRun = 75 * time.Second

// BenchmarkJitter runs the fleet of 500 canaries with 200 messages owed, on a Slack that answers, on one that refuses
// connections, and on one that takes them and never answers. It reports how late probes were sent, and the dead Slacks'
// p99 against the living one's. go test ./cmd/internal/daemon -run - -bench Jitter -benchtime 1x
func BenchmarkJitter(b *testing.B) {
	base := startFake(b)
	alive := slacktest.New("")
	if err := alive.Listen(); err != nil {
		b.Fatal(err)
	}
	defer alive.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections wait in its queue for ever
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	gone := slacktest.New("")
	if err := gone.Listen(); err != nil {
		b.Fatal(err)
	}
	gone.Close()
	for b.Loop() {
		living := reportJitter(b, base, "alive", alive.APIURL())
		for name, url := range map[string]string{"refused": gone.APIURL(), "silent": "http://" + silent.Addr().String() + "/api/"} {
			dead := reportJitter(b, base, name, url)
			b.ReportMetric(dead/living, name+"/alive-p99")
		}
		sent := 0
		for _, c := range alive.Calls() {
			if c.Taken {
				sent++
			}
		}
		b.ReportMetric(float64(sent), "messages-taken")
	}
}

// reportJitter runs the fleet with one Slack and returns the p99 of the lag, milliseconds.
func reportJitter(b *testing.B, base, name, url string) float64 {
	token, err := secret.FromValue("the test's token", "xoxb-test")
	if err != nil {
		b.Fatal(err)
	}
	ch, err := slack.New(slack.Options{BotToken: token, Channel: "C1", APIURL: url})
	if err != nil {
		b.Fatal(err)
	}
	lags := runFleet(b, base, jitterRun, []alert.Channel{ch}, func(d *Daemon) {
		now := time.Now()
		for i := range 200 {
			m := alert.Message{Severity: alert.Warning, State: "firing", Headline: fmt.Sprint("message ", i), Incident: fmt.Sprint("b", i)}
			d.tellOutbox(alert.Notice{Incident: m.Incident, Channel: slack.Name, Revision: 1, Act: alert.ActNote, Message: m, State: alert.NoticePending, Created: now})
		}
	})
	slices.Sort(lags)
	p99 := rankOf(lags, .99)
	b.ReportMetric(rankOf(lags, .5), name+"-lag-ms-p50")
	b.ReportMetric(p99, name+"-lag-ms-p99")
	return p99
}
