package baseline

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTodayMoves holds the window that moves on against one made anew, over values that come late, twice or after days, levels
// that are accepted and taken back, series that come and go, and a history that is forgotten or loaded again.
func TestTodayMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := rapid.SampledFrom([]time.Duration{time.Minute, five, time.Hour}).Draw(t, "interval")
		series := make([]*Series, rapid.IntRange(1, 3).Draw(t, "series"))
		for i := range series {
			series[i] = NewSeries(Key{Interval: interval}, DefaultOptions(), DefaultThreshold())
		}
		at := utc(3, 12, 12, 0)
		var moving intraday
		first, asked := at, series
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			s := series[rapid.IntRange(0, len(series)-1).Draw(t, "of")]
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				at = at.Add(time.Duration(rapid.IntRange(-300, 3000).Draw(t, "minutes")) * time.Minute)
			case 1:
				late := time.Duration(rapid.IntRange(0, 240).Draw(t, "late")) * time.Minute
				e := rapid.Float64Range(-2, 2).Draw(t, "late e")
				s.Add(Point{At: at.Add(-late), Regular: true, Res: Residual{E: e, R: e, Judged: true}})
			case 2:
				first = at.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "back")) * time.Minute)
				s.Rescale(first, at, .3)
			case 3:
				s.Unscale(first, at, at.Add(interval))
			case 4:
				s.Forget()
			case 5:
				st := s.State()
				s.Load(s.Points(), &st, at)
			case 6:
				asked = slices.Clone(series[:rapid.IntRange(1, len(series)).Draw(t, "asked")])
			default:
				for range 10 {
					at = at.Add(interval)
					for _, s := range series {
						e := rapid.Float64Range(-.3, .3).Draw(t, "e")
						s.Add(Point{At: at, Regular: true, Res: Residual{E: e, R: e, Judged: true}})
					}
				}
			}
			var anew intraday
			got, want := moving.offset(at.UnixNano(), interval, 4, asked...), anew.offset(at.UnixNano(), interval, 4, asked...)
			if !slices.Equal(moving.e, anew.e) || got != want {
				t.Fatalf("at %v the offset is %v of %v, and made anew %v of %v", at, got, moving.e, want, anew.e)
			}
		}
	})
}
