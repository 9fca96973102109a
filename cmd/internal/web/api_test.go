package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/baseline/level"
	"serin/probe"
)

func TestLists(t *testing.T) {
	f := func(target string, want ...string) {
		t.Helper()
		src := &fake{samples: someSamples(), alerts: someAlerts()}
		got := visit(t, src.options(), target)
		var items []map[string]any
		if err := json.Unmarshal([]byte(got.body), &items); err != nil || got.status != http.StatusOK {
			t.Errorf("%s: status %d, %v: %s", target, got.status, err, got.body)
			return
		}
		if len(items) != len(want) {
			t.Errorf("%s: got %d elements, want %d: %s", target, len(items), len(want), got.body)
			return
		}
		for i, w := range want {
			line, _ := json.Marshal(items[i])
			if !strings.Contains(string(line), w) {
				t.Errorf("%s: element %d is %s, want %s in it", target, i, line, w)
			}
		}
	}
	f("/api/v1/samples", `"ttft_ms":312.4`, `"outcome":"timeout_stall"`, `"scene":"batch"`)
	f("/api/v1/samples?canary=gw-eu/*", `"chat"`, `"batch"`)
	f("/api/v1/samples?canary=gw-eu/*&limit=1", `"chat"`)
	f("/api/v1/samples?canary=nobody")
	f("/api/v1/bands?canary=gw-us", `"mean":0.5`)
	f("/api/v1/alerts", `"a1"`, `"a2"`)
	f("/api/v1/incidents?canary=gw-us/chat/short", `"8a2b"`)
	f("/api/v1/incidents?canary=gw-cn", `"8a2b"`)
}

// TestNewestFirst gives the elements in every order of three.
func TestNewestFirst(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	l := listing[probe.Sample]{key: (*probe.Sample).Key, at: func(p *probe.Sample) time.Time { return p.Time },
		overlap: func(p *probe.Sample) (time.Time, time.Time) { return p.Time, p.Time }}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		f := func(limit int, want ...string) {
			t.Helper()
			var items []probe.Sample
			for _, i := range order {
				items = append(items, probe.Sample{Time: at.Add(time.Duration(i) * time.Minute), Target: string(rune('a' + i))})
			}
			list, err := l.newest(Query{Since: at, Until: at.Add(time.Hour), Limit: limit}, list(&fake{}, items))
			var got []string
			for _, v := range list {
				got = append(got, v.Target)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("order %v, limit %d: got %v (%v), want %v", order, limit, got, err, want)
			}
		}
		f(1, "c")
		f(2, "c", "b")
		f(5, "c", "b", "a")
	}
}

// TestWindows wants all points of a long range, once each, and few windows for few points.
func TestWindows(t *testing.T) {
	src := &fake{}
	now := time.Now()
	for i := range 500 {
		src.samples = append(src.samples, probe.Sample{Time: now.Add(-time.Duration(i+1) * time.Hour), Target: strconv.Itoa(i)})
	}
	f := func(limit, want int, windows int64) {
		t.Helper()
		src.windows.Store(0)
		var items []probe.Sample
		got := visit(t, src.options(), "/api/v1/samples?since=480h&limit="+strconv.Itoa(limit))
		if err := json.Unmarshal([]byte(got.body), &items); err != nil {
			t.Fatalf("%v: %s", err, got.body)
		}
		if len(items) != want || src.windows.Load() != windows {
			t.Errorf("limit %d: got %d samples in %d windows, want %d in %d", limit, len(items), src.windows.Load(), want, windows)
		}
		for i, s := range items {
			if s.Target != strconv.Itoa(i) {
				t.Errorf("limit %d: element %d is sample %s", limit, i, s.Target)
				return
			}
		}
	}
	f(1, 1, 2) // 1 h ago is just outside of the first hour: time went on
	f(5, 5, 3) // 1 h, 2 h, 4 h
	f(1000, 479, 9)
}

func TestRangeOfLists(t *testing.T) {
	now := time.Now()
	src := &fake{samples: []probe.Sample{
		{Time: now.Add(-time.Hour), Target: "inside"}, {Time: now.Add(-3 * time.Hour), Target: "before"}, {Time: now.Add(time.Hour), Target: "after"}},
		alerts: []alert.Alert{
			{Series: "open-since-long", FirstBreach: now.Add(-1000 * time.Hour), Since: now.Add(-999 * time.Hour)},
			{Series: "over", FirstBreach: now.Add(-5 * time.Hour), Since: now.Add(-4 * time.Hour), Resolved: now.Add(-4 * time.Hour)},
			{Series: "just-over", Since: now.Add(-time.Hour), Resolved: now.Add(-time.Hour)}}}
	f := func(target string, in, out []string) {
		t.Helper()
		body := visit(t, src.options(), target).body
		for _, w := range in {
			if !strings.Contains(body, `"`+w+`"`) {
				t.Errorf("%s: %s is missing in %s", target, w, body)
			}
		}
		for _, w := range out {
			if strings.Contains(body, `"`+w+`"`) {
				t.Errorf("%s: %s is in %s", target, w, body)
			}
		}
	}
	f("/api/v1/samples?since=2h", []string{"inside"}, []string{"before", "after"})
	f("/api/v1/alerts?since=2h", []string{"open-since-long", "just-over"}, []string{"over"})
	f("/api/v1/alerts?since=8d&until=7d", []string{"open-since-long"}, []string{"just-over", "over"})
}

