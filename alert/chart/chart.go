// Package chart draws one series of an incident as a picture: what was measured, what is normal, and since when there is
// trouble. It knows nothing of alerts and channels.
package chart

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"time"
)

// Plot is what a picture shows. Values are seconds.
type Plot struct {
	Title    string // what is measured, of what
	Zone     *time.Location
	From, To time.Time
	Samples  []Sample // by time
	Bands    []Band   // by time; they may leave gaps
	Began    time.Time
	Ended    time.Time // zero = it lasts
	Dark     bool
}

// Sample is one probe; Value 0 is one that failed.
type Sample struct {
	At    time.Time
	Value float64
}

// Band is what is normal from one time to another.
type Band struct {
	From, To        time.Time
	Low, High, Mean float64
}

// Size of the picture, pixels, and of the room around the plot.
const (
	width, height                = 1200, 640
	left, right, top, foot       = 130, 30, 110, 70
	plotWidth, plotHeight        = width - left - right, height - top - foot
	lineWidth, dotSize, crossing = 4, 6, 10
)

// palette is the colours of a picture, chosen to be told apart without red and green too: what is normal is an area, what
// was measured a line, a failure a cross.
type palette struct{ back, grid, ink, faint, band, mean, line, bad, trouble color.NRGBA }

func paletteOf(dark bool) palette {
	if dark {
		return palette{back: rgb(0x1a1d21), grid: rgb(0x3a3f45), ink: rgb(0xf1f1f1), faint: rgb(0xb8bcc2), band: rgb(0x21544a),
			mean: rgb(0x4fb8a0), line: rgb(0x7db7ff), bad: rgb(0xff6b57), trouble: rgb(0x4a2a2a)}
	}
	return palette{back: rgb(0xffffff), grid: rgb(0xdddddd), ink: rgb(0x1d1c1d), faint: rgb(0x5c5f63), band: rgb(0xbfe6d8),
		mean: rgb(0x2c8a70), line: rgb(0x1f5fbf), bad: rgb(0xc92a2a), trouble: rgb(0xfde0dd)}
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// PNG writes the picture. The error is that of the font or of w; a span without length is one too.
func PNG(w io.Writer, p Plot) error {
	if !p.To.After(p.From) {
		return fmt.Errorf("draw a chart: it ends at %s, before it begins", p.To)
	}
	if p.Zone == nil {
		p.Zone = time.UTC
	}
	ink := paletteOf(p.Dark)
	c, err := newCanvas(width, height, ink.back)
	if err != nil {
		return err
	}
	s := scale{p: p, most: most(p)}
	s.shade(c, ink)
	s.axes(c, ink)
	s.bands(c, ink)
	s.samples(c, ink)
	c.write(c.large, c.fit(c.large, p.Title, width-2*right), point{right, 48}, 0, ink.ink)
	legend(c, ink)
	if err := png.Encode(w, c.img); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// legend says what the signs mean.
func legend(c *canvas, ink palette) {
	x := float64(right)
	next := func(text string, sign func(x float64)) {
		sign(x)
		c.write(c.small, text, point{x + 44, 90}, 0, ink.faint)
		x += 44 + c.width(c.small, text) + 36
	}
	next("measured", func(x float64) {
		c.line(point{x, 82}, point{x + 34, 82}, lineWidth, ink.line)
		c.dot(point{x + 17, 82}, dotSize, ink.line)
	})
	next("normal range", func(x float64) { c.rect(x, 70, x+34, 94, ink.band) })
	next("failed", func(x float64) { c.cross(point{x + 17, 82}, crossing, lineWidth, ink.bad) })
	next("incident", func(x float64) { c.rect(x, 70, x+34, 94, ink.trouble) })
}

// most is the top of the scale: somewhat above all that is shown.
func most(p Plot) float64 {
	m := 0.
	for _, s := range p.Samples {
		m = max(m, s.Value)
	}
	for _, b := range p.Bands {
		m = max(m, b.High)
	}
	if m == 0 || math.IsInf(m, 0) || math.IsNaN(m) {
		return 1
	}
	return m * 1.12
}

// scale turns time and value into places.
type scale struct {
	p    Plot
	most float64
}

func (s scale) x(t time.Time) float64 {
	share := float64(t.Sub(s.p.From)) / float64(s.p.To.Sub(s.p.From))
	return left + plotWidth*min(max(share, 0), 1)
}

func (s scale) y(v float64) float64 { return top + plotHeight*(1-min(max(v/s.most, 0), 1)) }

// shade lays the incident's time behind everything.
func (s scale) shade(c *canvas, ink palette) {
	end := s.p.Ended
	if end.IsZero() {
		end = s.p.To
	}
	if !s.p.Began.IsZero() && end.After(s.p.From) {
		c.rect(s.x(s.p.Began), top, max(s.x(end), s.x(s.p.Began)+2), top+plotHeight, ink.trouble)
	}
}

// axes draws both axes with their words.
func (s scale) axes(c *canvas, ink palette) {
	step := valueStep(s.most)
	for v := 0.; v < s.most; v += step {
		y := s.y(v)
		c.line(point{left, y}, point{left + plotWidth, y}, 2, ink.grid)
		c.write(c.small, secondsText(v, step), point{left - 14, y + 9}, 1, ink.faint)
	}
	every := timeStep(s.p.To.Sub(s.p.From))
	for _, at := range ticks(s.p, every) {
		x := s.x(at)
		c.line(point{x, top + plotHeight}, point{x, top + plotHeight + 10}, 3, ink.faint)
		c.write(c.small, at.Format("15:04"), point{x, top + plotHeight + 44}, .5, ink.faint)
	}
	c.write(c.small, s.p.To.In(s.p.Zone).Format("2 Jan -07:00"), point{width - right, 90}, 1, ink.faint)
}

// ticks are the whole steps of the wall clock within the plot, away from its edges.
func ticks(p Plot, every time.Duration) []time.Time {
	from := p.From.In(p.Zone)
	y, m, d := from.Date()
	var list []time.Time
	for i := 0; i < 1000; i++ {
		at := time.Date(y, m, d, 0, 0, int(time.Duration(i)*every/time.Second), 0, p.Zone)
		if at.After(p.To.Add(-every / 6)) {
			break
		}
		if at.After(p.From.Add(every / 6)) {
			list = append(list, at)
		}
	}
	return list
}

// timeStep is the distance of two ticks: at most seven fit.
func timeStep(span time.Duration) time.Duration {
	steps := []time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}
	i := slices.IndexFunc(steps, func(s time.Duration) bool { return span/s <= 7 })
	if i < 0 {
		return 24 * time.Hour
	}
	return steps[i]
}

// valueStep is a round distance of which three to six fit below a value.
func valueStep(most float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(most/3)))
	for _, n := range []float64{1, 2, 5, 10} {
		if most/(n*unit) <= 6 {
			return n * unit
		}
	}
	return 10 * unit
}

