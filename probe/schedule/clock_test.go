package schedule

import (
	"testing"
	"testing/synctest"
	"time"
)

// A suspend and a step forward look alike: the wall clock runs away from the monotonic one.
func TestStepForwardIsCountedAndNotReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "* * * * *"), each(t, "b", "*/10 * * * *"))
		s.until(70)
		s.want("60 fire a due 60")
		s.step(time.Hour) // 70 s → 3670 s
		s.until(72)
		s.want("71 skip a due 120 missed 60", "71 skip b due 600 missed 6")
		s.until(140)
		s.want("120 fire a due 3720")
		s.end()
	})
}

// The run that fell due just before the step is fired: it was not slept through.
func TestStepForwardRightAfterADueRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(t, each(t, "a", "* * * * *"))
		s.until(61)
		s.step(59 * time.Second) // 120 s
		s.run()
		s.want("61 fire a due 60", "61 skip a due 120 missed 1")
		s.until(121)
		s.want("121 fire a due 180")
		s.end()
	})
}

func TestStepForwardOfYearsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "@every 1s"))
		s.until(2)
		s.want("1 fire a due 1", "2 fire a due 2")
		s.step(50 * 365 * 24 * time.Hour)
		s.until(4)
		s.want("3 fire a due 3", "3 skip a due 4 missed 100000", "4 fire a due 1.576800004e+09")
		s.end()
	})
}

func TestStepForwardSkipsExtras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "0 0 1 1 *"))
		s.Extra("a", []time.Time{s.start.Add(30 * time.Second), s.start.Add(600 * time.Second)})
		s.until(10)
		s.step(5 * time.Minute)
		s.until(400)
		s.want("11 skip a due 30 missed 1", "300 extra a due 600")
		s.end()
	})
}

func TestStepBackFiresNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "* * * * *"))
		s.until(130)
		s.want("60 fire a due 60", "120 fire a due 120")
		s.step(-100 * time.Second) // 130 s → 30 s
		s.Extra("a", nil)
		s.until(279)
		s.want()
		s.Set([]Entry{each(t, "a", "*/1 * * * *")}) // a changed schedule meanwhile does not repeat either
		s.until(340)
		s.want("280 fire a due 180", "340 fire a due 240")
		s.end()
	})
}

func TestLongStepBackStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "0 * * * *"))
		s.until(7200)
		s.want("3600 fire a due 3600", "7200 fire a due 7200")
		s.step(-2 * time.Hour)
		s.until(10800)
		s.want("10800 fire a due 3600")
		s.end()
	})
}

func TestStepBackKeepsTheDistanceOfExtras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, each(t, "a", "0 0 1 1 *"))
		s.Extra("a", []time.Time{s.start.Add(30 * time.Second)})
		s.until(10)
		s.step(-10 * time.Minute)
		s.until(100)
		s.want("30 extra a due -570")
		s.end()
	})
}

// A process that was stopped: both clocks went on. The latest run within the wait is fired, the others are missed.
func TestStoppedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(t, each(t, "a", "* * * * *"), each(t, "b", "@every 2s"), each(t, "c", "*/5 * * * *"))
		s.until(605)
		s.run()
		s.want("605 fire a due 600", "605 fire b due 604", "605 fire c due 600",
			"605 skip a due 60 missed 9", "605 skip b due 2 missed 301", "605 skip c due 300 missed 1")
		s.until(606)
		s.want("606 fire b due 606")
		s.end()
	})
}

func TestStoppedLongerThanTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prepare(t, each(t, "a", "* * * * *"))
		s.until(130)
		s.run()
		s.want("130 fire a due 120", "130 skip a due 60 missed 1")
		s.end()
		late := prepare(t, each(t, "a", "* * * * *"))
		late.until(60) // 190
		time.Sleep(2 * time.Second)
		late.run()
		late.want("62 skip a due 50 missed 1")
		late.end()
	})
}
