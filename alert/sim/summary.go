package sim

import (
	"maps"
	"math"
	"slices"
)

// Summary is a report in numbers, as JSON shows it. What was not run is absent.
type Summary struct {
	Seeds  []uint64     `json:"seeds"`
	Rules  []Row        `json:"rules"`
	Faults []FaultRow   `json:"faults,omitempty"`
	Fleets []FleetRow   `json:"fleets,omitempty"`
	Gates  []GateResult `json:"gates"`
	Held   bool         `json:"held"` // no gate is missed
}

// Row is one preset's numbers. Alerts are per series-month, shares in percent, delays in minutes.
type Row struct {
	Preset      string             `json:"preset"`
	False       map[string]float64 `json:"false"` // by course, "first 8 days", and other schedules by interval
	ByProfile   map[string]float64 `json:"falseByProfile,omitempty"`
	Caught      []Catch            `json:"caught"`
	DelayMedian *float64           `json:"delayMedian,omitempty"`
	DelayP90    *float64           `json:"delayP90,omitempty"`
	Flaps       *float64           `json:"flapsPerCaught,omitempty"`
	Extra       *float64           `json:"extraRequests,omitempty"`
	ShiftAlerts *float64           `json:"alertsOfShift,omitempty"`
	ShiftOver   *float64           `json:"shiftsOverInFiveDays,omitempty"` // percent
}

// Catch is how many of one kind of event were caught on one profile.
type Catch struct {
	Event   string `json:"event"`
	Profile string `json:"profile"`
	Caught  int    `json:"caught"`
	Of      int    `json:"of"`
}

// FaultRow is one error profile's numbers.
type FaultRow struct {
	Profile string   `json:"profile"`
	False   *float64 `json:"false,omitempty"` // per canary-month
	Found   int      `json:"outagesFound"`
	Outages int      `json:"outages"`
	Alerted int      `json:"burstsAlerted"`
	Bursts  int      `json:"bursts"`
	Slowest *float64 `json:"slowestMinutes,omitempty"`
	Extra   float64  `json:"extraRequests"` // percent
}

// GateResult is a gate and whether it is missed.
type GateResult struct {
	Gate
	Missed bool `json:"missed"`
}

// Summary returns the report in numbers.
func (r *Report) Summary() Summary {
	s := Summary{Seeds: r.Seeds, Held: r.Held(), Rules: []Row{}, Gates: []GateResult{}}
	for _, x := range r.Rules {
		s.Rules = append(s.Rules, x.row())
	}
	for _, f := range r.Faults {
		s.Faults = append(s.Faults, f.row())
	}
	for _, f := range r.Fleets {
		s.Fleets = append(s.Fleets, f.row())
	}
	for _, g := range r.Gates {
		s.Gates = append(s.Gates, GateResult{g, g.Missed()})
	}
	return s
}

// Held reports whether no gate is missed. A gate that these seeds have nothing for (a profile is not among them) is not.
func (r *Report) Held() bool { return !slices.ContainsFunc(r.Gates, Gate.Missed) }

func (r *RuleReport) row() Row {
	row := Row{Preset: r.Preset, False: map[string]float64{}, ByProfile: map[string]float64{}, Caught: []Catch{}}
	for c, t := range r.Courses {
		set(row.False, string(c), t.AllFalse())
		row.Caught = append(row.Caught, t.catches()...)
	}
	slices.SortFunc(row.Caught, byEvent)
	if t := r.Courses[Healthy]; t != nil {
		set(row.False, "first 8 days", t.Early)
		for profile, rate := range t.False {
			set(row.ByProfile, profile, rate)
		}
	}
	for every, t := range r.Every {
		set(row.False, "every "+every.String(), t.AllFalse())
	}
	row.DelayMedian, row.DelayP90 = number(delay(.5)(r)), number(delay(.9)(r))
	row.Flaps, row.Extra, row.ShiftAlerts, row.ShiftOver = number(flaps(r)), number(extra(r)), number(shiftOpenings(r)), number(shiftClosed(r))
	return row
}

func set(into map[string]float64, key string, r Rate) {
	if got, ok := r.PerMonth(); ok {
		into[key] = rounded(got)
	}
}

func number(v float64, known bool) *float64 {
	if !known {
		return nil
	}
	v = rounded(v)
	return &v
}

// rounded keeps what means something.
func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func (t *Tally) catches() []Catch {
	var list []Catch
	for of, share := range t.Caught {
		list = append(list, Catch{of.Event, of.Profile, share.Caught, share.Of})
	}
	return list
}

// byEvent orders catches as the incidents are listed, then by profile.
func byEvent(a, b Catch) int {
	if a.Event != b.Event {
		names := eventNames()
		return slices.Index(names, a.Event) - slices.Index(names, b.Event)
	}
	profiles := profileNames()
	return slices.Index(profiles, a.Profile) - slices.Index(profiles, b.Profile)
}

func eventNames() []string { return append(incidentNames(), ramp18h, after3d, after9d) }

func profileNames() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func (f FaultReport) row() FaultRow {
	slowest, known := Quantile(f.Delays, 1)
	return FaultRow{Profile: f.Profile, False: number(f.False.PerMonth()), Found: f.Outages.Caught, Outages: f.Outages.Of,
		Alerted: f.Bursts.Caught, Bursts: f.Bursts.Of, Slowest: number(slowest.Minutes(), known),
		Extra: rounded(100 * float64(f.Extra) / float64(max(1, f.Regular)))}
}

// events lists the kinds of event that a row has anything to say about.
func (row Row) events() []string {
	have := map[string]bool{}
	for _, c := range row.Caught {
		have[c.Event] = true
	}
	names := slices.Collect(maps.Keys(have))
	slices.SortFunc(names, func(a, b string) int { return byEvent(Catch{Event: a}, Catch{Event: b}) })
	return names
}

// share is what a row caught of an event on a profile, on all when it is "".
func (row Row) share(event, profile string) Share {
	var s Share
	for _, c := range row.Caught {
		if c.Event == event && (profile == "" || c.Profile == profile) {
			s = s.plus(Share{c.Caught, c.Of})
		}
	}
	return s
}
