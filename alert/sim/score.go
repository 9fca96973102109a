package sim

import (
	"math"
	"slices"
	"time"

	"serin/alert"
	"serin/probe"
)

const (
	scoredFrom = 8 * dayMinutes // before it a rule still learns
	trueAfter  = 30             // minutes after an incident in which an alert is still its
	caughtBy   = 15             // minutes after an incident in which it can still be caught
	monthLong  = 43200          // minutes
)

// Share is how many of some events were caught.
type Share struct{ Caught, Of int }

// Part returns the share, 0 to 1; false when there were none.
func (s Share) Part() (float64, bool) { return float64(s.Caught) / float64(max(1, s.Of)), s.Of > 0 }

func (s Share) plus(o Share) Share { return Share{s.Caught + o.Caught, s.Of + o.Of} }

// Rate is how many alerts came in so many series-months.
type Rate struct {
	Alerts int
	Months float64
}

// PerMonth returns alerts per series and month; false when nothing was watched.
func (r Rate) PerMonth() (float64, bool) {
	if r.Months == 0 {
		return 0, false
	}
	return float64(r.Alerts) / r.Months, true
}

func (r Rate) plus(o Rate) Rate { return Rate{r.Alerts + o.Alerts, r.Months + o.Months} }

// Of names a kind of event, or all of a profile's time, on one profile.
type Of struct{ Event, Profile string }

// Tally is what one rule did on worlds of one course. Tallies add up.
type Tally struct {
	False   map[string]Rate // by profile, from day 8 on
	Early   Rate            // before
	Caught  map[Of]Share
	Delays  []time.Duration // of steps of ×1.5 and more that last an hour and more
	Flaps   int             // further alerts in windows of caught incidents
	Hits    int             // caught incidents of all kinds
	Regular int             // probes
	Extra   int             // re-probes
	Shifts  Shifts
}

// Shifts is what series made of a level that rose for good, in its first days.
type Shifts struct {
	Noticed  int // series that an alert fired on
	Openings int // alerts of them
	Closed   int // series of them on which none fires any more at the end of these days
}

// shiftDone is in how many days a level that rose for good should be one alert that is over.
const shiftDone = 5

func (s Shifts) plus(o Shifts) Shifts {
	return Shifts{s.Noticed + o.Noticed, s.Openings + o.Openings, s.Closed + o.Closed}
}

func newTally() *Tally { return &Tally{False: map[string]Rate{}, Caught: map[Of]Share{}} }

// Score holds the alerts of one world against its truth: those of each canary, or those of the target as a whole.
func Score(w *World, o Outcome, perTarget bool) *Tally {
	t := newTally()
	t.Regular, t.Extra = o.Regular, o.Extra
	keys := []string{targetName}
	if !perTarget {
		keys = canaryKeys()
	}
	for _, series := range bySeries(w, o, keys) {
		t.series(w, series)
	}
	return t
}

func canaryKeys() []string {
	keys := make([]string, 0, canaries)
	for _, c := range watchedTarget(alert.Rule{}, probe.TTFT, time.Minute) {
		keys = append(keys, c.Canary.Key())
	}
	return keys
}

// bySeries sorts the episodes of the world's metric by series; one without any has an empty list.
func bySeries(w *World, o Outcome, keys []string) [][]Episode {
	lists := make([][]Episode, len(keys))
	for _, e := range o.Episodes {
		if k := slices.Index(keys, e.Series); k >= 0 && e.Kind == alert.Kind(w.Metric) {
			lists[k] = append(lists[k], e)
		}
	}
	return lists
}

func (t *Tally) series(w *World, list []Episode) {
	for _, e := range w.Events {
		t.event(w, e, list)
	}
	wrong, early := 0, 0
	for _, ep := range list {
		switch {
		case ep.Start.Before(minuteTime(scoredFrom)):
			early++
		case !w.explains(ep.Start):
			wrong++
		}
	}
	name := w.Profile.Name
	t.False[name] = t.False[name].plus(Rate{wrong, float64(max(0, w.Minutes-scoredFrom)) / monthLong})
	t.Early = t.Early.plus(Rate{early, float64(min(w.Minutes, scoredFrom)) / monthLong})
	if w.ShiftAt > 0 {
		t.Shifts = t.Shifts.plus(w.shifted(list))
	}
}

