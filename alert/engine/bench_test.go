package engine_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/baseline"
	"serin/probe"
)

// benchFleet is targets of nine canaries with two metrics each, probed every 5 minutes.
func benchFleet(targets int) []alert.Watched {
	var list []alert.Watched
	for i := range targets {
		for _, scene := range []string{"chat", "support", "batch"} {
			for _, w := range canaries(fmt.Sprint("t", i), 5*time.Minute, alert.DefaultRule(), probe.Sizes()...) {
				s := *w.Canary.Scene
				s.Name = scene
				w.Canary.Scene = &s
				list = append(list, w)
			}
		}
	}
	return list
}

// tape is the past of a fleet: healthy samples that have been judged.
type tape struct {
	records map[string][]alert.Record
}

func newTape(fleet []alert.Watched, from, to time.Time) tape {
	t := tape{map[string][]alert.Record{}}
	for _, w := range fleet {
		for at := w.Due(from); at.Before(to); at = w.Due(at) {
			s := healthy(w.Canary, at)
			r := baseline.Residual{E: .05 * wobble(at.UnixNano()), Judged: true}
			r.R = r.E
			t.records[w.Canary.Key()] = append(t.records[w.Canary.Key()], alert.Record{Sample: s, Residuals: map[probe.Metric]baseline.Residual{probe.TTFT: r, probe.TPOT: r}})
		}
	}
	return t
}

func (t tape) History(_ context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	return func(yield func(alert.Record, error) bool) {
		for _, r := range t.records[canary] {
			if !r.Sample.Time.Before(since) && !yield(r, nil) {
				return
			}
		}
	}
}

// BenchmarkObserve judges one regular sample of a healthy fleet of 720 series.
func BenchmarkObserve(b *testing.B) {
	fleet := benchFleet(40)
	now := day0.AddDate(0, 0, 9).Add(6*time.Hour + time.Minute)
	e := engine.New(engine.Options{History: newTape(fleet, now.AddDate(0, 0, -9), now), Reprobes: true})
	if _, err := e.Load(b.Context(), fleet, nil, alert.Snapshot{}, now); err != nil {
		b.Fatal(err)
	}
	n := 0
	next := func() probe.Sample {
		if n%len(fleet) == 0 {
			now = now.Truncate(5 * time.Minute).Add(5*time.Minute + time.Second)
			e.Tick(now)
		}
		w := fleet[n%len(fleet)]
		n++
		return healthy(w.Canary, w.Due(now.Add(-2*time.Second)))
	}
	for range fleet { // what a start finds in the store is measured anew here
		e.Observe(next())
	}
	var samples []probe.Sample
	for b.Loop() {
		if len(samples) == 0 {
			b.StopTimer()
			for range fleet {
				samples = append(samples, next())
			}
			b.StartTimer()
		}
		e.Observe(samples[0])
		samples = samples[1:]
	}
}

// BenchmarkLoad starts an engine; it reports what a series takes.
func BenchmarkLoad(b *testing.B) {
	fleet := benchFleet(10)
	now := day0.AddDate(0, 0, 9).Add(6*time.Hour + time.Minute)
	past := newTape(fleet, now.AddDate(0, 0, -9), now)
	for b.Loop() {
		e := engine.New(engine.Options{History: past, Reprobes: true})
		if _, err := e.Load(b.Context(), fleet, nil, alert.Snapshot{}, now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*2*len(fleet)), "µs/series")
}
