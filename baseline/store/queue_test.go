package store

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
)

// The queue is bounded: needless rows go first, then the oldest samples, never what alerts people.
func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaultLimits()
		l.records, l.batch = 80, 10_000 // what is being written cannot be dropped
		s := openLimited(t, l, Options{})
		flush(t, s)
		setPages(t, s, 1)
		commit(t, s, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "big", Body: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}}}})
		for i := range 200 {
			c := bare(plain("gw-eu", i))
			c.Alerts = []alert.Alert{{ID: "a", Probes: i}}
			c.Transitions = []alert.Transition{{At: t0.Add(time.Duration(i)), Series: "gw-eu/chat/short"}}
			c.Notices = []alert.Notice{notice("7f3k", i)}
			if err := s.Commit(t.Context(), c); err == nil {
				t.Fatal("the disk is not full")
			}
		}
		_, bytes := s.Pending()
		setPages(t, s, 1<<30)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		kept := collect(t, s.Samples(t.Context(), Query{}))
		if len(kept) < 60 || len(kept) > 80 || len(kept)+s.Dropped() != 200 {
			t.Errorf("%d samples kept, %d dropped", len(kept), s.Dropped())
		}
		if last := kept[len(kept)-1].Time; !last.Equal(plain("gw-eu", 199).Time) {
			t.Errorf("newest sample kept is of %v", last)
		}
		notices := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{Incident: "7f3k"}))
		history := must[[]alert.Transition](t)(s.Transitions(t.Context(), TransitionQuery{}))
		alerts := must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{}))
		if len(notices) != 200 || len(history) != 200 || len(alerts) != 1 || alerts[0].Probes != 199 {
			t.Errorf("%d notices, %d transitions, alerts %+v", len(notices), len(history), alerts)
		}
		if bytes > 1<<20 {
			t.Errorf("queue took %d bytes", bytes)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestQueueFullOfTransitions(t *testing.T) {
	var q queue
	var lost int
	for i := range 100 {
		c := alert.Change{Judged: alert.Judged{Transitions: []alert.Transition{{At: t0, Reason: fmt.Sprint(i)}}}}
		w := &writer{}
		q.add(newEntry(w.ops(c), c))
		lost += q.dropOldest(10_000, 1000)
	}
	if q.bytes > 10_000 || lost == 0 || lost+rows(q) != 100 {
		t.Errorf("%d bytes, %d lost, %d kept", q.bytes, lost, rows(q))
	}
}

func rows(q queue) (n int) {
	for _, e := range q.entries {
		n += len(e.ops)
	}
	return n
}

func TestQueueSupersedes(t *testing.T) {
	var q queue
	w := &writer{}
	for i := range 10 {
		c := alert.Change{Told: alert.Told{Incidents: []alert.Incident{{ID: "x", Revision: i}}}}
		if i == 3 {
			c.Notices = []alert.Notice{notice("x", 1)}
		}
		q.add(newEntry(w.ops(c), c))
	}
	q.take(1) // the first is being written
	if lost := q.dropOldest(1000, 1000); lost != 0 {
		t.Errorf("%d lost", lost)
	}
	var got []int
	for _, e := range q.entries {
		got = append(got, len(e.ops))
	}
	if diff := cmp.Diff([]int{1, 1, 1}, got); diff != "" { // in flight, the notice, the newest
		t.Error(diff)
	}
}
