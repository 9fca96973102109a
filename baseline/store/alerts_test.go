package store

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

func at(minutes int) time.Time { return t0.Add(time.Duration(minutes) * time.Minute) }

// trouble is a small past: a closed incident, an open one with a resolved and a firing alert, notices in every state.
func trouble() alert.Change {
	told := func(incident string, revision int, act alert.Act, state alert.NoticeState) alert.Notice {
		n := notice(incident, revision)
		n.Act, n.State, n.Created = act, state, at(revision)
		return n
	}
	return alert.Change{Judged: alert.Judged{Alerts: []alert.Alert{
		{ID: "old", Series: "gw-eu/chat/short", Kind: alert.KindTTFT, State: alert.StateOK, Since: at(0), Resolved: at(1)},
		{ID: "settled", Series: "gw-eu/chat/short", Kind: alert.KindTPOT, State: alert.StateOK, Since: at(2), Resolved: at(3)},
		{ID: "firing", Series: "gw-us/chat/short", Kind: alert.KindTTFT, State: alert.StateFiring, Severity: alert.Warning, Since: at(4),
			Fired: at(4), Votes: []alert.Vote{{At: at(3), Verdict: baseline.Ruling{Call: baseline.Breach, Value: 1.5}}},
			Last: alert.Evidence{At: at(4), Value: 1.5, Ratio: 3, RequestID: "req_1"}},
		{ID: "pending", Series: "gw-eu/chat/long", Kind: alert.KindTimeout, State: alert.StatePending, Since: at(5)}},
		Transitions: []alert.Transition{
			{At: at(4), Series: "gw-us/chat/short", Kind: alert.KindTTFT, From: alert.StatePending, To: alert.StateFiring, Reason: "4 of 5", Alert: "firing"},
			{At: at(5), Series: "gw-eu/chat/long", Kind: alert.KindTimeout, From: alert.StateOK, To: alert.StatePending, Alert: "pending"}},
		Blobs: []alert.Blob{{Key: "state", Body: json.RawMessage(`{"a":1}`)}, {Key: "gone", Body: json.RawMessage(`1`)}},
		Bands: []baseline.Band{
			{Canary: "gw-eu/chat/short", Metric: probe.TTFT, Slot: at(0), Spec: "3f", State: "ready", N: 42, Mean: .31, Limit: .4, Threshold: "t1", LeftOut: map[string]int{"spec": 3}},
			{Canary: "gw-eu/chat/short", Metric: probe.TTFT, Slot: at(30), Threshold: "t1"},
			{Canary: "gw-eu/chat/short", Metric: probe.TPOT, Slot: at(0), Threshold: "t1"}}}, Told: alert.Told{Incidents: []alert.Incident{
		{ID: "closed", Scope: "gw-eu", State: "closed", Opened: at(0), Closed: at(1), Members: []alert.Member{{Alert: "old", Target: "gw-eu"}}, Revision: 2},
		{ID: "open", Scope: "gw-us", State: "open", Opened: at(2), Members: []alert.Member{{Alert: "settled", Target: "gw-eu"}, {Alert: "firing", Target: "gw-us"}}, Revision: 1}},
		Notices: []alert.Notice{
			told("closed", 1, alert.ActOpen, alert.NoticeSent), told("closed", 2, alert.ActResolve, alert.NoticePending),
			told("open", 3, alert.ActOpen, alert.NoticeSent), told("open", 4, alert.ActUpdate, alert.NoticeSent),
			told("open", 5, alert.ActUpdate, alert.NoticeBlocked), told("open", 6, alert.ActThread, alert.NoticeDropped)},
		Silences: []alert.Silence{silence("s1", at(0), at(60))},
		Marks:    []alert.Mark{mark("m1", at(1), "gw-*")}}}
}

func TestRestore(t *testing.T) {
	s := openTemp(t)
	c := trouble()
	commit(t, s, c)
	commit(t, s, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "gone"}}}, Told: alert.Told{Notices: c.Notices[:1]}})
	got := must[alert.Snapshot](t)(s.Restore(t.Context()))
	want := alert.Snapshot{Alerts: []alert.Alert{c.Alerts[2], c.Alerts[3]}, Settled: c.Alerts[:2], Incidents: c.Incidents,
		Notices: []alert.Notice{c.Notices[0], c.Notices[1], c.Notices[2], c.Notices[4]}, Blobs: c.Blobs[:1],
		Silences: c.Silences, Marks: c.Marks}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

