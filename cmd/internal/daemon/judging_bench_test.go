package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"serin/alert"
	"serin/alert/engine"
	"serin/alert/incident"
	"serin/baseline"
	"serin/baseline/store"
	"serin/probe"
)

// Size of the fleet that is judged, and of the one that costs are brought to.
const (
	judgedTargets  = 40
	judgedCanaries = 9 // of a target
	judgedEvery    = 5 * time.Minute
	promisedSeries = 10_000
)

// BenchmarkJudging lets a fleet of 360 canaries with two metrics each live half a day, from 06:01 on, so that the renewal of
// noon and every slot's new band are in it: with a journal that keeps nothing, and with a store. An iteration is the whole half
// day. It reports what a sample takes, what 10 000 series take of one core (ticks included), and what a series holds.
func BenchmarkJudging(b *testing.B) {
	b.Run("null", func(b *testing.B) { judgeFleet(b, nil) })
	b.Run("store", func(b *testing.B) {
		st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "serin.db"), store.Options{Log: slog.New(slog.DiscardHandler), Version: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		judgeFleet(b, st)
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

type nullJournal struct{}

func (nullJournal) Commit(context.Context, alert.Change) error { return nil }

func judgeFleet(b *testing.B, st *store.Store) {
	var journal alert.Journal = nullJournal{}
	if st != nil {
		journal = st
	}
	start := time.Date(2026, 3, 11, 6, 1, 0, 0, time.UTC)
	fleet := judgedFleet()
	before := liveHeap()
	e := engine.New(engine.Options{History: pastOf(start), Baseline: baseline.DefaultOptions(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	people := incident.New(incident.Options{IncidentOptions: alert.DefaultIncident()})
	if _, err := e.Load(b.Context(), fleet, nil, alert.Snapshot{}, start); err != nil {
		b.Fatal(err)
	}
	people.Load(alert.Snapshot{}, e, start)
	commit := func(judged alert.Judged, told alert.Told) {
		if err := journal.Commit(b.Context(), alert.Change{Judged: judged, Told: told}); err != nil {
			b.Fatal(err)
		}
	}
	var observing, all time.Duration
	var samples int
	now, next := start, make([]time.Time, len(fleet))
	for i, w := range fleet {
		next[i] = w.Due(start)
	}
	b.ResetTimer()
	for b.Loop() {
		cpu, end := cpuTime(b), now.Add(12*time.Hour)
		for ; now.Before(end); now = now.Add(engineTicker) {
			judged := e.Tick(now)
			commit(judged, people.Tick(judged.Transitions, now))
			for i, w := range fleet {
				at := next[i]
				if at.After(now) {
					continue
				}
				next[i] = w.Due(at)
				s := liveSample(w.Canary, at, uint64(i))
				t := cpuTime(b)
				judged := e.Observe(s)
				commit(judged, people.Update(judged.Transitions, now))
				observing += cpuTime(b) - t
				samples++
			}
		}
		// A commit with a notice returns once all before it is on disk.
		if err := journal.Commit(b.Context(), alert.Change{Told: alert.Told{Notices: []alert.Notice{{Incident: "flush", Created: now, Channel: "none", State: alert.NoticeSent}}}}); err != nil {
			b.Fatal(err)
		}
		all += cpuTime(b) - cpu
	}
	b.StopTimer()
	series := 2 * len(fleet)
	b.ReportMetric(float64(observing.Microseconds())/float64(samples), "µs/sample")
	share := all.Seconds() / now.Sub(start).Seconds() * promisedSeries / float64(series)
	b.ReportMetric(100*share, "%core/10k-series")
	perSeries := float64(liveHeap()-before) / float64(series)
	b.ReportMetric(perSeries, "B/series")
	b.ReportMetric(perSeries*promisedSeries/1e6, "MB/10k-series")
	runtime.KeepAlive(e)
}

// liveHeap is what is reachable now, in bytes.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpuTime is what this process has had of the cores.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// judgedFleet is canaries of many targets, each a little later than the one before.
func judgedFleet() []alert.Watched {
	sizes := []probe.Size{probe.Short, probe.Medium, probe.Long}
	var list []alert.Watched
	for t := range judgedTargets {
		target := probe.DefaultTarget()
		target.Name = fmt.Sprintf("t%02d", t)
		for s := range judgedCanaries / len(sizes) {
			scene := &probe.Scene{Name: fmt.Sprintf("s%d", s), Zone: time.UTC, Metrics: []probe.Metric{probe.TTFT, probe.TPOT}}
			for _, size := range sizes {
				phase := time.Duration(len(list)*797%300) * time.Second
				list = append(list, alert.Watched{Canary: &probe.Canary{Target: &target, Scene: scene, Size: size, Interval: judgedEvery}, Spec: "s1", Rule: alert.DefaultRule(),
					Due: func(after time.Time) time.Time {
						return after.Add(-phase).Truncate(judgedEvery).Add(judgedEvery + phase)
					}})
			}
		}
	}
	return list
}

// liveSample is a canary's answer: a daily wave with one probe's scatter.
func liveSample(c *probe.Canary, at time.Time, seed uint64) probe.Sample {
	r := rand.New(rand.NewPCG(uint64(at.UnixNano()), seed))
	wave := .2 * math.Sin(2*math.Pi*float64(at.Unix()%86400)/86400)
	ttft := time.Duration(200e6 * math.Exp(wave+.1*r.NormFloat64()))
	tpot := time.Duration(20e6 * math.Exp(wave+.05*r.NormFloat64()))
	return probe.Sample{Time: at, Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Spec: "s1", Outcome: probe.OK, Family: probe.FamilyOK,
		TTFT: probe.Known(ttft), TPOT: probe.Known(tpot), E2E: probe.Known(ttft + 100*tpot)}
}

// pastOf makes the eight days before a time, judged.
type pastOf time.Time

// History makes a canary's records up.
func (p pastOf) History(_ context.Context, canary string, since time.Time) iter.Seq2[alert.Record, error] {
	fleet := judgedFleet()
	i := slices.IndexFunc(fleet, func(w alert.Watched) bool { return cmp.Compare(w.Canary.Key(), canary) == 0 })
	return func(yield func(alert.Record, error) bool) {
		for at := fleet[i].Due(since); at.Before(time.Time(p)); at = fleet[i].Due(at) {
			s := liveSample(fleet[i].Canary, at, uint64(i))
			wave := .2 * math.Sin(2*math.Pi*float64(at.Unix()%86400)/86400)
			res := func(v probe.Span, usual float64) baseline.Residual {
				r := math.Log(v.D.Seconds()) - math.Log(usual) - wave
				return baseline.Residual{E: r, R: r, Judged: true}
			}
			if !yield(alert.Record{Sample: s, Residuals: map[probe.Metric]baseline.Residual{probe.TTFT: res(s.TTFT, .2), probe.TPOT: res(s.TPOT, .02)}}, nil) {
				return
			}
		}
	}
}
