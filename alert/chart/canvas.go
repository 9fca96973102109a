package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// canvas is a picture that lines, shapes and words are drawn on. Coordinates are pixels from the upper left.
type canvas struct {
	img   *image.RGBA
	small font.Face
	large font.Face
}

// Sizes of the words: a phone shows the picture at about a third of its width.
const (
	smallType = 26
	largeType = 34
)

func newCanvas(w, h int, back color.Color) (*canvas, error) {
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, w, h))}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(back), image.Point{}, draw.Src)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	for size, face := range map[float64]*font.Face{smallType: &c.small, largeType: &c.large} {
		if *face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return nil, fmt.Errorf("make the font: %w", err)
		}
	}
	return c, nil
}

// point is a place on the canvas.
type point struct{ x, y float64 }

// fill fills a closed shape.
func (c *canvas) fill(shape []point, ink color.Color) {
	if len(shape) < 3 {
		return
	}
	r := vector.NewRasterizer(c.img.Bounds().Dx(), c.img.Bounds().Dy())
	r.MoveTo(float32(shape[0].x), float32(shape[0].y))
	for _, p := range shape[1:] {
		r.LineTo(float32(p.x), float32(p.y))
	}
	r.ClosePath()
	r.Draw(c.img, c.img.Bounds(), image.NewUniform(ink), image.Point{})
}

func (c *canvas) rect(x0, y0, x1, y1 float64, ink color.Color) {
	c.fill([]point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, ink)
}

// line draws one straight piece of a width.
func (c *canvas) line(a, b point, width float64, ink color.Color) {
	dx, dy := b.x-a.x, b.y-a.y
	n := math.Hypot(dx, dy)
	if n == 0 {
		return
	}
	ox, oy := -dy/n*width/2, dx/n*width/2
	c.fill([]point{{a.x + ox, a.y + oy}, {b.x + ox, b.y + oy}, {b.x - ox, b.y - oy}, {a.x - ox, a.y - oy}}, ink)
}

func (c *canvas) dot(p point, radius float64, ink color.Color) {
	var shape []point
	for i := range 16 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 16)
		shape = append(shape, point{p.x + radius*cos, p.y + radius*sin})
	}
	c.fill(shape, ink)
}

func (c *canvas) cross(p point, r, width float64, ink color.Color) {
	c.line(point{p.x - r, p.y - r}, point{p.x + r, p.y + r}, width, ink)
	c.line(point{p.x - r, p.y + r}, point{p.x + r, p.y - r}, width, ink)
}

// write writes a text whose foot begins at p; align is 0 for that, .5 for its middle, 1 for its end.
func (c *canvas) write(face font.Face, text string, p point, align float64, ink color.Color) {
	x := p.x - align*c.width(face, text)
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(int(math.Round(x)), int(math.Round(p.y)))}
	d.DrawString(text)
}

func (c *canvas) width(face font.Face, text string) float64 {
	return float64(font.MeasureString(face, text)) / 64
}

// fit shortens a text until it takes at most width.
func (c *canvas) fit(face font.Face, text string, width float64) string {
	r := []rune(text)
	for len(r) > 0 && c.width(face, string(r)) > width {
		r = r[:len(r)-1]
		if c.width(face, string(r)+"…") <= width {
			return string(r) + "…"
		}
	}
	return string(r)
}
