package sim

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	incidents "serin/alert/incident"
	"serin/alert/outbox"
	"serin/alert/replay"
	"serin/alert/slack"
	"serin/alert/slack/slacktest"
	"serin/baseline"
	"serin/probe"
	"serin/probe/secret"
)

const (
	monthTargets = 4
	monthDays    = 30
)

// month is a provider's targets, each with a life of its own, and outages of them all.
type month struct {
	targets []*faulty
	all     []Event // every probe of every target fails
}

func newMonth() *month {
	m := &month{}
	for i := range monthTargets {
		w := NewWorld(uint64(211+i), probe.TTFT, Incidents, monthDays)
		f := &faulty{World: w, FaultProfile: FaultProfile{Chance: .002, Outcome: probe.HTTP5xx}}
		f.outages = nil
		from := (11 + 4*i) * dayMinutes
		f.down = []Event{{Name: "outage", Start: from, End: from + 45}}
		f.bursts = []Event{{Name: "burst", Start: from + dayMinutes, End: from + dayMinutes + 30}}
		m.targets = append(m.targets, f)
	}
	for _, day := range []int{9, 17, 26} {
		m.all = append(m.all, Event{Name: "provider", Start: day*dayMinutes + 600, End: day*dayMinutes + 600 + 6*hourMinutes})
	}
	return m
}

func (m *month) probe(k int, sent time.Time) (probe.Sample, bool) {
	minute := int(sent.Sub(Start()) / time.Minute)
	if minute > (monthDays-1)*dayMinutes { // the last day is quiet, so that all is over at its end
		s, ok := m.targets[0].World.probe(k%canaries, sent.Add(-20*24*time.Hour))
		return s, ok && minute < monthDays*dayMinutes
	}
	s, ok := m.targets[k/canaries].probe(k%canaries, sent)
	if _, out := at(m.all, minute); out && ok {
		s = probe.Sample{Outcome: probe.TimeoutFirstToken, Family: probe.FamilyTimeout, Side: probe.TimeoutFirstToken.Side("")}
	}
	return s, ok
}

func (m *month) watched() []alert.Watched {
	var list []alert.Watched
	for i := range monthTargets {
		some := watchedTarget(alert.DefaultRule(), probe.TTFT, everyDefault)
		for _, w := range some {
			w.Canary.Target.Name, w.Canary.Target.Provider = fmt.Sprintf("gw-%d", i), "gateway"
		}
		list = append(list, some...)
	}
	return list
}

// TestMonthOnSlack lets a month of incidents pass through engine, outbox and channels into a recording Slack, which fails
// now and then, with three restarts on the way.
func TestMonthOnSlack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		now := func() time.Time { return Start().Add(time.Since(begin)) }
		bot, hook := slacktest.New("xoxb-month"), slacktest.New("")
		a, world := newArchive(), newMonth()
		watched := world.watched()
		f := &feed{world: world, watched: watched, at: Start(), end: minuteTime(monthDays * dayMinutes), every: everyDefault}
		l := &monthLife{t: t, archive: a, now: now, bot: bot, hook: hook}
		l.driver = replay.New(f, replay.Options{Watched: watched, Baseline: baseline.DefaultOptions(), History: a, From: Start(), Commit: l.commit})
		stop := l.live()
		for m := range monthDays * dayMinutes {
			switch {
			case m == 9*dayMinutes+700, m == 17*dayMinutes+603, m == 22*dayMinutes: // in an outage, as one begins, at rest
				stop()
				stop = l.live()
			case m%997 == 0:
				bot.Fail(slacktest.Post, slacktest.Fault{Status: 429, Header: map[string]string{"Retry-After": "40"}})
				bot.Fail(slacktest.Update, slacktest.Fault{Status: 503})
				hook.Fail(slacktest.Webhook, slacktest.Fault{Status: 500})
			}
			if _, err := l.driver.Run(t.Context(), minuteTime(m+1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		stop()
		bot.Close()
		hook.Close()
		judgeMonth(t, a, bot, hook)
	})
}

// monthLife is a daemon that lives for a month: driver, incidents, outbox and a store in memory.
type monthLife struct {
	t         *testing.T
	archive   *archive
	now       func() time.Time
	bot, hook *slacktest.Server
	driver    *replay.Driver
	box       *outbox.Outbox
}

func (l *monthLife) commit(c alert.Change) {
	if err := l.archive.Commit(l.t.Context(), c); err != nil {
		l.t.Error(err)
	}
	l.box.Add(c.Notices...)
}

