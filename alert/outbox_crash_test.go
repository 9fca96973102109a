package alert

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// moment is one instant at which the daemon may die: what the store had and what the channel had taken.
type moment struct {
	name   string
	rows   map[string]Notice
	taken  map[string]int
	passed time.Duration
}

// TestOutboxCrash kills the daemon at every moment of a delivery, for each act and each fault of the first attempt, and
// starts it again over what the store had: nothing is forgotten, what has a receipt is not sent again, a lost answer is
// sent at most once more, and waits are kept to the second.
func TestOutboxCrash(t *testing.T) {
	faults := map[string]error{
		"none":           nil,
		"refused":        &SendError{Code: "connect", Retryable: true},
		"lost":           &SendError{Code: "timeout", Retryable: true, Lost: true},
		"taken, lost":    errTakenAnyway,
		"limited 30 s":   &SendError{Code: "ratelimited", Retryable: true, Limited: true, RetryAfter: 30 * time.Second},
		"limited":        &SendError{Code: "ratelimited", Retryable: true, Limited: true},
		"http 500":       &SendError{Code: "http 500", Retryable: true},
		"not_in_channel": &SendError{Code: "not_in_channel"},
	}
	for name, fault := range faults {
		for _, act := range []Act{ActOpen, ActUpdate, ActThread, ActResolve} {
			t.Run(fmt.Sprintf("%s/%s", name, act), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashEverywhere(t, act, fault) })
			})
		}
	}
}

func crashEverywhere(t *testing.T, act Act, fault error) {
	n := note("a", 2, act)
	j := &memJournal{rows: map[string]Notice{}}
	if act != ActOpen {
		open := note("a", 1, ActOpen)
		open.State, open.Receipt = NoticeSent, Receipt{Channel: "C1", TS: "0"}
		j.rows[rowKey(open)] = open
	}
	ch := &fakeChannel{name: "slack", edits: true, delay: time.Second, taken: map[string]int{},
		answer: func(call int, _ Notice) error {
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
func restart(t *testing.T, m moment, n Notice, fault error) {
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
	if row.State == NoticePending && row.NotBefore.After(begin) && early > 0 {
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
	case row.State == NoticeSent && again != 0:
		t.Errorf("%s: sent again although its receipt is stored: %q", m.name, ch.sent())
	case row.State != NoticeSent && again != 1:
		t.Errorf("%s: %d calls after the restart, want 1: %q", m.name, again, ch.sent())
	case total < 1 || total > 1+lost:
		t.Errorf("%s: taken %d times with %d answers lost", m.name, total, lost)
	}
	if end := j.row(n); end.State != NoticeSent || end.Sending {
		t.Errorf("%s: ends as %+v", m.name, end)
	}
}

// flood decides one opening and then eleven behind it.
func flood(b *bench) {
	b.tell(note("a0", 1, ActOpen))
	var rest []Notice
	for i := 1; i <= 11; i++ {
		rest = append(rest, note(fmt.Sprintf("a%d", i), 1, ActOpen))
	}
	b.tell(rest...)
}

func TestOutboxSummary(t *testing.T) {
	for _, again := range []bool{false, true} { // with and without a restart between all steps
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &memJournal{}
				ch := &fakeChannel{name: "slack", edits: true}
				b := launch(t, j, ch)
				step := func(do func()) {
					do()
					advance(20 * time.Second)
					if again {
						b.end()
						b = launch(t, j, ch)
					}
				}
				step(func() { flood(b) })
				for i := 2; i <= 11; i++ {
					step(func() { b.tell(note(fmt.Sprintf("a%d", i), 2, ActUpdate), note(fmt.Sprintf("a%d", i), 3, ActResolve)) })
				}
				step(func() { b.tell(note("a0", 2, ActResolve)) })
				step(func() { b.tell(note("a1", 2, ActThread)) })
				step(func() { b.tell(note("a1", 3, ActResolve)) })
				b.end()
				want := []string{`0s open a0.1 "a0 open"`, `1s open summary-a1.1 "11 more incidents opened within 1 s"`}
				for i := 2; i <= 11; i++ {
					want = append(want, fmt.Sprintf(`%s thread a%d.3 on 2 "a%d resolve"`, time.Duration(i-1)*20*time.Second, i, i))
				}
				want = append(want, `3m40s resolve a0.2 on 1 "a0 resolve"`, `4m0s thread a1.2 on 2 "a1 thread"`,
					`4m20s resolve a1.3 on 2 "all over: 11 more incidents opened within 1 s"`)
				ch.want(t, want...)
				if !again && len(b.box.lanes["slack"].topics) != 0 {
					t.Errorf("topics are left: %v", b.box.lanes["slack"].topics)
				}
			})
		})
	}
}

func TestOutboxSummaryByWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack"}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		flood(b)
		advance(10 * time.Second)
		b.tell(note("a1", 2, ActResolve), note("a2", 2, ActResolve))
		advance(10 * time.Second)
		ch.want(t, `0s open a0.1 "a0 open"`, `1s open summary-a1.1 "11 more incidents opened within 1 s"`,
			`10s resolve a1.2 "a1 resolve"`, `11s resolve a2.2 "a2 resolve"`)
	})
}

// TestOutboxNoSummaryForMachines: who keeps incidents by their id gets each opening and each end.
func TestOutboxNoSummaryForMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", byID: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		flood(b)
		for i := range 12 {
			b.tell(note(fmt.Sprintf("a%d", i), 2, ActResolve))
		}
		advance(time.Minute)
		for i := range 12 {
			if n := ch.taken[rowKey(note(fmt.Sprintf("a%d", i), 2, ActResolve))]; n != 1 {
				t.Errorf("end %d was taken %d times", i, n)
			}
		}
		for _, c := range ch.sent() {
			if strings.Contains(c, "summary-") {
				t.Errorf("a summary went out: %s", c)
			}
		}
	})
}

func TestOutboxFewOpeningsAreNoSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		for i := range 6 { // one at once, five behind it
			b.tell(note(fmt.Sprintf("a%d", i), 1, ActOpen))
		}
		advance(10 * time.Second)
		if len(ch.sent()) != 6 {
			t.Errorf("calls are %q", ch.sent())
		}
	})
}

func TestOutboxSummaryFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &memJournal{}
		ch := &fakeChannel{name: "slack", edits: true, answer: func(call int, _ Notice) error {
			if call == 2 {
				return &SendError{Code: "timeout", Retryable: true, Lost: true}
			}
			if call == 3 {
				return &SendError{Code: "is_archived"}
			}
			return nil
		}}
		b := launch(t, j, ch)
		flood(b)
		advance(1500 * time.Millisecond)
		b.tell(note("a1", 2, ActResolve)) // waits for the summary
		advance(10 * time.Second)
		if n, _ := b.box.Pending(); n != 13 {
			t.Errorf("%d pending, want the summary, 11 openings and an end", n)
		}
		b.end()
		b = launch(t, j, ch)
		defer b.end()
		advance(10 * time.Second)
		sum := ` open summary-a1.1 "11 more incidents opened within 1 s"`
		ch.want(t, `0s open a0.1 "a0 open"`, "1s"+sum, "2s"+sum, "11.5s"+sum, `12.5s thread a1.2 on 4 "a1 resolve"`)
		if r := j.row(note("a5", 1, ActOpen)); r.State != NoticeSent || r.Receipt.TS != "4" {
			t.Errorf("a member is %+v", r)
		}
	})
}

func TestOutboxSummaryTellsOnlyWhatBelongsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{}, ch)
		defer b.end()
		b.tell(note("a0", 1, ActOpen))
		var rest []Notice
		for i := range 8 { // 20 s apart: at most four within a minute
			n := note(fmt.Sprintf("b%d", i), 1, ActOpen)
			n.Created = n.Created.Add(time.Duration(i-8) * 20 * time.Second)
			rest = append(rest, n)
		}
		b.tell(rest...)
		advance(20 * time.Second)
		if len(ch.sent()) != 9 {
			t.Errorf("calls are %q", ch.sent())
		}
	})
}

func TestOutboxFreesTheMembersOfALostSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := note("a", 1, ActOpen)
		n.Summary = summaryPrefix + "gone"
		ch := &fakeChannel{name: "slack", edits: true}
		b := launch(t, &memJournal{rows: map[string]Notice{rowKey(n): n}}, ch)
		defer b.end()
		synctest.Wait()
		ch.want(t, `0s open a.1 "a open"`)
	})
}
