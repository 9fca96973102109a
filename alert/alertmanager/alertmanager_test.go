package alertmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"serin/alert"
	"serin/probe/secret"
)

var begin = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)

// peer is an Alertmanager that keeps what it was told.
type peer struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	calls  [][]payload
	auth   string
}

func newPeer(t *testing.T) *peer {
	p := &peer{status: 200}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list []payload
		err := json.NewDecoder(r.Body).Decode(&list)
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.URL.Path != "/am/api/v2/alerts" || err != nil {
			t.Errorf("%s %v", r.URL, err)
		}
		p.calls, p.auth = append(p.calls, list), r.Header.Get("Authorization")
		w.WriteHeader(p.status)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *peer) answer(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

// last is the last call, one alert a line: name, labels, and when it ends from begin on.
func (p *peer) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) == 0 {
		return ""
	}
	list := slices.Clone(p.calls[len(p.calls)-1])
	slices.SortFunc(list, func(a, b payload) int {
		return cmp.Or(cmp.Compare(a.Labels["size"], b.Labels["size"]), cmp.Compare(a.Labels["severity"], b.Labels["severity"]), cmp.Compare(a.Labels["alertname"], b.Labels["alertname"]))
	})
	var out []string
	for _, a := range list {
		out = append(out, fmt.Sprintf("%s %s %s until %s", a.Labels["alertname"], a.Labels["size"], a.Labels["severity"], a.EndsAt.Sub(begin)))
	}
	return strings.Join(out, "\n")
}

func (p *peer) want(t *testing.T, what string, lines ...string) {
	t.Helper()
	if got := p.last(); got != strings.Join(lines, "\n") {
		t.Errorf("%s: told\n%s\nwant\n%s", what, got, strings.Join(lines, "\n"))
	}
}

// clock is the channel's time.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func channel(t *testing.T, peers ...*peer) (*Channel, *clock) {
	t.Helper()
	token, err := secret.FromValue("test", "t0ken")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: "am", Labels: map[string]string{"cluster": "eu", "severity": "not mine to set"}, Token: token}
	for _, p := range peers {
		o.URLs = append(o.URLs, p.URL+"/am/")
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	k := &clock{begin}
	c.now = func() time.Time { return k.now }
	return c, k
}

// fact is a firing alert.
func fact(size string, kind alert.Kind, severity alert.Severity) alert.Fact {
	return alert.Fact{Alert: alert.Alert{ID: "gw/chat/" + size + " " + string(kind), Kind: kind, State: alert.StateFiring, Severity: severity, Fired: begin.Add(-time.Minute)},
		Target: "gw", Scene: "chat", Size: size}
}

func notice(act alert.Act, facts ...alert.Fact) alert.Notice {
	return alert.Notice{Incident: "7f3k", Channel: "am", Act: act, Created: begin, Message: alert.Message{Severity: alert.Warning, Headline: "gw is slow <x>",
		Lines: []alert.Line{{Text: "4 of 5"}, {Text: "TPOT normal"}}, Link: "https://serin.example/i/7f3k"},
		Facts: alert.Facts{Incident: alert.Incident{ID: "7f3k", Scope: "gw"}, Instance: "serin-1", Region: "eu-1", Alerts: facts}}
}

func send(t *testing.T, c *Channel, n alert.Notice) {
	t.Helper()
	if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil {
		t.Fatal(err)
	}
}

func refresh(t *testing.T, c *Channel, firing ...alert.Notice) {
	t.Helper()
	if err := c.Refresh(t.Context(), firing); err != nil {
		t.Fatal(err)
	}
}