// live starts all of it over what the archive has; the returned function ends it.
func (l *monthLife) live() (stop func()) {
	t, bot, hook := l.t, l.bot, l.hook
	hidden := func(s string) secret.Secret {
		v, err := secret.FromValue("a secret", s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	byToken, err := slack.New(slack.Options{Name: "bot", BotToken: hidden("xoxb-month"), Channel: "C1", Mention: "<!here>", APIURL: bot.APIURL()}, slack.WithDial(bot.Dial))
	if err != nil {
		t.Fatal(err)
	}
	byHook, err := slack.New(slack.Options{Name: "hook", WebhookURL: hidden(hook.WebhookURL())}, slack.WithDial(hook.Dial))
	if err != nil {
		t.Fatal(err)
	}
	l.box = outbox.New(outbox.Options{Journal: l.archive, Channels: []alert.Channel{byToken, byHook}, Now: l.now})
	snap := l.archive.snapshot()
	l.box.Restore(snap.Notices)
	if err := l.driver.Start(t.Context(), snap, l.now()); err != nil {
		t.Fatal(err)
	}
	people := incidents.New(incidents.Options{IncidentOptions: alert.DefaultIncident(), Channels: []string{"bot", "hook"}, Instance: "serin-1"})
	people.Load(snap, l.driver.Engine(), l.now())
	l.driver.Tell(people)
	box := l.box
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		box.Run(ctx)
	})
	return func() { cancel(); wg.Wait() }
}

// facts is what no message may lack: what it is about with its number and what that is held against, since when, and how
// to go on.
var facts = []*regexp.Regexp{
	regexp.MustCompile(`(first token .*, usually .* \(\d|\d+ of (the last )?\d+|no answers|is down|errors|timeouts)`),
	regexp.MustCompile(`since .*\d\d:\d\d \+00:00`),
	regexp.MustCompile(`serin explain [a-z2-7]{4}`),
	regexp.MustCompile(`probed from serin-1`),
}

func judgeMonth(t *testing.T, a *archive, bot, hook *slacktest.Server) {
	told, again := 0, 0
	for _, inc := range a.incidents {
		if inc.State != alert.IncidentClosed {
			t.Errorf("incident %s of %s is %s at the end", inc.ID, inc.Scope, inc.State)
		}
		if inc.Revision > 0 {
			told++
			again += len(inc.Reopened)
		}
	}
	for _, n := range a.notices {
		if n.State == alert.NoticePending || n.State == alert.NoticeBlocked {
			t.Errorf("still owed: %+v", n)
		}
	}
	opened, threads := 0, map[string]int{}
	for _, c := range bot.Calls() {
		switch {
		case !c.Taken && c.Method != slacktest.Auth:
		case c.Method == slacktest.Post && c.Thread == "":
			opened++
			if got := bot.Message(c.TS); !strings.HasPrefix(got, ":large_green_circle: RESOLVED") {
				t.Errorf("a message was never closed: %q", got)
			}
			lacks(t, c)
		case c.Method == slacktest.Post:
			threads[c.Thread]++
		}
		if c.Method == slacktest.Update && c.Thread != "" {
			t.Errorf("an edit in a thread: %+v", c)
		}
	}
	if opened != told || told < 10 {
		t.Errorf("%d messages for %d incidents that were told", opened, told)
	}
	for ts, n := range threads {
		if n > 25 {
			t.Errorf("%d lines in the thread of %q", n, bot.Message(ts))
		}
	}
	var opens, closes int
	for _, c := range hook.Calls() {
		switch {
		case !c.Taken:
		case strings.Contains(c.Text, " RESOLVED "):
			closes++
		default:
			opens++
		}
	}
	if opens < told || closes < told || closes > told+again { // what a webhook cannot edit comes as a message
		t.Errorf("by webhook %d openings and %d ends of %d incidents, %d times reopened", opens, closes, told, again)
	}
	refused := slices.ContainsFunc(slices.Concat(bot.Calls(), hook.Calls()), func(c slacktest.Call) bool { return c.Blocks == nil && c.Thread == "" })
	if refused {
		t.Error("a message went out as plain text: its blocks were refused")
	}
	t.Logf("%d incidents told, %d calls", told, len(bot.Calls()))
}

// lacks looks for the facts in an opening.
func lacks(t *testing.T, c slacktest.Call) {
	text := c.Text + "\n" + string(c.Blocks)
	for _, want := range facts {
		if !want.MatchString(text) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
