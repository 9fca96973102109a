package probe

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// errorsOf gathers how far a run's figures lie from those of the server.
type errorsOf struct {
	mu                           sync.Mutex
	event, ttft                  []float64 // µs
	tpot                         []float64 // %
	eventRead, ttftRead          []float64
	tpotRead                     []float64
	coalesced, unkernel, suspect int
	failed                       []string
}

// add compares one probe with what the server wrote into its events.
func (e *errorsOf) add(tb testing.TB, s *Sample, d *Diary) {
	e.mu.Lock()
	defer e.mu.Unlock()
	stamps := stampsIn(tb, d.Text)
	var tokens []DiaryEvent
	for _, ev := range d.Events {
		if ev.Kind == "text" {
			tokens = append(tokens, ev)
		}
	}
	if s.Outcome != OK || len(stamps) != len(tokens)+1 || !s.Sent.Known {
		e.failed = append(e.failed, fmt.Sprintf("%s %s, %d stamps, %d tokens", s.Outcome, s.Reason, len(stamps), len(tokens)))
		return
	}
	if s.Stamp != "kernel" {
		e.unkernel++
	}
	request, wrote := stamps[0], stamps[1:]
	micros := func(ns int64) float64 { return math.Abs(float64(ns)) / 1e3 }
	for i, ev := range tokens {
		off := s.Time.UnixNano() + int64(ev.At) - wrote[i]
		if i+1 < len(tokens) && tokens[i+1].Read == ev.Read {
			e.coalesced++ // an upper bound only: the stamp is that of the newest of the read
		} else {
			e.event = append(e.event, micros(off))
		}
		e.eventRead = append(e.eventRead, micros(off+int64(ev.Lag)))
	}
	if s.Has(ClientSuspect) { // votes nothing: its first or last token came in one read with others, late
		e.suspect++
		return
	}
	first, last := tokens[0], tokens[len(tokens)-1]
	e.ttft = append(e.ttft, micros(int64(s.TTFT.D-s.Sent.D)-(wrote[0]-request)))
	e.ttftRead = append(e.ttftRead, micros(int64(first.At+first.Lag-s.Sent.D)-(wrote[0]-request)))
	window := float64(wrote[len(wrote)-1] - wrote[0])
	e.tpot = append(e.tpot, 100*math.Abs(float64(last.At-first.At)-window)/window)
	e.tpotRead = append(e.tpotRead, 100*math.Abs(float64(last.At+last.Lag-first.At-first.Lag)-window)/window)
}

func (e *errorsOf) report(b *testing.B) {
	if len(e.failed) > 0 {
		b.Errorf("%d probes failed, the first by %s", len(e.failed), e.failed[0])
	}
	for _, m := range []struct {
		name string
		xs   []float64
	}{{"event-kernel-µs", e.event}, {"event-read-µs", e.eventRead}, {"ttft-kernel-µs", e.ttft}, {"ttft-read-µs", e.ttftRead},
		{"tpot-kernel-%", e.tpot}, {"tpot-read-%", e.tpotRead}} {
		slices.Sort(m.xs)
		for _, q := range []float64{.5, .95, .99} {
			if len(m.xs) > 0 {
				b.ReportMetric(m.xs[int(q*float64(len(m.xs)-1))], fmt.Sprintf("p%.0f-%s", 100*q, m.name))
			}
		}
	}
	b.ReportMetric(float64(e.coalesced), "coalesced-events")
	b.ReportMetric(float64(e.suspect), "client_suspect")
	b.ReportMetric(float64(e.unkernel), "without-kernel-stamps")
}

// BenchmarkStamps holds event stamps, TTFT from the send and TPOT against the server's own stamps of its writes. The rate
// of all streams together stays below 4 000 events a second. Event errors are those of the newest event of each read; TTFT
// and TPOT are of the samples that are not flagged client_suspect.
func BenchmarkStamps(b *testing.B) {
	run := func(name string, streams, busy int) {
		b.Run(name, func(b *testing.B) {
			addr := startRole(b, "server")
			for range busy {
				startRole(b, "busy")
			}
			gap := max(20*time.Millisecond, time.Duration(streams)*time.Second/4000)
			events := max(10, int(4*time.Second/gap))
			p := New(Options{})
			defer p.Close()
			var e errorsOf
			for range b.N {
				var all sync.WaitGroup
				for i := range streams {
					all.Go(func() {
						<-time.After(gap * time.Duration(i) / time.Duration(streams)) // not all at once
						c := testCanary()
						c.Target.BaseURL = fmt.Sprintf("http://%s/%d/%s", addr, events, gap)
						d := &Diary{WantText: true}
						s, err := p.Do(b.Context(), Shot{Canary: c, Diary: d})
						if err != nil {
							b.Error(err)
							return
						}
						e.add(b, &s, d)
					})
				}
				all.Wait()
			}
			e.report(b)
		})
	}
	for _, streams := range []int{1, 16, 64, 256, 1000} {
		run(fmt.Sprintf("streams=%d", streams), streams, 0)
	}
	run("streams=64/busy=6", 64, 6)
}