func TestErrorOfASource(t *testing.T) {
	src := &fake{samples: someSamples(), failAfter: 2}
	got := visit(t, src.options(), "/api/v1/samples")
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "sk-secret") || !strings.Contains(got.body, "***") {
		t.Errorf("got %d %s, want 500 with the secret hidden", got.status, got.body)
	}
}

func TestErrorInsideAListCutsIt(t *testing.T) {
	src := &fake{}
	for range 3000 { // more than one buffer
		src.samples = append(src.samples, someSamples()[0])
	}
	src.samples[0].CostUSD = probe.Some(math.NaN()) // the oldest comes last; JSON has no NaN
	s := start(t, src.options())
	resp, err := http.Get("http://" + s.Addr().String() + "/api/v1/samples?limit=3000&since=2026-01-01T00:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil || json.Valid(body) || len(body) == 0 {
		t.Errorf("got %d bytes and %v, want a cut answer", len(body), err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSlowAndBusyLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&fake{}).options()
		o.Measurements = stuck{}
		s := New(o)
		ask := func() *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			s.samples(rec, httptest.NewRequest(http.MethodGet, "/api/v1/samples", nil))
			return rec
		}
		begun := time.Now()
		var reading sync.WaitGroup
		for range listsAtOnce {
			reading.Go(func() {
				if rec := ask(); rec.Code != http.StatusServiceUnavailable || !strings.Contains(rec.Body.String(), "ask for less") || time.Since(begun) != listWithin {
					t.Errorf("slow list: %d %s after %v", rec.Code, rec.Body, time.Since(begun))
				}
			})
		}
		synctest.Wait()
		if rec := ask(); rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" || time.Since(begun) != listPatience {
			t.Errorf("one list too many: %d %s after %v", rec.Code, rec.Body, time.Since(begun))
		}
		reading.Wait()
	})
}

func TestRefusalsAreJSON(t *testing.T) {
	f := func(target string, status int, want string) {
		t.Helper()
		got := visit(t, (&fake{}).options(), target)
		var e struct{ Error string }
		if err := json.Unmarshal([]byte(got.body), &e); err != nil || got.status != status || !strings.Contains(e.Error, want) {
			t.Errorf("%s: got %d %s, want %d with %q", target, got.status, got.body, status, want)
		}
		if ct := got.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("%s: content type %q", target, ct)
		}
	}
	f("/api/v1/samples?since=soon", 400, "RFC 3339")
	f("/api/v1/bands?limit=0", 400, "limit")
	f("/api/v1/alerts?x=1", 400, "unknown parameter")
	f("/api/v1/incidents?canary=[", 400, "close the [")
	f("/api/v1/status?since=1h", 400, "there are none here")
	f("/api/v1/incidents/7f3k?x=1", 400, "unknown parameter")
	f("/api/v1/incidents/none", 404, "no incident none")
	f("/api/v1/incidents/broken", 500, "***")
	f("/api/v2/samples", 404, "/api/v1/samples")
}

