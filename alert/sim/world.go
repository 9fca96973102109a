package sim

import (
	"math"
	"time"

	"serin/probe"
)

// Course is what a world brings beside a healthy endpoint.
type Course string

// The courses.
const (
	Healthy   Course = "healthy"
	Incidents Course = "incidents" // one each 48 to 96 h
	Shift     Course = "shift"     // ×1.4 for good, and ×2 for an hour 3 and 9 days later
	Ramp      Course = "ramp"      // to ×2 over 18 h, held for 6 h
	Wander    Course = "wander"    // healthy, but its slow process is twice as wide
)

// Start is the first minute of every world: a Monday, 00:00 UTC.
func Start() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// shiftBy is how far the shift course moves the level for good.
const shiftBy = 1.4

// World is one target's life as one metric sees it. It is the same whatever rule looks at it.
type World struct {
	Seed    uint64
	Metric  probe.Metric
	Course  Course
	Profile Profile
	Events  []Event
	ShiftAt int // minute of the shift; 0 = none
	Minutes int

	key     uint64      // of its streams
	outages []Event     // of the prober
	clock   int         // minutes that the load's clock jumps ahead at day 30
	level   [][]float64 // by canary: seconds at each minute, without what is one probe's own
	grid    [][]float64 // by canary: a probe's value at each whole minute, seconds; NaN = missing
}

// NewWorld makes days of a seed's world.
func NewWorld(seed uint64, m probe.Metric, c Course, days int) *World {
	return newWorld(seed, m, c, days, canaries)
}

func newWorld(seed uint64, m probe.Metric, c Course, days, canaries int) *World {
	w := &World{Seed: seed, Metric: m, Course: c, Profile: profileOf(seed, m), Minutes: days * dayMinutes}
	if c == Wander {
		w.Profile.day *= 2
	}
	if seed%4 == 3 {
		w.clock = hourMinutes
	}
	w.key = seed + map[Course]uint64{Incidents: 1000, Shift: 2000, Ramp: 3000}[c]
	w.happen(newSource(w.key, w.metricPart(), 77))
	w.level, w.grid = make([][]float64, canaries), make([][]float64, canaries)
	w.fill()
	return w
}

func (w *World) metricPart() uint64 {
	if w.Metric == probe.TPOT {
		return 1
	}
	return 0
}

// happen draws outages and events.
func (w *World) happen(s *source) {
	w.outages = outagesOf(s, w.Minutes)
	switch w.Course {
	case Incidents:
		w.Events = incidentsOf(s, w.Minutes)
	case Ramp:
		w.Events = rampsOf(s, w.Minutes)
	case Shift:
		w.ShiftAt = 20*dayMinutes + int(s.between(0, dayMinutes))
		for _, e := range []Event{incident(after3d, w.ShiftAt+3*dayMinutes), incident(after9d, w.ShiftAt+9*dayMinutes)} {
			if e.End <= w.Minutes {
				w.Events = append(w.Events, e)
			}
		}
	}
}

// fill draws every minute: first the shared processes, then each canary's own and a probe of it.
func (w *World) fill() {
	shared := w.shared()
	bases, rise := basesOf(w.Metric)
	for k := range w.grid {
		s := newSource(w.key, w.metricPart(), 10+uint64(k))
		own := newWander(.96, .7*w.Profile.minutes, s)
		w.level[k] = make([]float64, w.Minutes)
		w.grid[k] = make([]float64, w.Minutes)
		for m := range w.Minutes {
			w.level[k][m] = bases[k%canaries] * math.Exp(rise*w.load(m)+shared[m]+own.step(s))
			w.grid[k][m] = w.draw(k, m, s)
		}
	}
}

func (w *World) shared() []float64 {
	s := newSource(w.key, w.metricPart(), 1)
	fast := newWander(.96, .7*w.Profile.minutes, s)
	slow := newWander(math.Exp(-1./720), w.Profile.day, s)
	list := make([]float64, w.Minutes)
	for m := range list {
		list[m] = fast.step(s) + slow.step(s)
	}
	return list
}

func (w *World) load(minute int) float64 {
	if minute >= 30*dayMinutes {
		minute += w.clock
	}
	return load(minute)
}

// draw is one probe of a canary in a minute, seconds; NaN = missing. It takes the same number of uniforms from s
// whatever happens, so that an incident changes no other value.
func (w *World) draw(k, minute int, s *source) float64 {
	bases, _ := basesOf(w.Metric)
	p := w.Profile
	v := w.level[k][minute] * math.Exp(p.probe*s.normal())
	rho := .25 + .5*w.load(minute)
	waits, wait := s.uniform(), s.exp()
	if waits < p.queue*rho*rho {
		v += bases[k%canaries] * .5 * rho / (1 - rho) * wait
	}
	odd, far := s.uniform(), s.exp()
	if odd < p.outlier {
		v *= min(20, 2+3*far)
	}
	lost, luck := s.uniform(), s.uniform()
	if lost < .01 {
		return math.NaN()
	}
	return v * w.factor(minute, luck)
}

// factor is what shift and incident do to a value.
func (w *World) factor(minute int, luck float64) float64 {
	f := 1.0
	if w.ShiftAt > 0 && minute >= w.ShiftAt {
		f = shiftBy
	}
	if e, ok := at(w.Events, minute); ok {
		f *= e.factor(minute, luck)
	}
	return f
}

// Out reports whether the prober itself is out in a minute.
func (w *World) Out(minute int) bool {
	_, out := at(w.outages, minute)
	return out
}

// Probe returns what a probe of a canary measures that is sent at a time; false = missing. On a whole minute it is the
// grid's, between two it has draws of its own, keyed by its second.
func (w *World) Probe(k int, sent time.Time) (time.Duration, bool) {
	since := sent.Sub(Start())
	minute := int(since / time.Minute)
	v := w.grid[k][minute]
	if since%time.Minute != 0 {
		v = w.draw(k, minute, newSource(w.key, w.metricPart(), 10+uint64(k), uint64(since/time.Second)))
	}
	if math.IsNaN(v) {
		return 0, false
	}
	return time.Duration(v * float64(time.Second)), true
}
