package baseline

import (
	"math"
	"testing"
	"time"

	"serin/probe"
)

// profile is a kind of endpoint: scatter of one probe, of the minutes, of the day, and of queues and outliers.
type profile struct {
	name                               string
	probe, minutes, days, outlier, que float64
}

var profiles = []profile{
	{"steady", .06, .03, .03, .002, .05},
	{"typical", .15, .06, .06, .004, .15},
	{"noisy", .30, .10, .12, .008, .30},
}

// source draws from splitmix64; the order of draws is this file's own.
type source struct{ state uint64 }

func (s *source) uniform() float64 { return draw(&s.state) }
func (s *source) exp() float64     { return -math.Log(1 - s.uniform()) }
func (s *source) normal() float64 {
	return math.Sqrt(-2*math.Log(1-s.uniform())) * math.Cos(2*math.Pi*s.uniform())
}

// healthy makes days of TTFT, in seconds, of a healthy endpoint under a daily and weekly load, one value every five
// minutes: minutes' noise and a day's wander as autoregressive processes on a grid of a minute, lognormal probes,
// queues, outliers, and one value in a hundred missing (0).
func healthy(seed uint64, p profile, base float64, days int) []float64 {
	s := &source{state: 0x9E3779B97F4A7C15 ^ seed*0xBF58476D1CE4E5B9}
	ar := func(x, phi, sd float64) float64 { return phi*x + sd*math.Sqrt(1-phi*phi)*s.normal() }
	slow := math.Exp(-1. / 720)
	shared, own, wander := .7*p.minutes*s.normal(), .7*p.minutes*s.normal(), p.days*s.normal()
	var list []float64
	for m := range days * 1440 {
		shared, own, wander = ar(shared, .96, .7*p.minutes), ar(own, .96, .7*p.minutes), ar(wander, slow, p.days)
		if m%5 != 0 {
			continue
		}
		load := .5 * (1 + math.Sin(2*math.Pi*(float64(m%1440)/1440-.375)))
		if week := m / 1440 % 7; week >= 5 {
			load *= .45
		}
		rho := .25 + .5*load
		v := base * math.Exp(.4*load+shared+wander+own+p.probe*s.normal())
		if s.uniform() < p.que*rho*rho {
			v += base * .5 * rho / (1 - rho) * s.exp()
		}
		if s.uniform() < p.outlier {
			v *= min(20, 2+3*s.exp())
		}
		if s.uniform() < .01 {
			v = 0
		}
		list = append(list, v)
	}
	return list
}

// share counts what part of the judged values after the eighth day get each call.
func share(th Threshold, values []float64) (judged int, breach, calm float64) {
	s := NewSeries(Key{Metric: probe.TTFT, Interval: five}, DefaultOptions(), th)
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday
	n := map[Call]int{}
	for i, x := range values {
		t := at.Add(time.Duration(i) * five)
		if x == 0 {
			s.Miss(t, "failed")
			continue
		}
		v := s.Judge(t, seconds(x))
		s.Add(Point{At: t, Y: Y(seconds(x)), Regular: true, Res: v.Res})
		if i >= 8*288 {
			n[v.Call]++
		}
	}
	judged = n[Breach] + n[Calm] + n[Neither]
	return judged, float64(n[Breach]) / float64(judged), float64(n[Calm]) / float64(judged)
}

// Single values of a healthy endpoint, 52 days of six seeds a profile. An alert takes four of five, so a few in a
// hundred single breaches are what the rule stands on; the literal sentence breaches several times as often where
// values are tame.
func TestSingleBreachesOfHealthyEndpoints(t *testing.T) {
	literal := DefaultThreshold()
	literal.Literal = true
	f := func(p profile, mostBalanced, leastLiteral, leastCalm float64) {
		t.Helper()
		var breach, calm, plain float64
		const seeds = 6
		for seed := range uint64(seeds) {
			values := healthy(1000+seed, p, .45, 60)
			n, b, c := share(DefaultThreshold(), values)
			_, l, _ := share(literal, values)
			breach, calm, plain = breach+b/seeds, calm+c/seeds, plain+l/seeds
			if n < 50*288 {
				t.Errorf("%s, seed %d: only %d values judged", p.name, seed, n)
			}
		}
		t.Logf("%s: balanced %.2f %% breach, %.1f %% calm; literal %.2f %% breach", p.name, 100*breach, 100*calm, 100*plain)
		if breach > mostBalanced || plain < leastLiteral || calm < leastCalm {
			t.Errorf("%s: balanced %.2f %% breach and %.1f %% calm, literal %.2f %% breach", p.name, 100*breach, 100*calm, 100*plain)
		}
	}
	f(profiles[0], .03, .03, .8)
	f(profiles[1], .03, .03, .8)
	f(profiles[2], .03, .03, .8)
}
