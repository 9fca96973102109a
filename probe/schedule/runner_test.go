package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stage is a Runner in a bubble with what it did, each line with the seconds since the bubble's start (2000-01-01 UTC).
type stage struct {
	*Runner
	t      *testing.T
	start  time.Time
	cancel context.CancelFunc
	ended  chan error

	mu    sync.Mutex
	lines []string
	skew  time.Duration
	take  map[string]time.Duration // how long Fire takes, by key
}

func begin(t *testing.T, entries ...Entry) *stage {
	s := prepare(t, entries...)
	s.run()
	return s
}

func prepare(t *testing.T, entries ...Entry) *stage {
	s := &stage{t: t, start: time.Now(), ended: make(chan error, 1), take: map[string]time.Duration{}}
	s.Runner = New(Options{Fire: s.fire, Skipped: s.skipped})
	s.Runner.skew = func() time.Duration {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.skew
	}
	s.Set(entries)
	return s
}

func (s *stage) run() {
	ctx, cancel := context.WithCancel(s.t.Context())
	s.cancel = cancel
	go func() { s.ended <- s.Run(ctx) }()
	synctest.Wait()
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%g ", time.Since(s.start).Seconds())+fmt.Sprintf(format, args...))
}

func (s *stage) fire(ctx context.Context, t Tick) {
	what := "fire"
	if t.Extra {
		what = "extra"
	}
	s.note("%s %s due %g", what, t.Key, t.Due.Sub(s.start).Seconds())
	s.mu.Lock()
	d := s.take[t.Key]
	s.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
		s.note("cut %s: %v", t.Key, context.Cause(ctx))
	}
}

func (s *stage) skipped(t Tick, why Skip, n int) {
	s.note("skip %s due %g %s %d", t.Key, t.Due.Sub(s.start).Seconds(), why, n)
}

func (s *stage) step(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew += d
}

// took sets how long runs of key take from now on.
func (s *stage) took(key string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take[key] = d
}

// until sleeps to the given second of the bubble and lets everything settle.
func (s *stage) until(seconds float64) {
	time.Sleep(time.Duration(seconds*float64(time.Second)) - time.Since(s.start))
	synctest.Wait()
}

// want compares what happened since the last call; goroutines of one instant come in any order.
func (s *stage) want(lines ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	seconds := func(line string) (v float64) {
		_, _ = fmt.Sscan(line, &v) // note begins every line with a number
		return v
	}
	slices.SortFunc(s.lines, func(a, b string) int {
		return cmp.Or(cmp.Compare(seconds(a), seconds(b)), cmp.Compare(a, b))
	})
	if !slices.Equal(s.lines, lines) {
		s.t.Errorf("got:\n%s\nwant:\n%s", strings.Join(s.lines, "\n"), strings.Join(lines, "\n"))
	}
	s.lines = nil
}

func (s *stage) end() {
	s.t.Helper()
	s.cancel()
	if err := <-s.ended; err != nil {
		s.t.Error(err)
	}
}

func each(t *testing.T, key, spec string, lanes ...Lane) Entry {
	return Entry{Key: key, Schedule: parsed(t, spec, "UTC"), Lanes: lanes}
}

func TestFiresExactlyOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "* * * * *"), each(t, "b", "@every 90s"))
		s.until(180)
		s.want("60 fire a due 60", "90 fire b due 90", "120 fire a due 120", "180 fire a due 180", "180 fire b due 180")
		s.end()
	})
}

func TestNothingFiresAtStartUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "0 * * * *"), each(t, "never", "0 0 29 2 1"))
		s.until(3599)
		s.want()
		s.until(3600)
		s.want("3600 fire a due 3600")
		s.end()
	})
}

func TestSpreadDelaysEveryRunAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := each(t, "gw-eu/chat/short", "*/10 * * * *")
		e.Spread = DefaultSpread
		if e.Offset() != 25_699*time.Millisecond {
			t.Fatal(e.Offset())
		}
		s := begin(t, e)
		if got := s.Next(e.Key); !got.Equal(s.start.Add(25_699 * time.Millisecond)) {
			t.Errorf("next is %v", got)
		}
		s.until(1300)
		s.want("25.699 fire gw-eu/chat/short due 0", "625.699 fire gw-eu/chat/short due 600", "1225.699 fire gw-eu/chat/short due 1200")
		s.end()
	})
}

