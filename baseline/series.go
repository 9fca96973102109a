package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"serin/probe"
)

// Key names one series and what its history needs to know.
type Key struct {
	Canary   string
	Metric   probe.Metric
	Spec     string
	Zone     *time.Location // nil is UTC
	Interval time.Duration  // shortest gap between two regular runs; must be over 0
}

// State is what a restart must find again besides the points: JSON, opaque to others.
type State struct {
	Config string  `json:"config"` // of the series that wrote it: zone, interval, window, slot, kind of band, sharpness
	Level  *Level  `json:"level,omitempty"`
	Noise  Noise   `json:"noise"`
	Hold   Hold    `json:"hold"`
	Shifts []Shift `json:"shifts,omitempty"`
	Since  int64   `json:"since,omitempty"`  // values before it were forgotten by command, Unix nanoseconds
	Change int64   `json:"change,omitempty"` // since when values are of another spec whose level is not known yet
}

// Hold is today's offset while it is frozen.
type Hold struct {
	On     bool    `json:"on,omitempty"`
	Set    bool    `json:"set,omitempty"` // Offset is what is held; otherwise the next judged value says it
	Offset float64 `json:"offset,omitempty"`
}

// Series is the history of one canary's metric and the judge of its values. It is not safe for concurrent use.
type Series struct {
	key    Key
	opt    Options
	th     Threshold
	hash   string // of th
	clock  clock
	days   int // of the window
	pts    points
	misses []miss // by time, no two of one instant
	seen   int64  // latest instant heard of

	intraday     intraday
	queriedUntil int64 // what is older has been asked for already, to say how today runs
	revision     int   // of that: another one once some of it changed

	levels [2]*Level // of the newest slot judged, and of one older: a long answer is judged late
	noise  Noise
	hold   Hold
	last   Hold // offset of the last judged value; Set where there was one

	shifts []Shift // in the order they were taken
	since  int64
	change int64
}

// NewSeries returns an empty series. opt's window must be whole days, at least one, and its slot a divisor of the day.
func NewSeries(k Key, opt Options, th Threshold) *Series {
	zone := k.Zone
	if zone == nil {
		zone = time.UTC
	}
	return &Series{key: k, opt: opt, th: th, hash: th.Hash(), clock: clock{zone}, days: int(opt.Window / (24 * time.Hour))}
}

// Key returns the series' key.
func (s *Series) Key() Key { return s.key }

// Load replaces the history: at start, after an import, after a reload. points may come in any order; those with
// Res.Judged keep their residuals, the others are replayed in time order, and those that got residuals by it are
// returned, by time, to be stored. st is what State returned before the stop, or nil.
//
// Points of the last 8 days and a few hours are needed, and of 15 days where some were never judged: the first seven
// of them have no band themselves, and seven days of residuals are wanted. What is frozen in st stays so unless the
// replay made residuals or the series' zone, interval, window, slot, kind of band or sharpness changed since.
func (s *Series) Load(points []Point, st *State, now time.Time) []Point {
	s.Forget()
	s.shifts, s.since, s.change = nil, 0, 0
	if st != nil {
		s.shifts, s.since, s.change = slices.Clone(st.Shifts), min(st.Since, now.UnixNano()), min(st.Change, now.UnixNano())
	}
	s.see(now.UnixNano())
	list := s.fill(points, now)
	made := s.replay(list)
	s.pts = slices.Clip(slices.Clone(s.pts[s.pts.since(s.oldest()):]))
	if st == nil {
		return made
	}
	s.hold = st.Hold
	if len(made) > 0 || st.Config != s.config() {
		return made
	}
	s.noise = st.Noise
	if st.Level != nil && st.Level.Ready {
		lv := *st.Level
		s.levels[0] = &lv
	}
	return made
}

// ahead is how far beyond an instant its clock is still believed: what lies further is of a clock that was wrong.
const ahead = hour