// TestLife brings an incident from its opening to its end: told at once, every minute at each peer, and over when it is over.
func TestLife(t *testing.T) {
	a, b := newPeer(t), newPeer(t)
	c, k := channel(t, a, b)
	short := fact("short", alert.KindTTFT, alert.Warning)
	send(t, c, notice(alert.ActOpen, short))
	for _, p := range []*peer{a, b} {
		p.want(t, "opening", "SerinSlow short warning until 4m0s")
	}
	labels := a.calls[0][0].Labels
	if fmt.Sprint(labels) != "map[alertname:SerinSlow cluster:eu instance:serin-1 kind:ttft region:eu-1 scene:chat severity:warning size:short target:gw]" {
		t.Errorf("labels %v", labels)
	}
	notes := a.calls[0][0]
	if notes.Annotations["headline"] != "gw is slow <x>" || notes.Annotations["lines"] != "4 of 5\nTPOT normal" || notes.GeneratorURL != "https://serin.example/i/7f3k" ||
		notes.Annotations["incident"] != "7f3k" || !notes.StartsAt.Equal(begin.Add(-time.Minute)) || a.auth != "Bearer t0ken" {
		t.Errorf("%+v, auth %q", notes, a.auth)
	}

	k.pass(time.Minute)
	refresh(t, c, notice(alert.ActUpdate, short))
	b.want(t, "a minute later", "SerinSlow short warning until 5m0s")

	// Another joins, and the first gets worse: to Alertmanager that is another alert, and the old one is over.
	long := fact("long", alert.KindTimeout, alert.Critical)
	short.Alert.Severity = alert.Critical
	k.pass(30 * time.Second)
	send(t, c, notice(alert.ActUpdate, short, long))
	a.want(t, "update", "SerinTimeout long critical until 5m30s", "SerinSlow short critical until 5m30s", "SerinSlow short warning until 1m30s")

	// One of them ends.
	short.Alert.State = alert.StateOK
	k.pass(30 * time.Second)
	refresh(t, c, notice(alert.ActUpdate, short, long))
	a.want(t, "one ended", "SerinTimeout long critical until 6m0s", "SerinSlow short critical until 2m0s", "SerinSlow short warning until 1m30s")

	long.Alert.State = alert.StateOK
	k.pass(time.Minute)
	send(t, c, notice(alert.ActResolve, short, long))
	b.want(t, "resolve", "SerinTimeout long critical until 3m0s", "SerinSlow short critical until 2m0s", "SerinSlow short warning until 1m30s")

	// A list that was made before the end must not light it again.
	long.Alert.State = alert.StateFiring
	refresh(t, c, notice(alert.ActUpdate, long))
	a.want(t, "an old list", "SerinTimeout long critical until 3m0s", "SerinSlow short critical until 2m0s", "SerinSlow short warning until 1m30s")

	k.pass(endedFor + time.Minute)
	calls := len(a.calls)
	refresh(t, c)
	if len(a.calls) != calls {
		t.Errorf("still told of what ended long ago: %s", a.last())
	}
}

// TestInhibited tells nothing of alerts that another one inhibits.
func TestInhibited(t *testing.T) {
	a := newPeer(t)
	c, k := channel(t, a)
	slow, down := fact("short", alert.KindTTFT, alert.Warning), fact("", alert.KindTimeout, alert.Critical)
	down.Scene = ""
	send(t, c, notice(alert.ActOpen, slow))
	slow.Inhibited = "timeouts of gw-eu"
	k.pass(time.Minute)
	send(t, c, notice(alert.ActUpdate, down, slow))
	a.want(t, "inhibited", "SerinTimeout  critical until 5m0s", "SerinSlow short warning until 1m0s")
	if labels := a.calls[1][0].Labels; labels["alertname"] == "SerinTimeout" && labels["scene"] != "" {
		t.Errorf("an empty label is sent: %v", labels)
	}
}

// TestRestart knows nothing of what was told before: the first list says all.
func TestRestart(t *testing.T) {
	a := newPeer(t)
	c, _ := channel(t, a)
	short := fact("short", alert.KindNoData, alert.Warning)
	refresh(t, c, notice(alert.ActUpdate, short))
	a.want(t, "first list", "SerinNoData short warning until 4m0s")
	c, k := channel(t, a)
	k.pass(2 * time.Minute)
	short.Alert.State = alert.StateOK
	send(t, c, notice(alert.ActResolve, short))
	a.want(t, "resolve by another process", "SerinNoData short warning until 2m0s")
}

// TestGone ends an incident that is missing from the list.
func TestGone(t *testing.T) {
	a := newPeer(t)
	c, k := channel(t, a)
	send(t, c, notice(alert.ActOpen, fact("short", alert.KindTPOT, alert.Warning)))
	k.pass(time.Minute)
	refresh(t, c)
	a.want(t, "gone", "SerinSlow short warning until 1m0s")
}

