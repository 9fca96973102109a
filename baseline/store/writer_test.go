package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"serin/alert"
	"serin/probe"
)

// stored counts samples on disk through the readers.
func stored(t testing.TB, s *Store) (n int) {
	t.Helper()
	if err := s.read.QueryRowContext(context.Background(), `SELECT count(*) FROM sample`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBatchWaitsForCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openTemp(t)
		start := time.Now()
		for i := range 10 {
			commit(t, s, bare(plain("gw-eu", i)))
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("commits without a notice waited %v", waited)
		}
		time.Sleep(799 * time.Millisecond)
		synctest.Wait()
		if n := stored(t, s); n != 0 {
			t.Errorf("%d samples on disk before their time", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := stored(t, s); n != 10 {
			t.Errorf("%d samples on disk after 800 ms, want 10", n)
		}
	})
}

func TestNoticeIsOnDiskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openTemp(t)
		start := time.Now()
		commit(t, s, bare(plain("gw-eu", 0)))
		c := bare(plain("gw-eu", 1))
		c.Notices = []alert.Notice{notice("7f3k", 1)}
		commit(t, s, c)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("a commit with a notice waited %v", waited)
		}
		if n := stored(t, s); n != 2 {
			t.Errorf("%d samples on disk, want those up to the notice", n)
		}
		if got := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{})); len(got) != 1 {
			t.Errorf("notices on disk: %v", got)
		}
	})
}

func TestCommitTakesACopy(t *testing.T) {
	s := openTemp(t)
	c := alert.Change{Judged: alert.Judged{Alerts: []alert.Alert{{ID: "a", Votes: []alert.Vote{{Outcome: probe.OK}}}}}}
	commit(t, s, c)
	c.Alerts[0].Votes[0].Outcome = probe.Reset
	flush(t, s)
	if got := must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{})); got[0].Votes[0].Outcome != probe.OK {
		t.Error("the caller's later change is on disk")
	}
}

// health records what the hook is told.
type healthLog struct {
	mu  sync.Mutex
	log []string
}

func (h *healthLog) hook(ok bool, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, fmt.Sprint(ok, why != nil))
}

func (h *healthLog) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.log, ", ")
}

func setPages(t testing.TB, s *Store, n int) {
	t.Helper()
	var got int
	if err := s.write.QueryRowContext(context.Background(), fmt.Sprintf(`PRAGMA max_page_count = %d`, n)).Scan(&got); err != nil {
		t.Fatal(err)
	}
}

// A disk that is full for an hour: commits go on, each with an error at once, and all of it is there in the end.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told healthLog
		s := openAt(t, filepath.Join(t.TempDir(), "serin.db"), Options{OnHealth: told.hook})
		flush(t, s)
		setPages(t, s, 1) // the least: what the file has now
		big := alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "big", Body: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}}}}
		commit(t, s, big)
		for i := range 60 {
			start := time.Now()
			c := bare(plain("gw-eu", i))
			c.Notices = []alert.Notice{notice("7f3k", i)}
			if err := s.Commit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "the disk is full: free space") {
				t.Fatalf("commit %d: %v", i, err)
			}
			if waited := time.Since(start); waited != 0 {
				t.Errorf("commit %d waited %v", i, waited)
			}
			time.Sleep(time.Minute)
		}
		if ok, why := s.Healthy(); ok || why == nil || s.Errors() < 60 {
			t.Errorf("healthy %v (%v) after %d errors", ok, why, s.Errors())
		}
		setPages(t, s, 1<<30)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if ok, why := s.Healthy(); !ok {
			t.Errorf("not healed: %v", why)
		}
		if n, notices := stored(t, s), must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{Incident: "7f3k"})); n != 60 || len(notices) != 60 {
			t.Errorf("%d samples and %d notices on disk, want 60 each", n, len(notices))
		}
		if told.String() != "false true, true false" {
			t.Errorf("hook told %q", told.String())
		}
	})
}

// A hook may commit: the message that the store is broken is a notice too.
func TestHookMayCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Store
		done := make(chan error, 2)
		s = openAt(t, filepath.Join(t.TempDir(), "serin.db"), Options{OnHealth: func(ok bool, why error) {
			done <- s.Commit(context.Background(), alert.Change{Told: alert.Told{Notices: []alert.Notice{notice(fmt.Sprint("hook ", ok), 0)}}})
		}})
		flush(t, s)
		setPages(t, s, 1)
		commit(t, s, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "big", Body: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}}}})
		if err := <-done; err == nil {
			t.Error("a commit while the disk is full gave no error")
		}
		setPages(t, s, 1<<30)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A write that does not come back: a commit with a notice gives up waiting after 2 s, one without does not wait, and the