// secondsText writes a value of an axis with a step: 0, 200 ms, 1.5 s.
func secondsText(v, step float64) string {
	switch {
	case v == 0:
		return "0"
	case step < .1:
		return fmt.Sprintf("%.4g ms", v*1000)
	}
	return fmt.Sprintf("%.4g s", v)
}

// bands draws what is normal as an area, its middle as a line.
func (s scale) bands(c *canvas, ink palette) {
	for _, b := range s.p.Bands {
		x0, x1 := s.x(b.From), s.x(b.To)
		c.rect(x0, s.y(b.High), x1, s.y(b.Low), ink.band)
		c.line(point{x0, s.y(b.Mean)}, point{x1, s.y(b.Mean)}, 2, ink.mean)
	}
}

// samples draws what was measured: a line through what came, a cross at the top for what did not.
func (s scale) samples(c *canvas, ink palette) {
	last := point{}
	for _, v := range s.p.Samples {
		if v.At.Before(s.p.From) || v.At.After(s.p.To) {
			continue
		}
		if !(v.Value > 0) {
			c.cross(point{s.x(v.At), top + 16}, crossing, lineWidth, ink.bad)
			last = point{}
			continue
		}
		at := point{s.x(v.At), s.y(v.Value)}
		if last != (point{}) {
			c.line(last, at, lineWidth, ink.line)
		}
		c.dot(at, dotSize, ink.line)
		last = at
	}
}
