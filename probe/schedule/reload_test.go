package schedule

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestReloadFiresNothingThatTheScheduleDidNotAskFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "*/5 * * * *"))
		for range 20 {
			s.until(time.Since(s.start).Seconds() + 13)
			s.Set([]Entry{each(t, "a", "*/5 * * * *"), each(t, "b", "*/5 * * * *")})
		}
		s.until(600)
		s.want("300 fire a due 300", "300 fire b due 300", "600 fire a due 600", "600 fire b due 600")
		s.end()
	})
}

func TestReloadAtTheDueInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "* * * * *"))
		time.Sleep(time.Minute) // the loop and this goroutine wake at one instant
		s.Set([]Entry{each(t, "a", "* * * * *")})
		s.Set([]Entry{each(t, "a", "*/2 * * * *")})
		s.Set([]Entry{each(t, "a", "* * * * *")})
		s.until(61)
		s.want("60 fire a due 60")
		s.end()
	})
}

func TestReloadWithAnotherSpreadDoesNotRepeatARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := each(t, "gw-eu/chat/short", "*/10 * * * *")
		s := begin(t, e)
		s.until(600)
		s.want("600 fire gw-eu/chat/short due 600")
		e.Spread = DefaultSpread // the run of 600 would now be sent at 625.699
		s.Set([]Entry{e})
		s.until(1300)
		s.want("1225.699 fire gw-eu/chat/short due 1200")
		s.end()
	})
}

func TestReloadCutsOnlyWhatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lane := Lane{"target", 2}
		a, b, c := each(t, "a", "* * * * *", lane), each(t, "b", "* * * * *", lane), each(t, "c", "* * * * *", lane)
		s := prepare(t, a, b, c)
		s.take["a"], s.take["b"] = 30*time.Second, 30*time.Second
		s.run()
		s.until(65) // c waits
		s.Extra("c", []time.Time{s.start.Add(66 * time.Second)})
		s.Set([]Entry{a})
		s.until(119)
		s.want("60 fire a due 60", "60 fire b due 60", "65 cut b: entry was removed")
		if !s.Next("b").IsZero() || !s.Next("a").Equal(s.start.Add(2*time.Minute)) {
			t.Errorf("next: %v %v", s.Next("a"), s.Next("b"))
		}
		s.end()
	})
}

func TestReloadWithMoreRoomStartsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entries := func(n int) []Entry {
			return []Entry{each(t, "a", "* * * * *", Lane{"target", n}), each(t, "b", "* * * * *", Lane{"target", n})}
		}
		s := prepare(t, entries(1)...)
		s.take["a"], s.take["b"] = 30*time.Second, 30*time.Second
		s.run()
		s.until(61)
		s.Set(entries(1))
		s.until(63)
		s.want("60 fire a due 60")
		s.Set(entries(2))
		s.until(64)
		s.want("63 fire b due 60")
		s.Set(entries(1)) // two go on in a lane of one: no room until both ended
		s.until(119)
		s.want()
		s.end()
	})
}
