package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

const day = 24 * time.Hour

const perDay = 144

// daily is one day of three canaries on ten-minute schedules with their bands, an incident and some history. The spec
// changes every ten days.
func daily(d int) []alert.Change {
	var list []alert.Change
	begin := t0.Add(time.Duration(d) * day)
	for i := range perDay {
		var c alert.Change
		for _, target := range []string{"gw-eu", "gw-us", "lab"} {
			sample := plain(target, i)
			sample.Time, sample.Spec = begin.Add(time.Duration(i)*10*time.Minute), fmt.Sprint("spec ", d/10)
			c.Records = append(c.Records, record(sample))
			if i%3 == 0 {
				c.Bands = append(c.Bands, band(sample.Key(), probe.TTFT, sample.Time), band(sample.Key(), probe.TPOT, sample.Time))
			}
		}
		list = append(list, c)
	}
	id := fmt.Sprint("incident ", d)
	n := notice(id, 1)
	n.State, n.Created = alert.NoticeSent, begin
	return append(list, alert.Change{Judged: alert.Judged{Alerts: []alert.Alert{{ID: fmt.Sprint(d), State: alert.StateOK, Since: begin, Resolved: begin}},
		Transitions: []alert.Transition{{At: begin, Series: "gw-eu/chat/short"}}}, Told: alert.Told{Incidents: []alert.Incident{{ID: id, State: "closed", Opened: begin, Closed: begin, Members: []alert.Member{{Alert: fmt.Sprint(d)}}}},
		Notices: []alert.Notice{n}}})
}

func band(canary string, m probe.Metric, slot time.Time) baseline.Band {
	return baseline.Band{Canary: canary, Metric: m, Slot: slot, Spec: "3f9a0c1d2e4b5a69", State: "ready", N: 126, Days: 7, Widened: "30m",
		Mu: -1.16325480112, Offset: .0123456789012, SW: .0812345678901, SL: .0412345678901, Sigma: 2, Kappa: 1.375, Line: .223143551314,
		Mean: .312456789012, SD: .0278901234567, Limit: .390570986265, Low: .267890123456, LeftOut: map[string]int{"excluded": 3, "failed": 2},
		Threshold: "5c0f2e9d"}
}

// Three months with 14 days of retention: once that is full, the file does not grow.
func TestFileStaysBounded(t *testing.T) {
	s := openTemp(t)
	s.opt.Retention = 14 * day
	var full, peak int64
	for d := range 90 {
		for _, c := range daily(d) {
			commit(t, s, c)
		}
		if err := s.Prune(t.Context(), t0.Add(time.Duration(d+1)*day)); err != nil {
			t.Fatal(err)
		}
		if d == 20 {
			full = s.Size()
		}
		if d > 20 {
			peak = max(peak, s.Size())
		}
	}
	if peak > full*11/10 {
		t.Errorf("file was %d bytes on day 20 and %d later", full, peak)
	}
	for table, want := range map[string]int{"sample": 3 * perDay * 14, "band": 3 * 2 * 48 * 14,
		"alert": 14, "incident": 14, "notice": 14, "transition": 14, "trait": 2} {
		if n := count(t, s, table); n < want || n > want*103/100+1 {
			t.Errorf("%d rows of %s left, want %d", n, table, want)
		}
	}
}

func count(t testing.TB, s *Store, table string) (n int) {
	t.Helper()
	if err := s.read.QueryRowContext(context.Background(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A lower retention gives the space back.
func TestFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := openAt(t, path, Options{})
	for d := range 30 {
		for _, c := range daily(d) {
			commit(t, s, c)
		}
	}
	flush(t, s)
	before := s.Size()
	s.opt.Retention = 3 * day
	if err := s.Prune(t.Context(), t0.Add(30*day)); err != nil {
		t.Fatal(err)
	}
	if after := s.Size(); after > before/6 {
		t.Errorf("%d bytes of 30 days became %d bytes of 3", before, after)
	}
}

// What is not over stays, however old: open alerts and incidents, what they need, and pending notices.
func TestPruneKeepsWhatIsOpen(t *testing.T) {
	s := openTemp(t)
	c := trouble()
	for _, id := range []string{"open", "closed"} {
		c.Blobs = append(c.Blobs, alert.Blob{Key: "label/" + id, Body: json.RawMessage(`{}`)})
	}
	commit(t, s, c)
	if err := s.Prune(t.Context(), t0.Add(400*day)); err != nil {
		t.Fatal(err)
	}
	f := func(table string, want int) {
		t.Helper()
		if n := count(t, s, table); n != want {
			t.Errorf("%d rows of %s left, want %d", n, table, want)
		}
	}
	f("alert", 3)    // all but the closed incident's
	f("incident", 1) // the open one
	f("notice", 5)   // all but the sent one of the closed incident
	f("transition", 0)
	f("band", 0)
	f("blob", 3) // the label of the closed incident went with it
}

// A clock far ahead takes nothing away that the newest sample does not make old.
func TestPruneWithAClockAhead(t *testing.T) {
	s := openTemp(t)
	commit(t, s, bare(plain("gw-eu", 0), plain("gw-us", 1)))
	flush(t, s)
	if err := s.Prune(t.Context(), t0.Add(10*365*day)); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, s); n != 2 {
		t.Errorf("%d samples left", n)
	}
}

// Commits go on while a big prune runs.
func TestCommitsDuringPrune(t *testing.T) {
	s := openTemp(t)
	s.opt.Retention = day
	for d := range 20 {
		for _, c := range daily(d) {
			commit(t, s, c)
		}
	}
	flush(t, s)
	done := make(chan error, 1)
	go func() { done <- s.Prune(context.Background(), t0.Add(20*day)) }()
	var slowest time.Duration
	for n := 0; ; n++ {
		began := time.Now()
		commit(t, s, alert.Change{Told: alert.Told{Notices: []alert.Notice{notice("7f3k", n)}}})
		slowest = max(slowest, time.Since(began))
		select {
		case err := <-done:
			if err != nil || n < 3 {
				t.Errorf("prune: %v; slowest of %d commits %v", err, n, slowest)
			}
			t.Logf("%d commits during the prune, the slowest took %v", n, slowest)
			return
		default:
		}
	}
}

// The constants that configs makes MB a day of are what the disk says, within a fifth.
func TestBytesPerSample(t *testing.T) {
	f := func(name string, want int64, fill func(d int) alert.Change) {
		t.Helper()
		s := openTemp(t)
		var c alert.Change
		for d := range 10 {
			c = fill(d)
			commit(t, s, c)
		}
		flush(t, s)
		if err := s.Prune(t.Context(), t0); err != nil { // empties the log
			t.Fatal(err)
		}
		n := int64(10 * (len(c.Records) + len(c.Bands)))
		got := s.Size() / n
		t.Logf("%s: %d bytes", name, got)
		if got < want*4/5 || got > want*6/5 {
			t.Errorf("%s takes %d bytes on disk, the constant says %d", name, got, want)
		}
	}
	f("sample", BytesPerSample, func(d int) (c alert.Change) {
		for _, day := range daily(d) {
			c.Records = append(c.Records, day.Records...)
		}
		return c
	})
	f("band", BytesPerBand, func(d int) (c alert.Change) {
		for _, day := range daily(d) {
			c.Bands = append(c.Bands, day.Bands...)
		}
		return c
	})
}
