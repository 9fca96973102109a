package sim

// Event is something that truly happened to a target. Start and End (exclusive) are minutes.
type Event struct {
	Name       string
	Start, End int
	peak       float64 // factor on every value
	rise       int     // minutes until the peak is reached, in a straight line; 0 = at once
	chance     float64 // of a probe to meet it; 0 = certain
}

// The names of the incidents, as reports show them.
const (
	x12for60  = "x1.2 60m"
	x12for360 = "x1.2 6h"
	x15for60  = "x1.5 60m"
	x15for360 = "x1.5 6h"
	x2for10   = "x2 10m"
	x2for60   = "x2 60m"
	x5for10   = "x5 10m"
	x5for60   = "x5 60m"
	ramp3h    = "ramp x2 3h+1h"
	x3half    = "x3 half of the probes 2h"
	ramp18h   = "ramp x2 18h+6h"
	after3d   = "x2 60m, 3 d after the shift"
	after9d   = "x2 60m, 9 d after the shift"
)

// incidentNames lists the kinds of the incident stream.
func incidentNames() []string {
	return []string{x12for60, x12for360, x15for60, x15for360, x2for10, x2for60, x5for10, x5for60, ramp3h, x3half}
}

// incident returns the event of one kind that starts at a minute.
func incident(name string, start int) Event {
	e := Event{Name: name, Start: start}
	length := 0
	switch name {
	case x12for60:
		e.peak, length = 1.2, 60
	case x12for360:
		e.peak, length = 1.2, 360
	case x15for60:
		e.peak, length = 1.5, 60
	case x15for360:
		e.peak, length = 1.5, 360
	case x2for10:
		e.peak, length = 2, 10
	case x2for60, after3d, after9d:
		e.peak, length = 2, 60
	case x5for10:
		e.peak, length = 5, 10
	case x5for60:
		e.peak, length = 5, 60
	case ramp3h:
		e.peak, e.rise, length = 2, 180, 240
	case x3half:
		e.peak, e.chance, length = 3, .5, 120
	case ramp18h:
		e.peak, e.rise, length = 2, 18*60, 24*60
	}
	e.End = start + length
	return e
}

// step reports whether the event is a step of ×1.5 and more that lasts an hour and more: what delays are measured on.
func (e Event) step() bool {
	return e.rise == 0 && e.chance == 0 && e.peak >= 1.5 && e.End-e.Start >= 60
}

// factor is what the event does to a value of a minute inside it; luck is in [0, 1).
func (e Event) factor(minute int, luck float64) float64 {
	if e.chance > 0 && luck >= e.chance {
		return 1
	}
	if in := minute - e.Start; in < e.rise {
		return 1 + (e.peak-1)*float64(in)/float64(e.rise)
	}
	return e.peak
}

// incidentsOf fills the time from day 10 on: all kinds in a shuffled order, again and again, 48 to 96 h from start to
// start.
func incidentsOf(s *source, minutes int) []Event {
	names := incidentNames()
	var list []Event
	var order []int
	start := 10 * dayMinutes
	for {
		start += int(s.between(48*hourMinutes, 96*hourMinutes))
		if len(order) == 0 {
			order = s.order(len(names))
		}
		e := incident(names[order[0]], start)
		order = order[1:]
		if e.End > minutes {
			return list
		}
		list = append(list, e)
	}
}

// rampsOf are slow ramps, 8 to 10 days apart, so that none is in the window of the next.
func rampsOf(s *source, minutes int) []Event {
	var list []Event
	start := 10 * dayMinutes
	for {
		e := incident(ramp18h, start+int(s.between(0, dayMinutes)))
		if e.End > minutes {
			return list
		}
		list = append(list, e)
		start = e.Start + int(s.between(8*dayMinutes, 9*dayMinutes))
	}
}

// outagesOf are the prober's own: two hours in each 30 days.
func outagesOf(s *source, minutes int) []Event {
	var list []Event
	for block := 0; block < minutes; block += 30 * dayMinutes {
		start := block + int(s.between(0, 30*dayMinutes-120))
		list = append(list, Event{Name: "prober out", Start: start, End: start + 120})
	}
	return list
}

// at returns the event that a minute lies in.
func at(list []Event, minute int) (Event, bool) {
	for _, e := range list {
		if minute >= e.Start && minute < e.End {
			return e, true
		}
	}
	return Event{}, false
}