// store says so; when the disk answers again nothing is missing. A held connection stands for the disk.
func TestDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told healthLog
		s := openAt(t, filepath.Join(t.TempDir(), "serin.db"), Options{OnHealth: told.hook})
		hold, err := s.write.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := func(c alert.Change, waits time.Duration) {
			t.Helper()
			start := time.Now()
			err := s.Commit(t.Context(), c)
			if waited := time.Since(start); waited != waits || (err == nil) != (c.Notices == nil) || err != nil && !errors.Is(err, errHung) {
				t.Errorf("commit waited %v with %v, want %v", waited, err, waits)
			}
		}
		urgent := func(i int) alert.Change {
			return alert.Change{Told: alert.Told{Notices: []alert.Notice{notice("7f3k", i)}}}
		}
		f(urgent(1), 2*time.Second)
		f(bare(plain("gw-eu", 1)), 0)
		f(urgent(2), 0)
		if ok, why := s.Healthy(); ok || !errors.Is(why, errHung) {
			t.Errorf("healthy %v: %v", ok, why)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Commit(cancelled, urgent(3)); err == nil {
			t.Error("no error")
		}
		if err := hold.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{Incident: "7f3k"})); len(got) != 3 || stored(t, s) != 1 {
			t.Errorf("%d notices and %d samples on disk", len(got), stored(t, s))
		}
		if told.String() != "false true, true false" {
			t.Errorf("hook told %q", told.String())
		}
	})
}

// A timer that fires as its write ends must not blame the write after it.
func TestLateHang(t *testing.T) {
	var told healthLog
	w := &writer{log: slog.New(slog.DiscardHandler), notifier: newHealthNotifier(told.hook)}
	first, second := newEntry(nil, alert.Change{}), newEntry(nil, alert.Change{})
	w.q.add(first)
	batch := w.q.take(1)
	w.settle(batch, nil)
	w.q.add(second)
	w.q.take(1)
	w.hang(first)
	if ok, why := w.healthy(); !ok {
		t.Errorf("the second write is blamed for the first: %v", why)
	}
	w.hang(second)
	if ok, why := w.healthy(); ok || !errors.Is(why, errHung) {
		t.Errorf("a write that hangs: healthy %v, %v", ok, why)
	}
	w.notifier.stop()
	if told.String() != "false true" {
		t.Errorf("hook told %q", told.String())
	}
}

// A row that SQLite refuses for good must hold up neither the other rows of its change nor what is behind it.
func TestRefusedRow(t *testing.T) {
	s := openTemp(t)
	bad := alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "bad", Body: []byte("{}")}}}}
	e := newEntry(append(s.w.ops(bare(plain("gw-eu", 0))), &put{`INSERT INTO blob(key, body) VALUES (?, NULL)`, []any{"bad"}, "", 0},
		blobPut(alert.Blob{Key: "good", Body: []byte("{}")})), bad)
	if _, err := s.w.enqueue(e); err != nil {
		t.Fatal(err)
	}
	commit(t, s, bare(plain("gw-eu", 1)))
	flush(t, s)
	if stored(t, s) != 2 || s.Errors() != 1 || <-e.done == nil {
		t.Errorf("%d samples, %d errors", stored(t, s), s.Errors())
	}
	if n := count(t, s, `blob WHERE key IN ('good', 'bad')`); n != 1 {
		t.Errorf("%d of the rows beside the refused one are there, want the good one", n)
	}
	if ok, why := s.Healthy(); !ok {
		t.Errorf("one refused row made the store ill: %v", why)
	}
}

func TestCloseWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "serin.db")
		s := must[*Store](t)(Open(t.Context(), path, Options{}))
		commit(t, s, bare(plain("gw-eu", 0), plain("gw-eu", 1)))
		start := time.Now()
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("close waited %v", waited)
		}
		if err := s.Commit(t.Context(), bare(plain("gw-eu", 2))); !errors.Is(err, errClosed) {
			t.Errorf("commit on a closed store: %v", err)
		}
		if n := stored(t, openAt(t, path, Options{})); n != 2 {
			t.Errorf("%d samples on disk, want 2", n)
		}
	})
}

func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openLimited(t, defaultLimits(), Options{})
		flush(t, s)
		setPages(t, s, 1)
		commit(t, s, alert.Change{Judged: alert.Judged{Blobs: []alert.Blob{{Key: "big", Body: []byte(`"` + strings.Repeat("x", 100_000) + `"`)}}}})
		start := time.Now()
		err := s.Close()
		if waited := time.Since(start); waited != 5*time.Second || err == nil || !strings.Contains(err.Error(), "1 changes not written") {
			t.Errorf("close waited %v: %v", waited, err)
		}
	})
}

// A day of the daemon in a bubble: three canaries every minute, an alert an hour.
func TestVirtualDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := must[*Store](t)(Open(t.Context(), filepath.Join(t.TempDir(), "serin.db"), Options{}))
		start := time.Now()
		for i := range 24 * 60 {
			for _, target := range []string{"a", "b", "c"} {
				sample := plain(target, 0)
				sample.Time = time.Now()
				commit(t, s, bare(sample))
			}
			if i%60 == 0 {
				commit(t, s, alert.Change{Told: alert.Told{Notices: []alert.Notice{notice("7f3k", i)}}})
			}
			if i%360 == 0 {
				if err := s.Prune(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
		}
		if took := time.Since(start); took != 24*time.Hour {
			t.Errorf("the day took %v", took)
		}
		if n := stored(t, s); n != 3*24*60 {
			t.Errorf("%d samples", n)
		}
		if got := must[[]alert.Notice](t)(s.Notices(t.Context(), NoticeQuery{})); len(got) != 24 {
			t.Errorf("%d notices", len(got))
		}
		if got := len(collect(t, s.History(t.Context(), "a/chat/short", start.Add(23*time.Hour)))); got != 60 {
			t.Errorf("%d records in the last hour", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
