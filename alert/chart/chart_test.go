package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"testing"
	"time"
)

var shanghai = time.FixedZone("CST", 8*3600)

// plot is an afternoon: normal until 14:05, slow from then on, two probes that failed.
func plot() Plot {
	to := time.Date(2026, 3, 1, 14, 21, 0, 0, shanghai)
	p := Plot{Title: "gw-eu / chat / long: TTFT", Zone: shanghai, From: to.Add(-3 * time.Hour), To: to, Began: time.Date(2026, 3, 1, 14, 5, 0, 0, shanghai)}
	for at := p.From; !at.After(to); at = at.Add(5 * time.Minute) {
		v := 2 + .25*math.Sin(float64(at.Unix())/700)
		if !at.Before(p.Began) {
			v *= 4
		}
		if at.Minute() == 6 || at.Equal(p.Began.Add(11*time.Minute)) {
			v = 0
		}
		p.Samples = append(p.Samples, Sample{at, v})
	}
	for at := p.From.Truncate(30 * time.Minute); at.Before(to); at = at.Add(30 * time.Minute) {
		mean := 2 + .2*math.Sin(float64(at.Unix())/5000)
		p.Bands = append(p.Bands, Band{From: at, To: at.Add(30 * time.Minute), Low: mean * .8, High: mean * 1.25, Mean: mean})
	}
	return p
}

func drawn(t *testing.T, p Plot) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, p); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("CHART_DIR"); dir != "" { // to look at them
		if err := os.WriteFile(dir+"/"+map[bool]string{true: "dark", false: "light"}[p.Dark]+".png", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b.Len() > 100_000 {
		t.Errorf("the picture has %d bytes", b.Len())
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func is(t *testing.T, what string, img image.Image, x, y float64, want color.NRGBA) {
	t.Helper()
	if got := color.NRGBAModel.Convert(img.At(int(x), int(y))); got != want {
		t.Errorf("%s at %.0f, %.0f is %v, want %v", what, x, y, got, want)
	}
}

func TestPicture(t *testing.T) {
	for _, dark := range []bool{false, true} {
		p := plot()
		p.Dark = dark
		img, ink, s := drawn(t, p), paletteOf(dark), scale{p: p, most: most(p)}
		if img.Bounds().Dx() != width || img.Bounds().Dy() != height {
			t.Fatalf("size %v", img.Bounds())
		}
		noon := time.Date(2026, 3, 1, 12, 11, 0, 0, shanghai)
		b := p.Bands[2]
		is(t, "background", img, 5, height-5, ink.back)
		is(t, "band", img, s.x(noon)+8, s.y(b.High)+4, ink.band)
		is(t, "above the band", img, s.x(noon)+8, s.y(b.High)-6, ink.back)
		last := p.Samples[len(p.Samples)-1]
		is(t, "the newest sample", img, s.x(last.At)-1, s.y(last.Value), ink.line)
		is(t, "the incident", img, s.x(p.To)-20, top+plotHeight-40, ink.trouble)
		is(t, "before the incident", img, s.x(p.Began)-8, top+60, ink.back)
		is(t, "a failure", img, s.x(p.Began.Add(11*time.Minute)), top+16, ink.bad)
	}
}

func TestSteps(t *testing.T) {
	for most := .001; most < 1000; most *= 1.37 {
		if n := most / valueStep(most); n < 2 || n > 6.01 {
			t.Errorf("%.4f: %.1f steps of %g", most, n, valueStep(most))
		}
	}
	f := func(hours float64, want int) {
		t.Helper()
		p := plot()
		p.From = p.To.Add(-time.Duration(hours * float64(time.Hour)))
		if got := ticks(p, timeStep(p.To.Sub(p.From))); len(got) != want || got[0].Minute()%5 != 0 || got[0].Location() != shanghai {
			t.Errorf("%g h: %d ticks %v, want %d", hours, len(got), got, want)
		}
	}
	f(1, 5)
	f(3, 6)
	f(24, 4)
}

func TestOddPlots(t *testing.T) {
	empty := Plot{From: time.Unix(0, 0), To: time.Unix(3600, 0)}
	drawn(t, empty)
	only := plot()
	for i := range only.Samples {
		only.Samples[i].Value = 0
	}
	only.Bands = nil
	only.Title = "a title that is far too long for the picture " + only.Title + only.Title + only.Title + only.Title
	drawn(t, only)
	if err := PNG(&bytes.Buffer{}, Plot{}); err == nil {
		t.Error("a plot without a span is drawn")
	}
}
