package store

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"serin/alert"
	"serin/baseline"
	"serin/probe"
)

// TestMain lets this binary play the other process of a test; see process_test.go.
func TestMain(m *testing.M) {
	if play := os.Getenv("STORE_TEST_PLAY"); play != "" {
		os.Exit(child(play, os.Getenv("STORE_TEST_PATH")))
	}
	os.Exit(m.Run())
}

var t0 = time.Date(2026, 3, 1, 8, 0, 0, 123456789, time.UTC)

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openTemp(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "serin.db"), Options{})
}

// openLimited opens a store with other limits than the program's.
func openLimited(t testing.TB, l limits, o Options) *Store {
	t.Helper()
	steps, err := embedded()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), filepath.Join(t.TempDir(), "serin.db"), o, steps, l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plain is a sample as an endpoint in order gives it, i intervals of 5 minutes after t0.
func plain(target string, i int) probe.Sample {
	return probe.Sample{Time: t0.Add(time.Duration(i) * 5 * time.Minute), Target: target, Scene: "chat", Size: probe.Short, Attempt: 1,
		Spec: "3f9a0c1d2e4b5a69", Instance: "serin-1", Region: "eu-1", Outcome: probe.OK, Family: probe.FamilyOK, Side: probe.SideServer,
		HTTPStatus: 200, FinishReason: "stop", ReturnedModel: "qwen2.5-72b-instruct", RequestID: "req_011CUVpZ8mHqQ2Y7" + string(rune('a'+i%26)),
		Conn: "new", Proto: "HTTP/1.1", Stamp: "kernel", FirstKind: "text", TokensSource: "usage",
		TTFT: ms(312.4, i), TTFA: ms(312.4, i), TTFE: ms(40.1, i), TTFTWarm: ms(284.2, i), TPOT: ms(21.42, i), E2E: ms(1512, i),
		StreamTotal: ms(1530, i), Trailer: ms(18, i), MaxGap: ms(60.2, i), SchedLag: ms(.4, i), DNS: ms(1, i), Connect: ms(12, i),
		TLS: ms(15, i), Sent: ms(28.6, i), TTFB: ms(39, i), Lag: ms(.09, i), InputTokens: probe.Some[int64](52),
		CachedInputTokens: probe.Some[int64](0), OutputTokens: probe.Some[int64](57), Chunks: 57, CostUSD: probe.Some(0.00091)}
}

func ms(v float64, i int) probe.Span {
	return probe.Known(time.Duration(v*1e6) + time.Duration(i*7919%100_000))
}

func record(s probe.Sample) alert.Record {
	return alert.Record{Sample: s, Residuals: map[probe.Metric]baseline.Residual{
		probe.TTFT: {E: .031, O: .01, R: .031 - .01, Judged: true}, probe.TPOT: {E: -.02, O: 0, R: -.02, Judged: true}}}
}

func bare(samples ...probe.Sample) (c alert.Change) {
	for _, s := range samples {
		c.Records = append(c.Records, record(s))
	}
	return c
}

func notice(incident string, revision int) alert.Notice {
	return alert.Notice{Incident: incident, Channel: "slack", Revision: revision, Act: alert.ActOpen, State: alert.NoticePending,
		Created: t0, Message: alert.Message{Headline: "gw-eu is slow"}}
}

// commit commits c; where the machine is too busy to have a notice on disk in time, it waits longer.
func commit(t testing.TB, s *Store, c alert.Change) {
	t.Helper()
	err := s.Commit(context.Background(), c)
	if errors.Is(err, errHung) {
		eventually(t, "queue written", func() bool { changes, _ := s.Pending(); return changes == 0 })
		err = nil
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flush commits a notice, behind which everything earlier is on disk too.
func flush(t testing.TB, s *Store) {
	t.Helper()
	commit(t, s, alert.Change{Told: alert.Told{Notices: []alert.Notice{notice("flush", 0)}}})
}

func collect[T any](t testing.TB, seq iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func sequence(samples ...probe.Sample) iter.Seq2[probe.Sample, error] {
	return func(yield func(probe.Sample, error) bool) {
		for _, s := range samples {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// eventually polls a condition, for at most 20 s of real time.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("still not so after 20 s: %s", what)
		}
	}
}

// must returns a function that takes a result with its error and fails the test on one.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