// fill takes points in; what lies further ahead would push the history out, so it stays outside. It returns
// those that it took, by time.
func (s *Series) fill(list []Point, now time.Time) []Point {
	kept := make([]Point, 0, len(list))
	last := now.Add(time.Duration(ahead))
	for _, p := range list {
		if usable(p) && !p.At.After(last) && p.At.UnixNano() >= s.since {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, func(a, b Point) int { return a.At.Compare(b.At) })
	kept = slices.CompactFunc(kept, func(a, b Point) bool { return a.At.Equal(b.At) })
	s.pts = make(points, 0, len(kept))
	for _, p := range kept {
		s.pts = append(s.pts, newPoint(p))
	}
	return kept
}

// replay gives every point that was never judged its residual, in time order, and returns those of list that got one. list
// is what the history was filled with.
func (s *Series) replay(list []Point) (made []Point) {
	if s.th.Literal {
		return nil // it has none
	}
	for i := range list {
		p := &s.pts[i]
		if p.judged() {
			continue
		}
		s.renew(p.at)
		lv := s.levelAt(p.at)
		if !lv.Ready {
			continue
		}
		o := s.todaysOffset(p.at)
		e := list[i].Y + s.raised(p.at) - lv.Mu + s.lowered(p.at)
		list[i].Res = Residual{E: e, O: o, R: e - o, Judged: true}
		*p = newPoint(list[i])
		made = append(made, list[i])
	}
	s.Recompute()
	return made
}

// Recompute drops the frozen mean, sw and sL, so that the next value's slot is computed anew: for what changes the
// past, such as an import into a running series. A held offset stays held.
func (s *Series) Recompute() {
	s.levels = [2]*Level{}
	s.noise = Noise{}
}

// Add puts an observation into the history, in its place by time. Points that are not regular, not finite, older than
// the rule needs, or of an instant that is there already are ignored.
func (s *Series) Add(p Point) {
	at := p.At.UnixNano()
	if !usable(p) || at < s.oldest() || at < s.since {
		return
	}
	s.see(at)
	if at < s.queriedUntil {
		s.revision++
	}
	s.pts = s.pts.room(s.oldest(), s.full()).insert(p)
}

// Points returns the history, by time, in UTC.
func (s *Series) Points() []Point {
	list := make([]Point, 0, len(s.pts))
	for i := range s.pts {
		list = append(list, s.pts[i].export())
	}
	return list
}

// Exclude leaves the points from from to to, both included, out of bands and residuals (out), or takes them back in.
// It returns how many changed. The mean of the running slot stays as it is, and today's offset counts them anyway.
func (s *Series) Exclude(from, to time.Time, out bool) (changed int) {
	part := s.pts.in(interval{from.UnixNano(), to.UnixNano() + 1})
	for i := range part {
		if part[i].excluded != out {
			part[i].excluded = out
			changed++
		}
	}
	return changed
}

// Freeze holds today's offset at that of the last judged value (while an alert fires), or lets it go.
func (s *Series) Freeze(on bool) {
	switch {
	case !on:
		s.hold = Hold{}
	case !s.hold.On:
		s.hold = s.last
		s.hold.On = true
	}
}

// State returns what Load needs after a restart besides the points.
func (s *Series) State() State {
	st := State{Config: s.config(), Noise: s.noise, Hold: s.hold, Shifts: slices.Clone(s.shifts), Since: s.since, Change: s.change}
	if s.levels[0] != nil {
		lv := *s.levels[0]
		st.Level = &lv
	}
	return st
}

// Stamp changes whenever State would return something else. It is comparable, and costs nothing to make.
type Stamp struct {
	level         *Level
	noise         Noise
	hold          Hold
	shifts        *Shift
	count         int
	since, change int64
	of            *Series
}

// Stamp returns the stamp of the series' present state.
func (s *Series) Stamp() Stamp {
	st := Stamp{level: s.levels[0], noise: s.noise, hold: s.hold, count: len(s.shifts), since: s.since, change: s.change, of: s}
	if st.count > 0 {
		st.shifts = &s.shifts[0] // a list that changes is a new one
	}
	return st
}

// config names all that a frozen level and noise depend on besides the points.
func (s *Series) config() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s %t %t", s.clock.zone, s.key.Interval, s.opt.Window, s.opt.Slot, s.th.Literal, s.th.Sharp))
	return hex.EncodeToString(sum[:4])
}

// Forget drops the whole history: learning starts again.
func (s *Series) Forget() {
	s.pts, s.misses, s.seen = nil, nil, 0
	s.hold, s.last = Hold{}, Hold{}
	s.revision++
	s.queriedUntil = 0
	s.Recompute()
}

// Respec names the spec of the values from now on. A band pools one spec only: unless keep, the history is forgotten.
func (s *Series) Respec(spec string, keep bool) {
	s.key.Spec = spec
	if !keep {
		s.Forget()
	}
}

// full is how many points a history holds whose runs all came.
func (s *Series) full() int {
	return int((int64(s.days)*day+26*hour)/max(1, int64(s.key.Interval))) + 16
}

func (s *Series) see(t int64) { s.seen = max(s.seen, t) }

// oldest is the instant before which no sample matters: the whole local day, a window ago, at the end of a day of 25 h.
func (s *Series) oldest() int64 { return s.seen - int64(s.days)*day - 26*hour }
