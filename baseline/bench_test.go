package baseline

import (
	"testing"
	"time"
	"unsafe"

	"serin/probe"
)

func month(every time.Duration) (*Series, time.Time) {
	at := utc(3, 12, 12, 2)
	s := NewSeries(Key{Metric: probe.TTFT, Interval: every}, DefaultOptions(), DefaultThreshold())
	s.Load(made(at.AddDate(0, 0, -16), every, int(16*24*time.Hour/every), .4, .3, .2), nil, at)
	return s, at
}

// BenchmarkJudge is one value in a slot whose level is known.
func BenchmarkJudge(b *testing.B) {
	for _, every := range []time.Duration{time.Minute, five} {
		b.Run(every.String(), func(b *testing.B) {
			s, at := month(every)
			s.Judge(at, time.Second)
			b.ReportAllocs()
			for b.Loop() {
				s.Judge(at, time.Second)
			}
		})
	}
}

// BenchmarkNewSlot is the first value of a slot.
func BenchmarkNewSlot(b *testing.B) {
	s, at := month(five)
	b.ReportAllocs()
	for b.Loop() {
		s.levels = [2]*Level{}
		s.Judge(at, time.Second)
	}
}

// BenchmarkRenew is the first value after 00:00 or 12:00.
func BenchmarkRenew(b *testing.B) {
	s, at := month(five)
	for b.Loop() {
		s.Recompute()
		s.Judge(at, time.Second)
	}
}

// BenchmarkLoad is 15 imported days.
func BenchmarkLoad(b *testing.B) {
	at := utc(3, 12, 12, 2)
	list := made(at.AddDate(0, 0, -15), five, 15*288, .4, .3, .2)
	for b.Loop() {
		s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
		s.Load(list, nil, at)
	}
}

// BenchmarkMemory is what a series holds that has run for a month.
func BenchmarkMemory(b *testing.B) {
	var bytes, points int
	for b.Loop() {
		s := NewSeries(Key{Interval: five}, DefaultOptions(), DefaultThreshold())
		at := utc(3, 1, 0, 0)
		for range 30 * 288 {
			at = at.Add(five)
			s.Add(Point{At: at, Regular: true})
		}
		bytes, points = int(unsafe.Sizeof(*s))+cap(s.pts)*int(unsafe.Sizeof(point{})), len(s.pts)
	}
	b.ReportMetric(float64(bytes), "bytes/series")
	b.ReportMetric(float64(points), "points/series")
}
