package store

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// full sets every stored field of a sample to a value of its own; odd ones turn on what may be absent but is 0.
func full(zero bool) probe.Sample {
	var s probe.Sample
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		n := int64(i + 1)
		if zero {
			n = 0
		}
		switch p := v.Field(i).Addr().Interface().(type) {
		case *time.Time:
			*p = t0
		case *probe.Span:
			*p = probe.Known(time.Duration(n * 1_000_003))
		case *probe.Count:
			*p = probe.Some(n)
		case *probe.Money:
			*p = probe.Some(float64(n) / 3)
		case *int:
			*p = int(n)
		case *bool:
			*p = !zero
		case *[]probe.Flag:
			*p = []probe.Flag{probe.ClientSuspect, probe.Gzip}
		case *time.Duration, *map[string]string, *[]probe.Change: // in memory only
		default:
			v.Field(i).SetString(fmt.Sprint("text ", i))
		}
	}
	s.Target, s.Scene, s.Size = "gw-eu", "chat", probe.Short
	return s
}

func TestSampleRoundTrip(t *testing.T) {
	s := openTemp(t)
	absent := probe.Sample{Time: t0.Add(2), Target: "gw-eu", Scene: "chat", Size: probe.Short, Outcome: probe.TimeoutStall}
	zero := full(true)
	zero.Time = t0.Add(1)
	want := []probe.Sample{full(false), zero, absent}
	commit(t, s, bare(want...))
	flush(t, s)
	if diff := cmp.Diff(want, collect(t, s.Samples(t.Context(), Query{}))); diff != "" {
		t.Errorf("samples changed on the way (-want +got):\n%s", diff)
	}
}

func TestSampleNeverHoldsNaN(t *testing.T) {
	s := openTemp(t)
	odd := plain("gw-eu", 0)
	odd.CostUSD = probe.Some(math.NaN())
	commit(t, s, alert.Change{Judged: alert.Judged{Records: []alert.Record{{Sample: odd, Residuals: map[probe.Metric]baseline.Residual{
		probe.TTFT: {E: math.NaN(), R: math.Inf(1), Judged: true}}}},
		Alerts: []alert.Alert{{ID: "a", Last: alert.Evidence{Z: math.Inf(1), Ratio: 2}, Votes: []alert.Vote{{Verdict: baseline.Ruling{Z: math.NaN()}}}}}}})
	flush(t, s)
	got := collect(t, s.History(t.Context(), odd.Key(), time.Time{}))[0]
	if got.Sample.CostUSD.Known || got.Residuals[probe.TTFT] != (baseline.Residual{}) {
		t.Errorf("NaN came back as %v and %v", got.Sample.CostUSD, got.Residuals)
	}
	alerts := must[[]alert.Alert](t)(s.Alerts(t.Context(), AlertQuery{}))
	if len(alerts) != 1 || alerts[0].Last.Z != 0 || alerts[0].Last.Ratio != 2 {
		t.Errorf("alert = %+v", alerts)
	}
}

func TestHistory(t *testing.T) {
	s := openTemp(t)
	judged := record(plain("gw-eu", 1))
	judged.Residuals[probe.E2E] = baseline.Residual{E: .1, O: .2, R: .3, Judged: true} // R is not E − O: kept as given
	judged.Residuals[probe.TTFA] = baseline.Residual{}
	judged.Excluded = map[probe.Metric]bool{probe.TTFT: true, probe.TPOT: false}
	late := record(plain("gw-eu", 0))
	raw := alert.Record{Sample: plain("gw-eu", 2)}
	commit(t, s, alert.Change{Judged: alert.Judged{Records: []alert.Record{judged, late, raw, record(plain("gw-us", 0))}}})
	flush(t, s)

	judged.Excluded = map[probe.Metric]bool{probe.TTFT: true}
	history := func(since time.Time) []alert.Record {
		return collect(t, s.History(t.Context(), "gw-eu/chat/short", since))
	}
	if diff := cmp.Diff([]alert.Record{late, judged, raw}, history(time.Time{})); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]alert.Record{judged, raw}, history(judged.Sample.Time)); diff != "" {
		t.Errorf("history since the second (-want +got):\n%s", diff)
	}
	for _, key := range []string{"gw-xx/chat/short", "odd"} {
		if got := collect(t, s.History(t.Context(), key, time.Time{})); got != nil {
			t.Errorf("history of %q = %v", key, got)
		}
	}
}

