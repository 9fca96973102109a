package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/baseline/store"
	"serin/cmd/internal/web"
)

// TestOrdersAndLearningOfADay resets a daemon's baselines a minute after its start, and looks at the history and at what
// the log says of learning.
func TestOrdersAndLearningOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rigToml)
		r.llm.Set("m", calm(200*time.Millisecond, 20*time.Millisecond))
		r.history(time.Now(), 200*time.Millisecond, 20*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Hour)
		defer cancel()
		var done []string
		var failed, idle error
		ordered := make(chan struct{})
		order := func(d *Daemon, _ net.Addr) {
			go func() {
				defer close(ordered)
				time.Sleep(time.Minute)
				_, idle = admin{d}.adminCommand(ctx, web.Order{Do: web.OrderAccept, Pattern: "gw", Who: "ann", Why: "because"})
				done, failed = admin{d}.adminCommand(ctx, web.Order{Do: web.OrderReset, Pattern: "gw/chat/short", Who: "ann", Why: "new hardware"})
			}()
		}
		red := &Redaction{}
		if err := Run(ctx, Options{Config: r.cfg, Channels: r.channels, Dial: r.pipe.DialContext, Log: NewLogger(&r.log, "text", NewLevel("info"), red),
			Redact: red, Level: NewLevel("info"), OnStart: order}); err != nil {
			t.Fatal(err)
		}
		<-ordered
		if failed != nil || len(done) == 0 || !strings.HasPrefix(done[0], "gw/chat/short") {
			t.Fatalf("reset: %v, %v", done, failed)
		}
		if idle == nil || !strings.Contains(idle.Error(), "fires") {
			t.Errorf("accept of what does not fire: %v", idle)
		}
		log := r.log.String()
		for _, want := range []string{"3 of 3 canaries judged, 0 learning", "2 of 3 canaries judged, 1 learning"} {
			if strings.Count(log, want) != 1 {
				t.Errorf("%q is said %d times", want, strings.Count(log, want))
			}
		}
		st, err := store.Open(t.Context(), r.cfg.Store.DSN, store.Options{Log: slog.New(slog.DiscardHandler), ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }() // read only
		rows, err := st.Transitions(t.Context(), store.TransitionQuery{Series: "gw/chat/short"})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, row := range rows {
			told = told || strings.Contains(row.Reason, "ann") && strings.Contains(row.Reason, "new hardware")
		}
		if !told {
			t.Errorf("who and why are not in the history: %+v", rows)
		}
	})
}

// TestUndoKnowsAnIncident: what an incident's end accepted is found by the incident's id, its other alerts are not.
func TestUndoKnowsAnIncident(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }() // of a test
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	ended := func(series string, kind alert.Kind, accepted float64) alert.Alert {
		return alert.Alert{ID: series + string(kind), Series: series, Kind: kind, State: alert.StateOK, Since: at, Fired: at, Resolved: at, Accepted: accepted}
	}
	change := alert.Change{Judged: alert.Judged{Alerts: []alert.Alert{ended("gw/chat/short", alert.KindTTFT, 1.4), ended("gw/chat/short", alert.KindTPOT, 1.2), ended("gw/chat/long", alert.KindTTFT, 0), ended("gw", alert.KindTTFT, 1.4)}}, Told: alert.Told{Incidents: []alert.Incident{{ID: "7f3k", Opened: at, Members: []alert.Member{{Alert: "gw/chat/shortttft"}, {Alert: "gw/chat/shorttpot"}, {Alert: "gw/chat/longttft"}, {Alert: "gwttft"}}}}, Notices: []alert.Notice{{Incident: "7f3k", Channel: "none", State: alert.NoticeSent, Created: at}}}} // with one it is on disk at once
	if err := st.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	d := &Daemon{store: st}
	for text, want := range map[string]string{"7f3k": "[gw gw/chat/short]", "gw/chat/*": "[gw/chat/*]"} {
		got, err := admin{d}.accepted(t.Context(), text)
		slices.Sort(got)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}