// A start finds the openings that what is still owed refers to, also of an incident that closed with its resolve unsent and of one
// whose opening was dropped, and those of the incidents that may be reopened.
func TestRestoreFindsOpenings(t *testing.T) {
	s := openTemp(t)
	notice := func(incident string, revision int, act alert.Act, state alert.NoticeState) alert.Notice {
		return alert.Notice{Incident: incident, Channel: "slack", Revision: revision, Act: act, State: state, Created: at(revision)}
	}
	owed := []alert.Notice{
		notice("closed", 1, alert.ActOpen, alert.NoticeSent), notice("recent", 1, alert.ActOpen, alert.NoticeSent), notice("unsaid", 1, alert.ActOpen, alert.NoticeDropped),
		notice("closed", 2, alert.ActResolve, alert.NoticePending), notice("unsaid", 2, alert.ActResolve, alert.NoticeBlocked)}
	done := []alert.Notice{notice("done", 1, alert.ActOpen, alert.NoticeSent), notice("done", 2, alert.ActResolve, alert.NoticeSent)}
	commit(t, s, alert.Change{Told: alert.Told{Notices: append(done, owed...), Incidents: []alert.Incident{{ID: "recent", State: alert.IncidentClosed, Closed: at(3)}}}})
	if diff := cmp.Diff(owed, must[alert.Snapshot](t)(s.Restore(t.Context())).Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

// The opening of an incident that closed within a day of the last change is found, because the incident may fire again.
func TestRestoreFindsOpeningsOfRecentIncidents(t *testing.T) {
	s := openTemp(t)
	const day = 24 * 60
	closed := func(id string, minute int) alert.Incident {
		return alert.Incident{ID: id, State: "closed", Opened: at(minute - 1), Closed: at(minute)}
	}
	opening := func(id string) alert.Notice {
		return alert.Notice{Incident: id, Channel: "slack", Revision: 1, Act: alert.ActOpen, State: alert.NoticeSent, Created: at(0)}
	}
	commit(t, s, alert.Change{Told: alert.Told{Incidents: []alert.Incident{closed("old", 1), closed("recent", 3), closed("last", day+2)},
		Notices: []alert.Notice{opening("last"), opening("old"), opening("recent")}}})
	want := []alert.Notice{opening("last"), opening("recent")}
	if diff := cmp.Diff(want, must[alert.Snapshot](t)(s.Restore(t.Context())).Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestRestoreOfNothing(t *testing.T) {
	if diff := cmp.Diff(alert.Snapshot{}, must[alert.Snapshot](t)(openTemp(t).Restore(t.Context())), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestQueries(t *testing.T) {
	s := openTemp(t)
	c := trouble()
	commit(t, s, c)
	ctx := t.Context()
	f := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	a, i, n, x, b := must[[]alert.Alert](t), must[[]alert.Incident](t), must[[]alert.Notice](t), must[[]alert.Transition](t), must[[]baseline.Band](t)
	f("all alerts", c.Alerts, a(s.Alerts(ctx, AlertQuery{})))
	f("one alert", c.Alerts[2:3], a(s.Alerts(ctx, AlertQuery{ID: "firing"})))
	f("alerts of a series", c.Alerts[:2], a(s.Alerts(ctx, AlertQuery{Series: "gw-eu/chat/short"})))
	f("alerts of an incident", c.Alerts[1:3], a(s.Alerts(ctx, AlertQuery{Incident: "open"})))
	f("newest two alerts", c.Alerts[2:], a(s.Alerts(ctx, AlertQuery{Limit: 2})))
	f("alerts in between", c.Alerts[1:2], a(s.Alerts(ctx, AlertQuery{Since: at(2), Until: at(4)})))
	f("open incidents", c.Incidents[1:], i(s.Incidents(ctx, IncidentQuery{Open: true})))
	f("incidents of a scope", c.Incidents[:1], i(s.Incidents(ctx, IncidentQuery{Scope: "gw-eu", Limit: 5})))
	f("no incident", []alert.Incident{}, i(s.Incidents(ctx, IncidentQuery{ID: "none"})))
	f("notices by state", []alert.Notice{c.Notices[1], c.Notices[4]},
		n(s.Notices(ctx, NoticeQuery{States: []alert.NoticeState{alert.NoticePending, alert.NoticeBlocked}})))
	f("newest notice of a channel", c.Notices[5:], n(s.Notices(ctx, NoticeQuery{Channel: "slack", Limit: 1})))
	f("transitions of an alert", c.Transitions[:1], x(s.Transitions(ctx, TransitionQuery{Alert: "firing"})))
	f("transitions since", c.Transitions[1:], x(s.Transitions(ctx, TransitionQuery{Since: at(5)})))
	f("bands of a metric", c.Bands[:2], b(s.Bands(ctx, BandQuery{Canary: "gw-eu/chat/short", Metric: probe.TTFT})))
	f("bands until", []baseline.Band{c.Bands[2], c.Bands[0]}, b(s.Bands(ctx, BandQuery{Until: at(30)})))
}

// The same key again replaces, another revision does not; a transition written twice is one.
func TestUpserts(t *testing.T) {
	s := openTemp(t)
	c := trouble()
	commit(t, s, c)
	c.Alerts[2].State, c.Incidents[1].State, c.Notices[1].State, c.Bands[0].N = alert.StateRecovering, "closed", alert.NoticeSent, 43
	commit(t, s, c)
	a, i := must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{})), must[[]alert.Incident](t)(s.Incidents(t.Context(), IncidentQuery{}))
	n, b := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{})), must[[]baseline.Band](t)(s.Bands(t.Context(), BandQuery{Metric: probe.TTFT}))
	x := must[[]alert.Transition](t)(s.Transitions(t.Context(), TransitionQuery{}))
	if diff := cmp.Diff([]any{c.Alerts, c.Incidents, c.Notices, c.Bands[:2], c.Transitions}, []any{a, i, n, b, x}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