// An imported sample is judged later: the same record comes again, now with residuals.
func TestRecordIsJudgedLater(t *testing.T) {
	s := openTemp(t)
	sample := plain("gw-eu", 0)
	if added, _, err := s.Import(t.Context(), sequence(sample)); err != nil || added != 1 {
		t.Fatal(added, err)
	}
	commit(t, s, bare(sample))
	flush(t, s)
	if diff := cmp.Diff([]alert.Record{record(sample)}, collect(t, s.History(t.Context(), sample.Key(), t0))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestExclusions(t *testing.T) {
	s := openTemp(t)
	at := func(i int) int64 { return plain("gw-eu", i).Time.UnixNano() }
	flip := func(m probe.Metric, from, to int, out bool) alert.Change {
		return alert.Change{Judged: alert.Judged{Exclusions: []alert.Exclusion{{Canary: "gw-eu/chat/short", Metric: m, From: at(from), To: at(to), Excluded: out},
			{Canary: "gw-none/chat/short", Metric: m, To: at(9), Excluded: out}, {Canary: "odd"}}}}
	}
	f := func(c alert.Change, want ...string) {
		t.Helper()
		commit(t, s, c)
		flush(t, s)
		for i, r := range collect(t, s.History(t.Context(), "gw-eu/chat/short", t0)) {
			if got := fmt.Sprint(r.Excluded); got != "map["+want[i]+"]" {
				t.Errorf("sample %d: excluded %v, want %v", i, got, want[i])
			}
		}
	}
	first := flip(probe.TTFT, 0, 1, true)
	first.Records = bare(plain("gw-eu", 0), plain("gw-eu", 1), plain("gw-eu", 2)).Records
	f(first, "ttft:true", "ttft:true", "") // records first: the exclusion flips those of its own change
	f(flip(probe.TPOT, 1, 2, true), "ttft:true", "tpot:true ttft:true", "tpot:true")
	f(flip(probe.TTFT, 1, 2, false), "ttft:true", "tpot:true", "tpot:true")
	f(flip(probe.TPOT, 0, 9, false), "ttft:true", "", "")
}

func TestSamplesQuery(t *testing.T) {
	s := openTemp(t)
	var all []probe.Sample
	for _, target := range []string{"gw-eu", "gw-us", "lab"} {
		for i := range 3 {
			all = append(all, plain(target, i))
		}
	}
	commit(t, s, bare(all...))
	flush(t, s)
	f := func(q Query, want string) {
		t.Helper()
		var got []string
		for _, sample := range collect(t, s.Samples(t.Context(), q)) {
			got = append(got, fmt.Sprint(sample.Target, sample.Time.Sub(t0).Minutes()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: got %v, want %v", q, got, want)
		}
	}
	f(Query{Since: t0.Add(5 * time.Minute), Until: t0.Add(10 * time.Minute)}, "gw-eu5 gw-us5 lab5")
	f(Query{Pattern: "lab"}, "lab0 lab5 lab10")
	f(Query{Pattern: "gw-*/chat", Since: t0.Add(6 * time.Minute)}, "gw-eu10 gw-us10")
	f(Query{Pattern: "*/*/short", Until: t0.Add(time.Nanosecond)}, "gw-eu0 gw-us0 lab0")
	f(Query{Pattern: "*/*/long"}, "")
	f(Query{Pattern: "gw-eu/chat/short/more"}, "")
	for _, err := range s.Samples(t.Context(), Query{Pattern: "[", Since: t0}) {
		if err == nil {
			t.Error("a broken pattern is no error")
		}
	}
	for range s.Samples(t.Context(), Query{}) {
		break // a consumer may leave: the connection must be free again for what follows
	}
	for range 10 {
		f(Query{Pattern: "lab"}, "lab0 lab5 lab10")
	}
}

// More than one page, with several attempts at one time on the seam.
func TestHistoryPages(t *testing.T) {
	s := openTemp(t)
	var c alert.Change
	for i := range page + 50 {
		sample := plain("gw-eu", i/3)
		sample.Attempt = i%3 + 1
		c.Records = append(c.Records, record(sample))
	}
	commit(t, s, c)
	flush(t, s)
	if diff := cmp.Diff(c.Records, collect(t, s.History(t.Context(), "gw-eu/chat/short", t0))); diff != "" {
		t.Errorf("history (-want +got):\n%.2000s", diff)
	}
}

// A clock that is set back gives samples out of order; none is lost and history is by time.
func TestClockStepBack(t *testing.T) {
	s := openTemp(t)
	for _, i := range []int{5, 6, 7, 2, 3, 4} {
		commit(t, s, bare(plain("gw-eu", i)))
	}
	flush(t, s)
	var got []float64
	for _, r := range collect(t, s.History(t.Context(), "gw-eu/chat/short", t0)) {
		got = append(got, r.Sample.Time.Sub(t0).Minutes()/5)
	}
	if diff := cmp.Diff([]float64{2, 3, 4, 5, 6, 7}, got); diff != "" {
		t.Error(diff)
	}
}

func TestImport(t *testing.T) {
	s := openTemp(t)
	revision := func() int64 { return must[int64](t)(s.ImportRevision(t.Context())) }
	var list []probe.Sample
	for i := range 2*importChunk + 7 {
		list = append(list, plain("gw-eu", i))
	}
	f := func(added, duplicates int, list ...probe.Sample) {
		t.Helper()
		a, d, err := s.Import(t.Context(), sequence(list...))
		if a != added || d != duplicates || err != nil {
			t.Errorf("added %d, duplicates %d, %v; want %d and %d", a, d, err, added, duplicates)
		}
	}
	before := revision()
	f(len(list), 0, list...)
	after := revision()
	if after <= before {
		t.Errorf("import revision %d after %d", after, before)
	}
	f(0, len(list), list...)
	if revision() != after {
		t.Error("an import that added nothing moved the revision")
	}
	again := plain("gw-eu", 0)
	again.Attempt = 2
	unnumbered := plain("gw-eu", 0)
	unnumbered.Attempt = 0
	f(1, 1, again, unnumbered)
}

func TestImportErrors(t *testing.T) {
	s := openTemp(t)
	f := func(spoil func(*probe.Sample), want string) {
		t.Helper()
		bad := plain("gw-eu", 1)
		spoil(&bad)
		_, _, err := s.Import(t.Context(), sequence(plain("gw-eu", 0), bad))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	f(func(s *probe.Sample) { s.Target = "" }, `sample 2: "target"`)
	f(func(s *probe.Sample) { s.Outcome = "" }, `sample 2: "outcome"`)
	f(func(s *probe.Sample) { s.Time = time.Time{} }, `sample 2: "time"`)
	cut := errors.New("line 2: unexpected end")
	_, _, err := s.Import(t.Context(), func(yield func(probe.Sample, error) bool) {
		if yield(plain("gw-eu", 7), nil) {
			yield(probe.Sample{}, cut)
		}
	})
	if !errors.Is(err, cut) {
		t.Errorf("error %v", err)
	}
	if got := collect(t, s.Samples(t.Context(), Query{})); len(got) != 2 {
		t.Errorf("%d samples, want the 2 before the errors", len(got))
	}
}
