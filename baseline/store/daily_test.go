package store

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"serin/alert"
	"serin/probe"
)

// summed adds up what Daily should say, from the stored samples.
func summed(t *testing.T, s *Store) (list []Daily) {
	t.Helper()
	at := map[string]int{}
	for _, x := range collect(t, s.Samples(t.Context(), Query{})) {
		d := Daily{Day: x.Time.In(s.opt.zoned(x.Scene)).Format(time.DateOnly), Target: x.Target, Scene: x.Scene, Size: string(x.Size)}
		key := d.Day + d.Key()
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key], list = i, append(list, d)
		}
		sum := &list[i]
		sum.Probes += oneIf(x.Outcome != probe.Skipped)
		sum.Skipped += oneIf(x.Outcome == probe.Skipped)
		sum.InputTokens += x.InputTokens.V
		sum.CachedInputTokens += x.CachedInputTokens.V
		sum.CacheWriteTokens += x.CacheWriteTokens.V
		sum.OutputTokens += x.OutputTokens.V
		sum.ReasoningTokens += x.ReasoningTokens.V
		sum.CostUSD += x.CostUSD.V
		sum.Unpriced += oneIf(!x.CostUSD.Known && x.Billable())
	}
	return list
}

func everyDay(t *testing.T, s *Store) []Daily {
	t.Helper()
	return must[[]Daily](t)(s.Daily(t.Context(), time.Unix(0, 0), time.Time{}))
}

func sameDays(t *testing.T, want, got []Daily) {
	t.Helper()
	sorted := cmpopts.SortSlices(func(a, b Daily) bool { return a.Day+a.Key() < b.Day+b.Key() })
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, sorted, near); diff != "" {
		t.Errorf("days (-samples +daily):\n%s", diff)
	}
}

// mixed is sample i of all kinds: priced, unpriced, broken off, refused, skipped, a second attempt.
func mixed(i int) probe.Sample {
	x := plain([]string{"gw-eu", "gw-us"}[i%2], i)
	x.Scene = []string{"chat", "support"}[i/2%2]
	switch i % 7 {
	case 1:
		x.Outcome, x.Reason = probe.Skipped, probe.ReasonBudget
		x.InputTokens, x.OutputTokens, x.CachedInputTokens, x.CostUSD = probe.Count{}, probe.Count{}, probe.Count{}, probe.Money{}
	case 2:
		x.Outcome, x.CostUSD = probe.Truncated, probe.Money{}
	case 3:
		x.Outcome, x.HTTPStatus, x.CostUSD = probe.Auth, 401, probe.Money{}
	case 4:
		x.Attempt = 2
	case 5:
		x.CostUSD = probe.Some(math.Inf(1))
	}
	return x
}

func shanghai(t *testing.T) Options {
	t.Helper()
	zone := must[*time.Location](t)(time.LoadLocation("Asia/Shanghai"))
	return Options{Zone: func(scene string) *time.Location {
		if scene == "chat" {
			return zone
		}
		return nil
	}}
}

// Judged again, imported, imported twice: every sample counts once, on the day of its scene's zone.
func TestDailyIsTheSumOfSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := openAt(t, path, shanghai(t))
	var samples []probe.Sample
	for i := range 700 {
		samples = append(samples, mixed(i))
	}
	commit(t, s, bare(samples[:500]...))
	commit(t, s, bare(samples[300:400]...)) // judged later
	flush(t, s)
	for range 2 {
		if _, _, err := s.Import(t.Context(), sequence(samples[400:]...)); err != nil {
			t.Fatal(err)
		}
	}
	if n := stored(t, s); n != 700 {
		t.Fatalf("%d samples stored", n)
	}
	days := everyDay(t, s)
	sameDays(t, summed(t, s), days)
	if len(days) < 12 || days[0].Day != "2026-03-01" {
		t.Errorf("%d days from %v", len(days), days[0])
	}
	until := time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)
	for _, d := range must[[]Daily](t)(s.Daily(t.Context(), until.Add(-time.Hour), until)) {
		if d.Day != "2026-03-02" {
			t.Errorf("asked for one day, got %s", d.Day)
		}
	}
}

// An older file's samples are added up, by UTC days.
func TestDailyOfAnOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serin.db")
	s := must[*Store](t)(Open(t.Context(), path, Options{}))
	var c alert.Change
	for i := range 700 {
		c.Records = append(c.Records, record(mixed(i)))
	}
	commit(t, s, c)
	flush(t, s)
	if _, err := s.write.Exec(`DROP TABLE daily; DROP TABLE silence; DROP TABLE mark; ALTER TABLE sample DROP COLUMN rtt; ALTER TABLE sample DROP COLUMN load; PRAGMA user_version = 1`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, Options{})
	days := everyDay(t, s)
	if len(days) == 0 {
		t.Fatal("nothing was added up")
	}
	sameDays(t, summed(t, s), days)
}

// Sums outlive the samples, but not for ever.
func TestDailyOutlivesSamples(t *testing.T) {
	s := openTemp(t)
	for _, d := range []int{0, 1, 200, 399, 400, 401} {
		x := plain("gw-eu", 0)
		x.Time = t0.Add(time.Duration(d) * day)
		commit(t, s, bare(x))
	}
	flush(t, s)
	if err := s.Prune(t.Context(), t0.Add(401*day)); err != nil {
		t.Fatal(err)
	}
	if n := stored(t, s); n != 3 {
		t.Errorf("%d samples left", n)
	}
	var got []string
	for _, d := range everyDay(t, s) {
		got = append(got, d.Day)
	}
	want := []string{}
	for _, d := range []int{1, 200, 399, 400, 401} {
		want = append(want, t0.Add(time.Duration(d)*day).Format(time.DateOnly))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("days %v, want %v", got, want)
	}
}

// What an endpoint makes up of its usage saturates the sums of its day, and takes no other row of its change along.
func TestDailySumsSaturate(t *testing.T) {
	s := openTemp(t)
	for i := range 3 {
		x := plain("gw-eu", i)
		x.InputTokens, x.OutputTokens, x.CostUSD = probe.Some[int64](1<<62), probe.Some[int64](-5), probe.Some(1e308)
		c := bare(x)
		c.Alerts = []alert.Alert{{ID: fmt.Sprint(i), State: alert.StateFiring}}
		commit(t, s, c)
	}
	flush(t, s)
	d := everyDay(t, s)
	if len(d) != 1 || d[0].Probes != 3 || d[0].InputTokens != maxTokens || d[0].OutputTokens != 0 || d[0].CachedInputTokens != 0 || d[0].CostUSD != maxCost {
		t.Errorf("days %+v", d)
	}
	if n := len(must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{}))); n != 3 || stored(t, s) != 3 || s.Errors() != 0 {
		t.Errorf("%d alerts, %d samples, %d errors", n, stored(t, s), s.Errors())
	}
}
