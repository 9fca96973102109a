package level

import (
	"math"
	"time"
)

// Grid holds the residuals of a window by time, one cell an interval. Instants are Unix nanoseconds.
type Grid struct {
	from, length int64
	cells        []float64
}

// NewGrid returns an empty grid of the window that ends at an instant.
func NewGrid(end int64, window, interval time.Duration) Grid {
	length := max(int64(interval), 1)
	g := Grid{from: end - int64(window), length: length, cells: make([]float64, int64(window)/length+1)}
	for i := range g.cells {
		g.cells[i] = math.NaN()
	}
	return g
}

// Put stores a residual in the cell of its instant; outside of the window it goes into the nearest cell.
func (g Grid) Put(at int64, e float64) {
	g.cells[min(max((at-g.from)/g.length, 0), int64(len(g.cells)-1))] = e
}

// Days is how many days back the residuals reach.
func (g Grid) Days() int {
	for i, e := range g.cells {
		if !math.IsNaN(e) {
			return int(math.Round(float64(int64(len(g.cells)-i)*g.length) / float64(24*time.Hour)))
		}
	}
	return 0
}

// Fit measures a model from the grid.
func (g Grid) Fit(probeSD float64) Model { return Fit(g.cells, time.Duration(g.length), probeSD) }
