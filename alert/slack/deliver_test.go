package slack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/alert/outbox"
	"serin/alert/slack/slacktest"
)

// life is one daemon's life: a journal and a channel that die together at a given moment of a delivery.
type life struct {
	*Channel
	mu      sync.Mutex
	rows    map[string]alert.Notice
	moments int // passed
	dieAt   int // moment at which all ends; 0 = never
	kill    context.CancelFunc
	dead    bool
}

// moment passes one, and reports whether the daemon is dead now.
func (l *life) moment() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moments++; l.moments == l.dieAt {
		l.dead = true
		l.kill()
	}
	return l.dead
}

func key(n alert.Notice) string { return fmt.Sprintf("%s %03d", n.Incident, n.Revision) }

// Commit stores notices while the daemon lives.
func (l *life) Commit(_ context.Context, c alert.Change) error {
	l.mu.Lock()
	if !l.dead {
		for _, n := range c.Notices {
			l.rows[key(n)] = n
		}
	}
	l.mu.Unlock()
	l.moment()
	return nil
}

// Send sends while the daemon lives; it may die before the call and after it.
func (l *life) Send(ctx context.Context, n alert.Notice, open alert.Receipt) (alert.Receipt, error) {
	if l.moment() {
		return alert.Receipt{}, context.Canceled
	}
	r, err := l.Channel.Send(ctx, n, open)
	if l.moment() {
		return alert.Receipt{}, context.Canceled
	}
	return r, err
}

// fault is what the first call meets.
type fault struct {
	name  string
	slack slacktest.Fault
	dials int  // connections refused before
	tls   bool // all of the first life's handshakes fail
	lost  int  // answers lost although the message was taken
	block bool // refused for good: a restart tries again
}

func faults() []fault {
	return []fault{
		{name: "none"},
		{name: "refused", dials: 1},
		{name: "TLS failure", tls: true},
		{name: "slow 60 s, taken when nobody waits any more", slack: slacktest.Fault{Delay: time.Minute}, lost: 1},
		{name: "timeout after taken", slack: slacktest.Fault{Delay: 11 * time.Second, Taken: true}, lost: 1},
		{name: "timeout", slack: slacktest.Fault{Delay: 11 * time.Second, Error: "internal_error"}},
		{name: "slow", slack: slacktest.Fault{Delay: 4 * time.Second}},
		{name: "cut", slack: slacktest.Fault{Cut: true}},
		{name: "cut after taken", slack: slacktest.Fault{Cut: true, Taken: true}, lost: 1},
		{name: "429 with Retry-After", slack: slacktest.Fault{Status: 429, Header: map[string]string{"Retry-After": "30"}}},
		{name: "429", slack: slacktest.Fault{Status: 429}},
		{name: "500", slack: slacktest.Fault{Status: 500}},
		{name: "500 after taken", slack: slacktest.Fault{Status: 500, Taken: true}, lost: 1},
		{name: "ratelimited", slack: slacktest.Fault{Error: "ratelimited"}},
		{name: "internal_error", slack: slacktest.Fault{Error: "internal_error"}},
		{name: "invalid_blocks", slack: slacktest.Fault{Error: "invalid_blocks"}},
		{name: "channel_not_found", slack: slacktest.Fault{Error: "channel_not_found"}, block: true},
		{name: "invalid_auth", slack: slacktest.Fault{Error: "invalid_auth"}, block: true},
		{name: "is_archived", slack: slacktest.Fault{Error: "is_archived"}, block: true},
		{name: "an HTML page", slack: slacktest.Fault{Status: 403, Body: "<html>"}, block: true},
	}
}

// TestDelivery kills the daemon at every moment of every delivery: each fault, each act, bot token and webhook. After a
// restart nothing is forgotten, nothing with a receipt is sent again, a lost answer costs one repeat, waits are kept.
func TestDelivery(t *testing.T) {
	acts := map[bool][]alert.Act{true: {alert.ActOpen, alert.ActUpdate, alert.ActThread, alert.ActResolve}, false: {alert.ActOpen, alert.ActResolve}}
	for bot, list := range acts {
		for _, act := range list {
			for _, f := range faults() {
				t.Run(fmt.Sprintf("bot %v/%s/%s", bot, act, f.name), func(t *testing.T) {
					died := true
					for at := 0; died; at++ {
						synctest.Test(t, func(t *testing.T) { died = deliver(t, bot, act, f, at) || at == 0 })
						if at > 100 {
							t.Fatal("it never comes to an end")
						}
					}
				})
			}
		}
	}
}

// TestDeliveryOfEveryWord goes through all that Slack may say with ok:false, for each act, with a death before the call,
// after it, and before its answer is stored.
func TestDeliveryOfEveryWord(t *testing.T) {
	words := append(slices.Sorted(maps.Keys(fixes())), "internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited", "rate_limited", "a_new_word")
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActThread, alert.ActResolve} {
		for _, word := range words {
			refused := &alert.SendError{Code: word}
			if gone(refused) || uneditable(refused) { // see TestOpeningThatCannotBeEdited
				continue
			}
			f := fault{name: word, slack: slacktest.Fault{Error: word}, block: true}
			for dieAt := range 5 {
				synctest.Test(t, func(t *testing.T) { deliver(t, true, act, f, dieAt) })
			}
		}
	}
}