// TestOwnHealth keeps telling what no incident of the engine stands behind, until its own end.
func TestOwnHealth(t *testing.T) {
	a := newPeer(t)
	c, k := channel(t, a)
	n := alert.Notice{Incident: "store-1", Channel: "am", Act: alert.ActOpen, Created: begin, Message: alert.Message{Severity: alert.Warning, Headline: "serin cannot write its store"}}
	send(t, c, n)
	k.pass(3 * time.Minute)
	refresh(t, c)
	a.want(t, "later", "SerinSelf  warning until 7m0s")
	n.Act = alert.ActResolve
	send(t, c, n)
	k.pass(time.Minute)
	refresh(t, c)
	a.want(t, "after its end", "SerinSelf  warning until 3m0s")
}

// TestPeersFail: one peer is enough for a notice; the list names each that was not reached.
func TestPeersFail(t *testing.T) {
	a, b := newPeer(t), newPeer(t)
	c, _ := channel(t, a, b)
	short := fact("short", alert.KindTTFT, alert.Warning)
	a.answer(500)
	send(t, c, notice(alert.ActOpen, short))
	err := c.Refresh(t.Context(), []alert.Notice{notice(alert.ActUpdate, short)})
	host := strings.TrimPrefix(a.URL, "http://")
	if err == nil || !strings.Contains(err.Error(), host+" http 500") || strings.Contains(err.Error(), strings.TrimPrefix(b.URL, "http://")) {
		t.Errorf("refresh: %v", err)
	}
	b.answer(400)
	_, err = c.Send(t.Context(), notice(alert.ActUpdate, short), alert.Receipt{})
	if e, ok := errors.AsType[*alert.SendError](err); !ok || !e.Retryable {
		t.Errorf("one may heal: %+v", err)
	}
	a.answer(400)
	_, err = c.Send(t.Context(), notice(alert.ActUpdate, short), alert.Receipt{})
	if e, ok := errors.AsType[*alert.SendError](err); !ok || e.Retryable || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("both refuse: %+v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Refresh(ctx, nil); err == nil {
		t.Error("a cut round is no error")
	}
}

func TestSkips(t *testing.T) {
	c, _ := channel(t, newPeer(t))
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActResolve, alert.ActTest} {
		if c.Skips(alert.Notice{Act: act}) {
			t.Errorf("skips %s", act)
		}
	}
	if !c.Skips(alert.Notice{Act: alert.ActThread}) {
		t.Error("sends thread lines")
	}
}

func TestTest(t *testing.T) {
	a, b := newPeer(t), newPeer(t)
	c, _ := channel(t, a, b)
	b.answer(401)
	found, err := c.Test(t.Context(), alert.Message{Severity: alert.Info})
	if err != nil || len(found) != 2 || !found[0].OK || found[1].OK || found[1].Fix == "" {
		t.Fatalf("%+v %v", found, err)
	}
	a.want(t, "test", "SerinTest  info until 1m0s")
	if c.known == nil || len(c.known) != 0 {
		t.Error("a test is taken for an alert")
	}
}

func TestEndpoint(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := endpoint(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	f("http://am:9093", "http://am:9093/api/v2/alerts")
	f("http://am:9093/prefix/", "http://am:9093/prefix/api/v2/alerts")
	f("http://am:9093/api/v2/alerts", "http://am:9093/api/v2/alerts")
	f("http://am:9093/api/v2", "http://am:9093/api/v2/alerts")
}

// TestMoreAlertsThanOneNoticeHolds: those that are left out fire on.
func TestMoreAlertsThanOneNoticeHolds(t *testing.T) {
	a := newPeer(t)
	c, k := channel(t, a)
	short, long := fact("short", alert.KindError, alert.Critical), fact("long", alert.KindError, alert.Critical)
	lead := notice(alert.ActOpen, short, long)
	send(t, c, lead)
	a.want(t, "both", "SerinError long critical until 4m0s", "SerinError short critical until 4m0s")
	lead.Act = alert.ActUpdate
	lead.Facts.Alerts, lead.Facts.More = lead.Facts.Alerts[:1], 1 // a notice holds only so many
	send(t, c, lead)
	a.want(t, "not all of them", "SerinError short critical until 4m0s")
	k.pass(time.Minute)
	lead.Facts.Alerts, lead.Facts.More = []alert.Fact{short, long}, 0
	refresh(t, c, lead)
	a.want(t, "all of them", "SerinError long critical until 5m0s", "SerinError short critical until 5m0s")
}
