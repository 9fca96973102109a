package sim

import "time"

// Gate is one number that the benchmark must hold.
type Gate struct {
	Rule    string  `json:"rule"`
	Number  string  `json:"number"`
	Got     float64 `json:"got"`
	Known   bool    `json:"known"`   // false: the seeds that were run have nothing to measure it on
	AtLeast bool    `json:"atLeast"` // else at most
	Bound   float64 `json:"bound"`
	Tried   float64 `json:"tried"` // what the experiment measured from which the gate was set
	Unit    string  `json:"unit,omitempty"`
}

// Missed reports whether the number was measured and lies beyond its bound.
func (g Gate) Missed() bool {
	if g.AtLeast {
		return g.Known && g.Got < g.Bound
	}
	return g.Known && g.Got > g.Bound
}

// bound is a gate without its number.
type bound struct {
	number       string
	get          func(r *RuleReport) (float64, bool)
	atLeast      bool
	bound, tried float64
	unit         string
}

// gates measures the gates of the presets that were run.
func gates(r *Report) []Gate {
	var list []Gate
	for _, rule := range r.Rules {
		for _, b := range boundsOf(rule.Preset) {
			got, known := b.get(rule)
			list = append(list, Gate{rule.Preset, b.number, got, known, b.atLeast, b.bound, b.tried, b.unit})
		}
	}
	return append(list, faultGates(r)...)
}

// boundsOf lists a preset's gates; those that have none are only shown.
func boundsOf(preset string) []bound {
	switch preset {
	case "literal":
		return []bound{least("false alerts per series-month: the workload is hard", falseOn(Healthy), 200, 295, "")}
	case "balanced":
		return balancedBounds()
	case "sharp":
		return commonBounds([]float64{.17, 74, 91, .5}, []float64{.07, 78, 94, .24},
			least("ramp to x2 over 18 h caught", caught(Ramp, ramp18h), 90, 97, "%"))
	case "corroborated":
		return commonBounds([]float64{.35, 86, 97, 1}, []float64{.22, 90, 100, .65},
			least("over in 5 days: x1.4 for good", shiftClosed, 90, 0, "%"),
			most("alerts of it", shiftOpenings, 2, 0, ""),
			least("x2 caught 3 d after it", caught(Shift, after3d), 88, 93, "%"))
	}
	return nil
}

// commonBounds are false alerts, ×1.5 and ×2 for an hour, and false alerts under doubled wander, in that order.
func commonBounds(at, tried []float64, more ...bound) []bound {
	return append([]bound{
		most("false alerts per series-month", falseOn(Healthy), at[0], tried[0], ""),
		least("x1.5 60m caught", caught(Incidents, x15for60), at[1], tried[1], "%"),
		least("x2 60m caught", caught(Incidents, x2for60), at[2], tried[2], "%"),
		most("doubled wander: false alerts", falseOn(Wander), at[3], tried[3], ""),
	}, more...)
}

func balancedBounds() []bound {
	calm := []string{"steady", "typical"}
	return []bound{
		most("false alerts per series-month", falseOn(Healthy), .15, .05, ""),
		most("the same, worst profile", worstFalse, .3, .07, ""),
		most("the same, incident stream", falseOn(Incidents), .25, .14, ""),
		most("the same, first 8 days", earlyFalse, .15, 0, ""),
		least("x5 60m caught", caught(Incidents, x5for60), 99, 100, "%"),
		least("x5 10m caught", caught(Incidents, x5for10), 97, 100, "%"),
		least("x2 60m caught, steady and typical", caught(Incidents, x2for60, calm...), 98, 100, "%"),
		least("x2 60m caught", caught(Incidents, x2for60), 80, 83, "%"),
		least("x1.5 60m caught, steady", caught(Incidents, x15for60, "steady"), 97, 100, "%"),
		most("delay, median", delay(.5), 5, 3, "min"),
		most("delay, 90 of 100", delay(.9), 15, 11, "min"),
		most("flaps per caught incident", flaps, .15, .09, ""),
		most("extra requests", extra, 4, 2.9, "%"),
		least("over in 5 days: x1.4 for good", shiftClosed, 90, 0, "%"),
		most("doubled wander: false alerts", falseOn(Wander), .9, .53, ""),
		least("ramp to x2 over 18 h caught", caught(Ramp, ramp18h), 82, 89, "%"),
		most("every minute: false alerts", falseEvery(time.Minute), .5, .38, ""),
		most("every 15 min: false alerts", falseEvery(15*time.Minute), .5, .19, ""),
		most("every hour: false alerts", falseEvery(time.Hour), .5, .05, ""),
	}
}

