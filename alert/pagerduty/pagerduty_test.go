package pagerduty

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
	"serin/probe/secret"
)

const key = "R0UT1NGK3Y0123456789abcdef012345"

var at = time.Date(2026, 3, 1, 6, 21, 0, 0, time.UTC)

// service answers with a status and keeps the events.
func service(t *testing.T, status int) (*Channel, *[]string) {
	t.Helper()
	var events []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v2/enqueue" {
			t.Errorf("%s: %v", r.URL, err)
		}
		events = append(events, string(body))
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":"invalid event","message":"no","errors":["key ` + key + ` is bad"]}`))
	}))
	t.Cleanup(srv.Close)
	s, err := secret.FromValue("test", key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Name: "pager", RoutingKey: s, APIURL: srv.URL + "/v2/enqueue"})
	if err != nil {
		t.Fatal(err)
	}
	c.now = func() time.Time { return at }
	return c, &events
}

func notice(act alert.Act, acked string) alert.Notice {
	return alert.Notice{Incident: "7f3k", Channel: "pager", Act: act, Created: at,
		Message: alert.Message{Severity: alert.Critical, Headline: "gw-eu: TTFT\n8.4 s", Lines: []alert.Line{{Text: "4 of 5"}}, Link: "https://serin.example/i/7f3k",
			Runbook: "https://wiki.example/ttft", Footer: []string{"incident 7f3k", "probed from serin-1"}},
		Facts: alert.Facts{Incident: alert.Incident{ID: "7f3k", Scope: "gw-eu", Acked: acked},
			Alerts: []alert.Fact{{Alert: alert.Alert{Kind: alert.KindTTFT}, Target: "gw-eu", Scene: "chat"}}}}
}

func TestEvents(t *testing.T) {
	c, events := service(t, 202)
	f := func(n alert.Notice, want string) {
		t.Helper()
		*events = nil
		if _, err := c.Send(t.Context(), n, alert.Receipt{}); err != nil {
			t.Fatal(err)
		}
		var got, expect any
		if err := errors.Join(json.Unmarshal([]byte((*events)[0]), &got), json.Unmarshal([]byte(want), &expect)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expect, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", n.Act, diff)
		}
	}
	f(notice(alert.ActOpen, ""), `{"routing_key":"`+key+`","event_action":"trigger","dedup_key":"serin-7f3k","client":"serin","client_url":"https://serin.example/i/7f3k",
		"links":[{"href":"https://serin.example/i/7f3k","text":"Incident"},{"href":"https://wiki.example/ttft","text":"Runbook"}],
		"payload":{"summary":"gw-eu: TTFT 8.4 s","source":"gw-eu","severity":"critical","timestamp":"2026-03-01T06:21:00Z","component":"chat","group":"gw-eu","class":"ttft",
		"custom_details":{"incident":"7f3k","lines":["4 of 5"],"footer":"incident 7f3k · probed from serin-1"}}}`)
	f(notice(alert.ActUpdate, "ann"), `{"routing_key":"`+key+`","event_action":"acknowledge","dedup_key":"serin-7f3k"}`)
	f(notice(alert.ActThread, "ann"), `{"routing_key":"`+key+`","event_action":"acknowledge","dedup_key":"serin-7f3k"}`)
	f(notice(alert.ActResolve, "ann"), `{"routing_key":"`+key+`","event_action":"resolve","dedup_key":"serin-7f3k"}`)

	own := alert.Notice{Incident: "store-1", Act: alert.ActOpen, Created: at, Message: alert.Message{Severity: alert.Warning, Headline: strings.Repeat("长", 2000)}}
	*events = nil
	if _, err := c.Send(t.Context(), own, alert.Receipt{}); err != nil {
		t.Fatal(err)
	}
	var e event
	if err := json.Unmarshal([]byte((*events)[0]), &e); err != nil || e.Payload.Source != "serin" || e.Payload.Severity != "warning" || len([]rune(e.Payload.Summary)) != maxSummary {
		t.Errorf("own health: %+v %v", e, err)
	}
}

func TestSkips(t *testing.T) {
	c, _ := service(t, 202)
	for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActResolve, alert.ActTest} {
		if c.Skips(notice(act, "")) {
			t.Errorf("skips %s", act)
		}
	}
	if !c.Skips(notice(alert.ActThread, "")) || c.Skips(notice(alert.ActThread, "ann")) {
		t.Error("of thread lines, it wants that of an acknowledgement alone")
	}
}

func TestRefusals(t *testing.T) {
	f := func(status int, retryable, limited bool) {
		t.Helper()
		c, _ := service(t, status)
		_, err := c.Send(t.Context(), notice(alert.ActOpen, ""), alert.Receipt{})
		e, ok := errors.AsType[*alert.SendError](err)
		if !ok || e.Retryable != retryable || e.Limited != limited || strings.Contains(err.Error(), key) {
			t.Errorf("%d: %+v", status, err)
		}
		if status == 400 && !strings.Contains(e.Fix, "routing key") {
			t.Errorf("fix %q", e.Fix)
		}
	}
	f(400, false, false)
	f(403, false, false)
	f(429, true, true)
	f(500, true, false)
}

func TestTest(t *testing.T) {
	c, events := service(t, 202)
	found, err := c.Test(t.Context(), alert.Message{Severity: alert.Info, State: alert.MessageTest})
	if err != nil || len(found) != 1 || !found[0].OK || len(*events) != 2 {
		t.Fatalf("%+v %v %q", found, err, *events)
	}
	var first, second event
	if err := errors.Join(json.Unmarshal([]byte((*events)[0]), &first), json.Unmarshal([]byte((*events)[1]), &second)); err != nil {
		t.Fatal(err)
	}
	if first.Action != "trigger" || first.Payload.Severity != "info" || second.Action != "resolve" || first.DedupKey != second.DedupKey {
		t.Errorf("%+v, %+v: a test must page nobody", first, second)
	}
}

func TestNewRefuses(t *testing.T) {
	s, err := secret.FromValue("test", key)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{RoutingKey: s}, {Name: "x"}, {Name: "x", RoutingKey: s, APIURL: "events"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
