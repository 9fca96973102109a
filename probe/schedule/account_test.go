package schedule

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// ledger accounts for every run.
type ledger struct {
	sync.Mutex
	fired  map[string]int // by key and cron time
	closed map[string]int // by key: fired, skipped or missed
	inLane map[string]int
	over   []string // lanes that held too many
}

func (l *ledger) enter(e Entry, t Tick) {
	l.Lock()
	defer l.Unlock()
	l.fired[fmt.Sprint(t.Key, t.Due.Unix())]++
	l.closed[t.Key]++
	for _, lane := range e.Lanes {
		if l.inLane[lane.Name]++; lane.Max > 0 && l.inLane[lane.Name] > lane.Max {
			l.over = append(l.over, lane.Name)
		}
	}
}

func (l *ledger) leave(e Entry) {
	l.Lock()
	defer l.Unlock()
	for _, lane := range e.Lanes {
		l.inLane[lane.Name]--
	}
}

func (l *ledger) skipped(t Tick, _ Skip, n int) {
	l.Lock()
	defer l.Unlock()
	l.closed[t.Key] += n
}

// Whatever the lanes, the lengths of runs, the reloads and the steps of the clock: no lane overflows, no cron time
// fires twice, and without a step back every cron time is fired, skipped or missed exactly once.
func TestEveryRunIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := drawn(t, rt)
		synctest.Test(t, func(t *testing.T) { plan.play(t, rt) })
	})
}

type scenario struct {
	entries []Entry
	takes   map[string]time.Duration
	moves   []move
	back    bool
}

// move waits, then steps the clock and sets the entries anew.
type move struct{ wait, step time.Duration }

func drawn(t *testing.T, rt *rapid.T) *scenario {
	s := &scenario{takes: map[string]time.Duration{}, back: rapid.Bool().Draw(rt, "back")}
	specs := []string{"* * * * *", "*/2 * * * *", "@every 1s", "@every 7s", "@every 20s"}
	for i := range rapid.IntRange(1, 5).Draw(rt, "entries") {
		e := each(t, fmt.Sprint("e", i), rapid.SampledFrom(specs).Draw(rt, "spec"))
		e.Spread = time.Duration(rapid.IntRange(0, 60).Draw(rt, "spread")) * time.Second
		e.Lanes = []Lane{{fmt.Sprint("t", i%2), 1 + i%2}, {"provider", 2}}
		s.takes[e.Key] = time.Duration(rapid.IntRange(0, 40_000).Draw(rt, "takes")) * time.Millisecond
		s.entries = append(s.entries, e)
	}
	least := 0
	if s.back {
		least = -1800
	}
	for range rapid.IntRange(0, 4).Draw(rt, "moves") {
		s.moves = append(s.moves, move{wait: time.Duration(rapid.IntRange(1, 120_000).Draw(rt, "wait")) * time.Millisecond,
			step: time.Duration(rapid.IntRange(least, 1800).Draw(rt, "step")) * time.Second})
	}
	return s
}

func (s *scenario) play(t *testing.T, rt *rapid.T) {
	l := &ledger{fired: map[string]int{}, closed: map[string]int{}, inLane: map[string]int{}}
	byKey := map[string]Entry{}
	for _, e := range s.entries {
		byKey[e.Key] = e
	}
	r := New(Options{Skipped: l.skipped, Fire: func(_ context.Context, t Tick) {
		l.enter(byKey[t.Key], t)
		time.Sleep(s.takes[t.Key])
		l.leave(byKey[t.Key])
	}})
	var mu sync.Mutex
	var skew time.Duration
	r.skew = func() time.Duration { mu.Lock(); defer mu.Unlock(); return skew }
	start := time.Now()
	r.Set(s.entries)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for _, m := range append(s.moves, move{wait: time.Minute}) {
		time.Sleep(m.wait)
		mu.Lock()
		skew += m.step
		mu.Unlock()
		r.Set(s.entries)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	s.judge(rt, r, l, start)
	cancel()
	if err := <-ended; err != nil {
		rt.Error(err)
	}
}

// judge compares while the loop stands still; runs that wait are neither fired nor skipped yet.
func (s *scenario) judge(rt *rapid.T, r *Runner, l *ledger, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.Lock()
	defer l.Unlock()
	if len(l.over) > 0 {
		rt.Errorf("lanes over their bound: %v", l.over)
	}
	for run, n := range l.fired {
		if n > 1 {
			rt.Errorf("%s fired %d times", run, n)
		}
	}
	if s.back {
		return
	}
	for _, e := range s.entries {
		want, offset := 0, e.Offset()
		for range Runs(e.Schedule, start.Add(-offset+1), r.read().wall.Add(-offset+1)) {
			want++
		}
		got := l.closed[e.Key]
		if r.entries[e.Key].waiter != nil {
			got++
		}
		if got != want {
			rt.Errorf("%s: %d runs accounted for, want %d", e.Key, got, want)
		}
	}
}
