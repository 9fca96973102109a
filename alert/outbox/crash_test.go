package outbox

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
)

// moment is one instant at which the daemon may die: what the store had and what the channel had taken.
type moment struct {
	name   string
	rows   map[string]alert.Notice
	taken  map[string]int
	passed time.Duration
}

// TestOutboxCrash kills the daemon at every moment of a delivery, for each act and each fault of the first attempt, and
// starts it again over what the store had: nothing is forgotten, what has a receipt is not sent again, a lost answer is
// sent at most once more, and waits are kept to the second.
func TestCrash(t *testing.T) {
	faults := map[string]error{
		"none":           nil,
		"refused":        &alert.SendError{Code: "connect", Retryable: true},
		"lost":           &alert.SendError{Code: "timeout", Retryable: true, Lost: true},
		"taken, lost":    errTakenAnyway,
		"limited 30 s":   &alert.SendError{Code: "ratelimited", Retryable: true, Limited: true, RetryAfter: 30 * time.Second},
		"limited":        &alert.SendError{Code: "ratelimited", Retryable: true, Limited: true},
		"http 500":       &alert.SendError{Code: "http 500", Retryable: true},
		"not_in_channel": &alert.SendError{Code: "not_in_channel"},
	}
	for name, fault := range faults {
		for _, act := range []alert.Act{alert.ActOpen, alert.ActUpdate, alert.ActThread, alert.ActResolve} {
			t.Run(fmt.Sprintf("%s/%s", name, act), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashEverywhere(t, act, fault) })
			})
		}
	}
}

func crashEverywhere(t *testing.T, act alert.Act, fault error) {
	n := note("a", 2, act)
	j := &memJournal{rows: map[string]alert.Notice{}}
	if act != alert.ActOpen {
		open := note("a", 1, alert.ActOpen)
		open.State, open.Receipt = alert.NoticeSent, alert.Receipt{Channel: "C1", TS: "0"}
		j.rows[rowKey(open)] = open
	}
	ch := &fakeChannel{name: "slack", edits: true, delay: time.Second, taken: map[string]int{},
		answer: func(call int, _ alert.Notice) error {
			if call == 1 {
				return fault
			}
			return nil
		}}
	begin := time.Now()
	var moments []moment
	record := func(name string) func() {
		return func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			ch.mu.Lock()
			defer ch.mu.Unlock()
			moments = append(moments, moment{fmt.Sprintf("%s %d", name, len(moments)), maps.Clone(j.rows), maps.Clone(ch.taken), time.Since(begin)})
		}
	}
	j.each, ch.entered, ch.left = record("commit"), record("before the call"), record("after the call")
	b := launch(t, j, ch)
	b.tell(n)
	advance(2 * time.Minute)
	b.end()
	if len(moments) < 5 {
		t.Fatalf("only %d moments", len(moments))
	}
	for _, m := range moments {
		restart(t, m, n, fault)
	}
}

// restart begins anew from a moment, at the time it was, with a channel that takes everything.
func restart(t *testing.T, m moment, n alert.Notice, fault error) {
	t.Helper()
	shift := time.Since(n.Created) - m.passed // the bubble's clock does not go back: waits move with it
	row := m.rows[rowKey(n)]
	if !row.NotBefore.IsZero() {
		row.NotBefore = row.NotBefore.Add(shift)
		m.rows[rowKey(n)] = row
	}
	j := &memJournal{rows: m.rows}
	ch := &fakeChannel{name: "slack", edits: true, taken: m.taken}
	begin := time.Now()
	b := launch(t, j, ch)
	synctest.Wait()
	early := len(ch.sent())
	advance(2 * time.Minute)
	b.end()
	if row.State == alert.NoticePending && row.NotBefore.After(begin) && early > 0 {
		t.Errorf("%s: sent at once although it must wait until %v", m.name, row.NotBefore)
	}
	total, again := m.taken[rowKey(n)], len(ch.sent())
	lost := 0
	if row.Sending { // the answer is not in the store, whatever it was
		lost++
	}
	if fault == errTakenAnyway {
		lost++
	}
	switch {
	case row.State == alert.NoticeSent && again != 0:
		t.Errorf("%s: sent again although its receipt is stored: %q", m.name, ch.sent())
	case row.State != alert.NoticeSent && again != 1:
		t.Errorf("%s: %d calls after the restart, want 1: %q", m.name, again, ch.sent())
	case total < 1 || total > 1+lost:
		t.Errorf("%s: taken %d times with %d answers lost", m.name, total, lost)
	}
	if end := j.row(n); end.State != alert.NoticeSent || end.Sending {
		t.Errorf("%s: ends as %+v", m.name, end)
	}
}
