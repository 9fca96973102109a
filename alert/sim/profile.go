package sim

import (
	"math"

	"serin/probe"
)

// Profile is a kind of endpoint. Scatters are standard deviations of ln value.
type Profile struct {
	Name    string
	probe   float64 // of one probe
	minutes float64 // of the minutes' processes, shared and own together
	day     float64 // of the slow process
	outlier float64 // chance that a probe is one
	queue   float64 // chance of a wait at full utilisation
}

// Profiles returns the profiles in the order of seed modulo 3.
func Profiles() [3]Profile {
	return [3]Profile{
		{Name: "steady", probe: .06, minutes: .03, day: .03, outlier: .002, queue: .05},
		{Name: "typical", probe: .15, minutes: .06, day: .06, outlier: .004, queue: .15},
		{Name: "noisy", probe: .30, minutes: .10, day: .12, outlier: .008, queue: .30},
	}
}

// profileOf returns a seed's profile as one metric sees it: tokens do not queue, and scatter half as much.
func profileOf(seed uint64, m probe.Metric) Profile {
	p := Profiles()[seed%3]
	if m == probe.TPOT {
		p.probe /= 2
		p.queue = 0
	}
	return p
}

// canaries is how many a target has in one scene: a size each.
const canaries = 3

// basesOf returns the canaries' values without load, seconds, and how far full load raises them, ln.
func basesOf(m probe.Metric) (bases [canaries]float64, rise float64) {
	if m == probe.TPOT {
		return [canaries]float64{.020, .022, .026}, .20
	}
	return [canaries]float64{.180, .450, 1.600}, .40
}

const (
	hourMinutes = 60
	dayMinutes  = 24 * hourMinutes
	weekend     = .45 // of the load, on days 5 and 6 of the week
)

// load is the load of a minute since the first Monday 00:00, from 0 to 1.
func load(minute int) float64 {
	tod := float64(minute%dayMinutes) / dayMinutes
	l := .5 * (1 + math.Sin(2*math.Pi*(tod-.375)))
	if minute/dayMinutes%7 >= 5 {
		l *= weekend
	}
	return l
}