func least(number string, get func(*RuleReport) (float64, bool), at, tried float64, unit string) bound {
	return bound{number, get, true, at, tried, unit}
}

func most(number string, get func(*RuleReport) (float64, bool), at, tried float64, unit string) bound {
	return bound{number, get, false, at, tried, unit}
}

func falseOn(c Course) func(*RuleReport) (float64, bool) {
	return func(r *RuleReport) (float64, bool) {
		if r.Courses[c] == nil {
			return 0, false
		}
		return r.Courses[c].AllFalse().PerMonth()
	}
}

func falseEvery(every time.Duration) func(*RuleReport) (float64, bool) {
	return func(r *RuleReport) (float64, bool) {
		if r.Every[every] == nil {
			return 0, false
		}
		return r.Every[every].AllFalse().PerMonth()
	}
}

func worstFalse(r *RuleReport) (worst float64, known bool) {
	if r.Courses[Healthy] == nil {
		return 0, false
	}
	for _, rate := range r.Courses[Healthy].False {
		got, ok := rate.PerMonth()
		worst, known = max(worst, got), known || ok
	}
	return worst, known
}

func earlyFalse(r *RuleReport) (float64, bool) {
	if r.Courses[Healthy] == nil {
		return 0, false
	}
	return r.Courses[Healthy].Early.PerMonth()
}

func caught(c Course, event string, profiles ...string) func(*RuleReport) (float64, bool) {
	return func(r *RuleReport) (float64, bool) {
		if r.Courses[c] == nil {
			return 0, false
		}
		part, ok := r.Courses[c].Event(event, profiles...).Part()
		return 100 * part, ok
	}
}

func delay(q float64) func(*RuleReport) (float64, bool) {
	return func(r *RuleReport) (float64, bool) {
		if r.Courses[Incidents] == nil {
			return 0, false
		}
		d, ok := Quantile(r.Courses[Incidents].Delays, q)
		return d.Minutes(), ok
	}
}

func flaps(r *RuleReport) (float64, bool) {
	t := r.Courses[Incidents]
	if t == nil || t.Hits == 0 {
		return 0, false
	}
	return float64(t.Flaps) / float64(t.Hits), true
}

// extra is of healthy and incident streams together.
func extra(r *RuleReport) (float64, bool) {
	regular, more := 0, 0
	for _, c := range []Course{Healthy, Incidents} {
		if t := r.Courses[c]; t != nil {
			regular, more = regular+t.Regular, more+t.Extra
		}
	}
	return 100 * float64(more) / float64(max(1, regular)), regular > 0
}

func shiftClosed(r *RuleReport) (float64, bool) {
	if r.Courses[Shift] == nil {
		return 0, false
	}
	s := r.Courses[Shift].Shifts
	return 100 * float64(s.Closed) / float64(max(1, s.Noticed)), s.Noticed > 0
}

func shiftOpenings(r *RuleReport) (float64, bool) {
	if r.Courses[Shift] == nil {
		return 0, false
	}
	s := r.Courses[Shift].Shifts
	return float64(s.Openings) / float64(max(1, s.Noticed)), s.Noticed > 0
}

// faultGates are those of the error profiles.
func faultGates(r *Report) []Gate {
	var list []Gate
	for _, f := range r.Faults {
		got, known := f.False.PerMonth()
		if f.Profile == "1 % errors" || f.Profile == "1 % timeouts" {
			list = append(list, Gate{f.Profile, "false alerts per canary-month", got, known, false, .05, 0, ""})
		}
		found, known := f.Outages.Part()
		list = append(list, Gate{f.Profile, "outages found", 100 * found, known, true, 100, 0, "%"})
		slowest, known := Quantile(f.Delays, 1)
		list = append(list, Gate{f.Profile, "slowest, from the first probe that met it", slowest.Minutes(), known, false, 4, 0, "min"})
	}
	return list
}
