package baseline

import (
	"time"

	"serin/baseline/level"
)

// levelModel measures how the series' level moves, over the points of a window.
func (s *Series) levelModel(past points, asOf int64, sw float64) level.Model {
	g := level.NewGrid(asOf, time.Duration(int64(s.days)*day), s.key.Interval)
	for i := range past {
		if past[i].counts() {
			e, _ := s.e(&past[i])
			g.Put(past[i].at, e)
		}
	}
	return fitted(g, sw)
}

// fitted fits a level to a grid, and widens it by what so few days may have hidden.
func fitted(g level.Grid, probeSD float64) level.Model {
	return g.Fit(probeSD).Scaled(kappa(presetKappa, g.Days()) / presetKappa)
}