// deliver runs one delivery with a death at a moment (0 = none) and a restart after it; it reports whether it died.
func deliver(t *testing.T, bot bool, act alert.Act, f fault, dieAt int) bool {
	s := slacktest.New(testToken)
	c := channel(t, s, options(t, s, bot))
	rows := map[string]alert.Notice{}
	if act != alert.ActOpen {
		rows = announced(t, c)
	}
	c = refusing(t, s, options(t, s, bot), f)
	s.Fail(method(bot, act), f.slack)
	before := len(s.Calls())

	n := notice(act)
	n.Revision, n.State, n.Created, n.Message.Incident = 2, alert.NoticePending, time.Now(), "7f3k"
	rows[key(n)] = n
	first := live(t, c, rows, dieAt)
	row := first.rows[key(n)]
	synctest.Wait() // the server may still be busy with a call that was cut
	old := len(s.Calls()) - before
	second := live(t, channel(t, s, options(t, s, bot)), first.rows, 0)
	refused := f.block || f.slack.Error == "invalid_blocks" && act == alert.ActThread // which has no blocks to leave out
	if refused && second.rows[key(n)].State == alert.NoticeBlocked {                  // the fault was still to come: one more start
		second = live(t, channel(t, s, options(t, s, bot)), second.rows, 0)
	}

	name := fmt.Sprintf("death at moment %d of %d", dieAt, first.moments)
	if end := second.rows[key(n)]; end.State != alert.NoticeSent || end.Sending {
		t.Errorf("%s: it ends as %+v", name, end)
	}
	calls := s.Calls()[before:]
	lost := f.lost
	if first.dead && row.Sending {
		lost++
	}
	if got := taken(calls, act); got < 1 || got > 1+lost {
		t.Errorf("%s: taken %d times with %d answers lost", name, got, lost)
	}
	for _, call := range calls[old:] {
		switch {
		case row.State == alert.NoticeSent:
			t.Errorf("%s: sent again although its receipt is stored: %s at %v", name, call.Method, call.At)
		case row.State == alert.NoticePending && call.At.Before(row.NotBefore):
			t.Errorf("%s: sent at %v although it must wait until %v", name, call.At, row.NotBefore)
		}
	}
	if bot && act == alert.ActResolve && !strings.HasPrefix(s.Message("1700000000.000001"), ":large_green_circle: RESOLVED") {
		t.Errorf("%s: the opening reads %q", name, s.Message("1700000000.000001"))
	}
	return first.dead
}

func options(t *testing.T, s *slacktest.Server, bot bool) Options {
	if bot {
		return Options{BotToken: secretOf(t, testToken), Channel: "#alerts", Mention: "@here"}
	}
	return Options{WebhookURL: secretOf(t, s.WebhookURL())}
}

// refusing returns a channel whose first connections are refused, or which speaks TLS to a server that does not.
func refusing(t *testing.T, s *slacktest.Server, o Options, f fault) *Channel {
	t.Helper()
	times := f.dials
	switch {
	case f.tls:
		o.APIURL, times = strings.Replace(s.APIURL(), "http:", "https:", 1), 0
		if !o.WebhookURL.IsZero() {
			o.WebhookURL = secretOf(t, strings.Replace(s.WebhookURL(), "http:", "https:", 1))
		}
	case times == 0:
		return channel(t, s, o)
	default:
		o.APIURL = s.APIURL()
	}
	c, err := New(o, WithDial(func(ctx context.Context, network, addr string) (net.Conn, error) {
		if times--; times >= 0 {
			return nil, errors.New("connection refused")
		}
		return s.Dial(ctx, network, addr)
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.CloseIdleConnections)
	return c
}

// method is the first call of an act.
func method(bot bool, act alert.Act) string {
	switch {
	case !bot:
		return slacktest.Webhook
	case act == alert.ActUpdate || act == alert.ActResolve:
		return slacktest.Update
	}
	return slacktest.Post
}

// announced sends an opening and returns the journal with its receipt.
func announced(t *testing.T, c *Channel) map[string]alert.Notice {
	t.Helper()
	n := notice(alert.ActOpen)
	r, err := c.Send(t.Context(), n, alert.Receipt{})
	if err != nil {
		t.Fatal(err)
	}
	n.Revision, n.State, n.Receipt = 1, alert.NoticeSent, r
	return map[string]alert.Notice{key(n): n}
}

// live runs an outbox over rows for ten minutes or until its death.
func live(t *testing.T, c *Channel, rows map[string]alert.Notice, dieAt int) *life {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	l := &life{Channel: c, rows: maps.Clone(rows), dieAt: dieAt, kill: cancel}
	box := outbox.New(outbox.Options{Journal: l, Channels: []alert.Channel{l}})
	var notices []alert.Notice
	for _, n := range rows {
		notices = append(notices, n)
	}
	box.Restore(notices)
	box.Run(ctx)
	return l
}

// taken counts how often Slack took what an act says: edits are the same however often, so it is the new messages that
// count, and for an update the edits.
func taken(calls []slacktest.Call, act alert.Act) int {
	n := 0
	for _, c := range calls {
		if c.Taken && (c.Method != slacktest.Update || act == alert.ActUpdate) {
			n++
		}
	}
	return n
}