// event scores one incident on one series.
func (t *Tally) event(w *World, e Event, list []Episode) {
	starts := startsIn(list, e.Start, e.End+trueAfter)
	of := Of{e.Name, w.Profile.Name}
	share := Share{Of: 1}
	if len(starts) > 0 && !starts[0].After(minuteTime(e.End+caughtBy)) {
		share.Caught = 1
		t.Hits++
		t.Flaps += len(starts) - 1
		if e.step() {
			t.Delays = append(t.Delays, starts[0].Sub(minuteTime(e.Start)))
		}
	}
	t.Caught[of] = t.Caught[of].plus(share)
}

// explains reports whether an alert that starts at a time is true. The shift's own is not scored: it explains its first
// days.
func (w *World) explains(at time.Time) bool {
	inside := func(from, to int) bool { return !at.Before(minuteTime(from)) && !at.After(minuteTime(to)) }
	if w.ShiftAt > 0 && inside(w.ShiftAt, w.ShiftAt+shiftDone*dayMinutes) {
		return true
	}
	return slices.ContainsFunc(w.Events, func(e Event) bool { return inside(e.Start, e.End+trueAfter) })
}

// shifted is what a series' alerts made of the shift, without those that an incident began.
func (w *World) shifted(list []Episode) (s Shifts) {
	from, to := minuteTime(w.ShiftAt), minuteTime(w.ShiftAt+shiftDone*dayMinutes)
	firing := false
	for _, ep := range list {
		byIncident := slices.ContainsFunc(w.Events, func(e Event) bool { return len(startsIn([]Episode{ep}, e.Start, e.End+trueAfter)) > 0 })
		if ep.Slower || byIncident || ep.Start.Before(from) || ep.Start.After(to) {
			continue
		}
		s.Openings++
		firing = firing || ep.End.IsZero() || ep.End.After(to)
	}
	if s.Openings > 0 {
		s.Noticed = 1
		if !firing {
			s.Closed = 1
		}
	}
	return s
}

// startsIn lists when episodes started in minutes from to to, both included.
func startsIn(list []Episode, from, to int) []time.Time {
	var starts []time.Time
	for _, ep := range list {
		if !ep.Start.Before(minuteTime(from)) && !ep.Start.After(minuteTime(to)) {
			starts = append(starts, ep.Start)
		}
	}
	return starts
}

func minuteTime(minute int) time.Time { return Start().Add(time.Duration(minute) * time.Minute) }

// Add adds another tally to this one.
func (t *Tally) Add(o *Tally) {
	for k, v := range o.False {
		t.False[k] = t.False[k].plus(v)
	}
	for k, v := range o.Caught {
		t.Caught[k] = t.Caught[k].plus(v)
	}
	t.Early = t.Early.plus(o.Early)
	t.Delays = append(t.Delays, o.Delays...)
	t.Shifts = t.Shifts.plus(o.Shifts)
	t.Flaps, t.Hits = t.Flaps+o.Flaps, t.Hits+o.Hits
	t.Regular, t.Extra = t.Regular+o.Regular, t.Extra+o.Extra
}

// AllFalse is the false alerts of all profiles together.
func (t *Tally) AllFalse() Rate {
	var r Rate
	for _, v := range t.False {
		r = r.plus(v)
	}
	return r
}

// Event is how many of one kind of event were caught, on the named profiles, on all when none is named.
func (t *Tally) Event(name string, profiles ...string) Share {
	var s Share
	for of, v := range t.Caught {
		if of.Event == name && (len(profiles) == 0 || slices.Contains(profiles, of.Profile)) {
			s = s.plus(v)
		}
	}
	return s
}

// Quantile returns the q quantile of durations by the nearest rank; false when there are none.
func Quantile(list []time.Duration, q float64) (time.Duration, bool) {
	if len(list) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(list))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1], true
}