// Two processes, one after the other, fire what one would have fired: nothing twice, nothing lost between.
func TestRestartKeepsEveryRunInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := each(t, "gw-eu/chat/short", "*/10 * * * *")
		e.Spread = DefaultSpread
		s := begin(t, e)
		s.until(610)
		s.end()
		again := begin(t, e)
		again.until(15.699)
		again.want("15.699 fire gw-eu/chat/short due -10")
		again.end()
		s.want("25.699 fire gw-eu/chat/short due 0")
		third := begin(t, e) // started at the very instant of that run
		third.until(590)
		third.want()
		third.end()
	})
}

func TestTickSaysWhenItWasMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Tick
		r := New(Options{Fire: func(_ context.Context, t Tick) { got = append(got, t) }})
		e := each(t, "gw-eu/chat/short", "*/10 * * * *")
		e.Spread = DefaultSpread
		start := time.Now()
		r.Set([]Entry{e})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Minute); cancel() }()
		if err := r.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !got[0].Due.Equal(start) || !got[0].Sched.Equal(start.Add(25_699*time.Millisecond)) {
			t.Errorf("%+v", got)
		}
		if got := r.Turned(); time.Since(got) > time.Second {
			t.Errorf("turned at %v", got)
		}
		if err := r.Run(ctx); err == nil {
			t.Error("a second Run is accepted")
		}
	})
}

func TestRunNeedsFire(t *testing.T) {
	if err := New(Options{}).Run(t.Context()); err == nil {
		t.Error("no error")
	}
}

func TestRunWithoutRoomWaitsAndThenIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := Lane{"target", 1}
		s := prepare(t, each(t, "a", "* * * * *", lane), each(t, "b", "* * * * *", lane))
		s.take["a"] = 4 * time.Second
		s.run()
		s.until(64)
		s.want("60 fire a due 60", "64 fire b due 60")
		s.took("a", 30*time.Second)
		s.until(150)
		s.want("120 fire a due 120", "130 skip b due 120 in_flight 1")
		s.end()
	})
}

// A hanging endpoint: earlier runs of the canary itself take the room.
func TestOverlapIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(t, each(t, "a", "@every 10s", Lane{"target", 2}, Lane{"provider", 0}))
		s.take["a"] = 60 * time.Second
		s.run()
		s.until(55)
		if n := s.InFlight(); n != 2 {
			t.Errorf("%d in flight", n)
		}
		s.want("10 fire a due 10", "20 fire a due 20", "40 skip a due 30 overlap 1", "50 skip a due 40 overlap 1")
		s.cancel()
		synctest.Wait()
		if n := s.InFlight(); n != 2 {
			t.Errorf("%d in flight after the end of ctx", n)
		}
		s.end()
		if since := time.Since(s.start); since != 80*time.Second {
			t.Errorf("Run returned after %v", since)
		}
	})
}

func TestWaitingRunNeverHoldsOthersUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := Lane{"provider", 3}
		s := prepare(t, each(t, "a1", "* * * * *", Lane{"a", 1}, provider), each(t, "a2", "* * * * *", Lane{"a", 1}, provider),
			each(t, "b1", "* * * * *", Lane{"b", 1}, provider), each(t, "c1", "* * * * *", Lane{"c", 1}, provider), each(t, "d1", "* * * * *", Lane{"d", 1}, provider))
		s.take["a1"] = 50 * time.Second
		s.take["b1"] = 2 * time.Second
		s.run()
		s.until(61)
		s.want("60 fire a1 due 60", "60 fire b1 due 60", "60 fire c1 due 60", "60 fire d1 due 60")
		s.until(100)
		s.want("70 skip a2 due 60 in_flight 1")
		s.end()
	})
}

func TestAtMostOneWaitingRunAnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := Lane{"target", 1}
		s := prepare(t, each(t, "a", "0 0 1 1 *", lane), each(t, "b", "@every 4s", lane))
		s.take["a"] = 60 * time.Second
		s.Extra("a", []time.Time{s.start.Add(time.Second)})
		s.run()
		s.until(19)
		s.want("1 extra a due 1", "8 skip b due 8 in_flight 1", "12 skip b due 12 in_flight 1", "14 skip b due 4 in_flight 1")
		s.end()
	})
}

func TestExtra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "* * * * *", Lane{"target", 1}))
		in := func(seconds ...float64) (at []time.Time) {
			for _, v := range seconds {
				at = append(at, s.start.Add(time.Duration(v*float64(time.Second))))
			}
			return at
		}
		s.Extra("nobody", in(1))
		s.Extra("a", in(5, 30, 35, 40))
		s.Extra("a", in(5, 30))
		s.until(31)
		s.want("5 extra a due 5", "30 extra a due 30")
		s.CancelExtra("a")
		s.CancelExtra("nobody")
		s.until(59)
		s.want()
		s.took("a", 70*time.Second)
		s.Extra("a", in(59, 119, 121)) // 119 waits and gives its place to the regular run of 120
		s.until(127)
		s.want("59 extra a due 59", "70 skip a due 60 overlap 1", "120 skip a due 119 overlap 1", "121 skip a due 121 overlap 1")
		s.until(129)
		s.want("129 fire a due 120")
		s.Extra("a", in(100)) // long past
		synctest.Wait()
		s.want("129 skip a due 100 missed 1")
		s.end()
	})
}

func TestCancelExtraDropsTheWaitingOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(t, each(t, "a", "@every 1h", Lane{"target", 1}), each(t, "b", "* * * * *", Lane{"target", 1}))
		s.take["b"] = 5 * time.Second
		s.run()
		s.Extra("a", []time.Time{s.start.Add(61 * time.Second)})
		s.until(62)
		s.CancelExtra("a")
		s.until(80)
		s.want("60 fire b due 60")
		s.end()
	})
}

func TestExtrasAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "@every 10h"))
		var at []time.Time
		for i := range maxExtras + 2 {
			at = append(at, s.start.Add(time.Duration(i+1)*time.Minute))
		}
		s.Extra("a", at)
		synctest.Wait()
		s.want("0 skip a due 3900 in_flight 1", "0 skip a due 3960 in_flight 1")
		s.end()
	})
}

func TestEndDropsWhatWaitsAndLetsRunsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, abandon := context.WithCancelCause(t.Context())
		defer abandon(nil)
		var cause error
		r := New(Options{BaseContext: base, Fire: func(ctx context.Context, _ Tick) { <-ctx.Done(); cause = context.Cause(ctx) }})
		r.Set([]Entry{each(t, "a", "* * * * *", Lane{"l", 1}), each(t, "b", "* * * * *", Lane{"l", 1})})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(61 * time.Second)
		cancel()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := r.InFlight(); n != 1 {
			t.Fatalf("%d in flight", n)
		}
		abandon(context.DeadlineExceeded)
		if err := <-ended; err != nil || cause != context.DeadlineExceeded || r.InFlight() != 0 {
			t.Errorf("error %v, cause %v, %d in flight", err, cause, r.InFlight())
		}
	})
}

func BenchmarkRunner(b *testing.B) {
	for _, n := range []int{500, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			entries := make([]Entry, n)
			s, err := Parse("* * * * *", time.UTC)
			if err != nil {
				b.Fatal(err)
			}
			for i := range entries {
				entries[i] = Entry{Key: fmt.Sprintf("t%d/chat/short", i), Schedule: s, Spread: DefaultSpread, Lanes: []Lane{{fmt.Sprintf("t%d", i/3), 4}, {"provider", 0}}}
			}
			r := New(Options{Fire: func(context.Context, Tick) {}})
			var skew time.Duration
			r.skew = func() time.Duration { return skew }
			r.Set(entries)
			r.seen = r.read()
			fired := 0
			b.ReportAllocs()
			for b.Loop() { // one virtual minute of loop turns, 100 ms apart
				for range 600 {
					skew += 100 * time.Millisecond
					r.turn()
				}
				r.runs.Wait()
				fired += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/run")
		})
	}
}
