package main

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"serin/alert"
	"serin/baseline/store"
)

// plant writes a small past into a new store: in November 2026 two incidents that are over, one of October that lasts into
// it, one that nobody was told of, and an open one with a message that is owed.
func plant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: plant STORE")
	}
	st, err := store.Open(context.Background(), ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	day := func(d, hour int) time.Time { return time.Date(2026, 11, d, hour, 0, 0, 0, time.UTC) }
	c := alert.Change{Judged: alert.Judged{Alerts: []alert.Alert{{ID: "a1", Series: "gw/chat/short", Kind: alert.KindTTFT, State: alert.StateOK, Severity: alert.Critical, Since: day(3, 10),
		Resolved: day(3, 10), FirstBreach: day(3, 7), Fired: day(3, 8), Reason: "calm again"}},
		Transitions: []alert.Transition{
			{At: day(3, 6), Series: "gw/chat/short", Kind: alert.KindTTFT, From: alert.StateLearning, To: alert.StateOK, Reason: "learned"},
			{At: day(3, 7), Series: "gw/chat/short", Kind: alert.KindTTFT, From: alert.StateOK, To: alert.StatePending, Reason: "1 of 5 slow"},
			{At: day(3, 7), Series: "gw/chat/short", Kind: alert.KindTPOT, From: alert.StateOK, To: alert.StatePending, Reason: "another kind"},
			{At: day(3, 8), Series: "gw/chat/short", Kind: alert.KindTTFT, From: alert.StatePending, To: alert.StateFiring, Reason: "4 of 5 slow", Alert: "a1"}}}, Told: alert.Told{Incidents: []alert.Incident{
		{ID: "oct1", Scope: "gw", Severity: alert.Critical, State: alert.IncidentClosed, Opened: day(0, 22), Closed: day(1, 2), Revision: 2},
		{ID: "aaaa", Scope: "gw", Severity: alert.Critical, State: alert.IncidentClosed, Opened: day(3, 8), Closed: day(3, 10), Revision: 2, Members: []alert.Member{{Alert: "a1", Target: "gw", Announced: true}}},
		{ID: "bbbb", Scope: "us", Severity: alert.Warning, State: alert.IncidentClosed, Opened: day(4, 8), Closed: day(4, 9), Revision: 2},
		{ID: "mute", Scope: "us", Severity: alert.Warning, State: alert.IncidentClosed, Opened: day(5, 8), Closed: day(5, 9)},
		{ID: "cccc", Scope: "eu", Severity: alert.Warning, State: alert.IncidentOpen, Opened: day(30, 23), Revision: 1, Acked: "kim"}},
		Notices: []alert.Notice{
			{Incident: "aaaa", Channel: "slack", Revision: 1, Act: alert.ActOpen, State: alert.NoticeSent, Created: day(3, 8), Sent: day(3, 8), Message: alert.Message{Headline: "gw is slow"}},
			{Incident: "aaaa", Channel: "slack", Revision: 2, Act: alert.ActResolve, State: alert.NoticeSent, Created: day(3, 10), Sent: day(3, 10), Message: alert.Message{Headline: "gw is well"}},
			{Incident: "cccc", Channel: "slack", Revision: 1, Act: alert.ActOpen, State: alert.NoticeBlocked, Created: day(30, 23), Attempts: 3, Error: "channel_not_found", Message: alert.Message{Headline: "eu is slow"}}},
		Marks: []alert.Mark{{ID: "m1", At: day(3, 6).Add(30 * time.Minute), Text: "vllm 0.13", Targets: []string{"g*"}, By: "ci"}, {ID: "m2", At: day(3, 5), Text: "too early", By: "ci"},
			{ID: "m3", At: day(3, 9), Text: "elsewhere", Targets: []string{"eu"}, By: "ci"}}}}
	ts.Check(st.Commit(context.Background(), c))
	ts.Check(st.Close())
}