func TestIncidentExplains(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 5, 0, 0, time.UTC)
	src := &fake{incidents: map[string]Dossier{"7f3k": {
		Incident: alert.Incident{ID: "7f3k", Scope: "gw-eu"},
		Alerts: []alert.Alert{{Series: "gw-eu/chat/short", Kind: alert.KindTTFT, State: alert.StateFiring, Severity: alert.Warning, Since: at,
			Worst: alert.Evidence{At: at, Value: 0.812, Mean: 0.412, Limit: 0.54, Ratio: 1.97, Z: 4.1, RequestID: "req-1"},
			Votes: []alert.Vote{
				{Verdict: baseline.Ruling{Call: baseline.Breach, Value: 0.812}},
				{Outcome: probe.TimeoutStall},
				{Verdict: baseline.Ruling{Call: baseline.NotJudged, Why: "learning"}}}},
			{Series: "gw-eu", Kind: alert.KindTTFT, State: alert.StateFiring, Severity: alert.Warning, Since: at,
				Fit:   &alert.Fit{Score: 12.4, Of: 6, Fires: 9, Votes: 4, Checks: 12, Ratio: 1.62, Before: 1.03, Hours: 1.02, Reach: 1.15, LevelModel: level.Model{.0034}},
				Worst: alert.Evidence{At: at, Ratio: 1.6, Z: 3, Canaries: 3, Outcome: probe.OK},
				Votes: []alert.Vote{{Verdict: baseline.Ruling{Call: baseline.Neither, Ratio: 1.2}}}}},
		Transitions: []alert.Transition{{At: at, Series: "gw-eu/chat/short", Kind: alert.KindTTFT, From: alert.StatePending, To: alert.StateFiring, Reason: "4 of 5"}},
		Notices:     []alert.Notice{{Channel: "slack", Act: alert.ActOpen, State: alert.NoticeSent, Created: at, Sent: at.Add(time.Second), Error: ""}},
	}}}
	got := visit(t, src.options(), "/api/v1/incidents/7f3k")
	var e struct {
		Explanation []string
		Transitions []map[string]any
	}
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	want := []string{
		"gw-eu/chat/short ttft is firing (warning) since 2026-03-01T08:05:00Z",
		"  worst: 2026-03-01T08:05:00Z, 812ms, usual is 412ms (1.97 times, z 4.1), limit 540ms, request req-1",
		"  votes, newest last: 812ms breach, timeout_stall, not judged (learning)",
		"gw-eu ttft is firing (warning) since 2026-03-01T08:05:00Z",
		"  worst: 2026-03-01T08:05:00Z, 1.60 times of usual, the median of 3 canaries, ok",
		"  fired by: score 12.4, more than 9 fires: the newest 4 fit a step up to ×1.62 of usual",
		"  votes, newest last: ×1.20 of usual neither",
		"2026-03-01T08:05:00Z  gw-eu/chat/short ttft: pending → firing: 4 of 5",
		"2026-03-01T08:05:00Z  open on slack: sent at 2026-03-01T08:05:01Z",
	}
	if strings.Join(e.Explanation, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(e.Explanation, "\n"), strings.Join(want, "\n"))
	}
	if len(e.Transitions) != 1 || e.Transitions[0]["from"] != "pending" || e.Transitions[0]["to"] != "firing" {
		t.Errorf("transitions: %v", e.Transitions)
	}
}

func TestHistory(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	row := func(i int, series string, k alert.Kind) alert.Transition {
		return alert.Transition{At: at.Add(time.Duration(i) * time.Minute), Series: series, Kind: k, From: alert.StateOK, To: alert.StatePending, Reason: fmt.Sprint("row ", i)}
	}
	spike := row(4, "gw-us/chat/long", alert.KindTTFT)
	spike.Event, spike.To = alert.EventSpike, alert.StateOK
	src := &fake{incidents: map[string]Dossier{
		"aaaa": {Transitions: []alert.Transition{row(1, "gw-eu/chat/short", alert.KindTTFT), row(2, "gw-eu/chat/short", alert.KindError)}},
		"bbbb": {Transitions: []alert.Transition{row(3, "gw-us/chat/long", alert.KindTTFT), spike}}}}
	f := func(query, want string) {
		t.Helper()
		got := visit(t, src.options(), "/api/v1/alerts/history"+query)
		var rows []struct{ Reason, Event string }
		if err := json.Unmarshal([]byte(got.body), &rows); err != nil {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: %s, want %q", query, got.body, want)
			}
			return
		}
		var list []string
		for _, r := range rows {
			list = append(list, strings.TrimSpace(r.Reason+" "+r.Event))
		}
		if text := strings.Join(list, ", "); text != want {
			t.Errorf("%s: %q, want %q", query, text, want)
		}
	}
	f("", "row 4 spike, row 3, row 2, row 1")
	f("?kind=ttft", "row 4 spike, row 3, row 1")
	f("?kind=ttft&canary=gw-eu", "row 1")
	f("?incident=aaaa&limit=1", "row 2")
	f("?since=50m", "")
	f("?kind=ttft&kind=error", "given 2 times")
	f("?state=firing", `unknown parameter`)
}

func TestEmptyIncidentHasLists(t *testing.T) {
	src := &fake{incidents: map[string]Dossier{"7f3k": {Incident: alert.Incident{Members: []alert.Member{}}}}}
	if got := visit(t, src.options(), "/api/v1/incidents/7f3k"); strings.Contains(got.body, "null") {
		t.Errorf("got %s, want empty lists", got.body)
	}
}

func TestPages(t *testing.T) {
	src := &fake{}
	f := func(target string, status int, contentType, want string) {
		t.Helper()
		got := visit(t, src.options(), target)
		if got.status != status || !strings.HasPrefix(got.header.Get("Content-Type"), contentType) || !strings.Contains(got.body, want) {
			t.Errorf("%s: got %d %q %s, want %d %q with %q", target, got.status, got.header.Get("Content-Type"), got.body, status, contentType, want)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") != "no-store" ||
			!strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers %v", target, got.header)
		}
	}
	f("/", 200, "text/plain", "POST /-/reload")
	f("/metrics", 200, "text/plain; version=0.0.4", "serin_build_info 1\n")
	f("/healthz", 200, "text/plain", "ok")
	f("/readyz", 200, "text/plain", "ok")
	f("/api/v1/status", 200, "application/json", `"version":"1.0"`)
	f("/nothing", 404, "text/plain", "")
	src.alive = errors.New("the scheduler has not turned for 61 s with sk-secret")
	f("/healthz", 503, "text/plain", "has not turned for 61 s with ***")
	f("/readyz", 200, "text/plain", "ok")
}
