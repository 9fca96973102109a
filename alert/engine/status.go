package engine

import (
	"maps"
	"slices"
	"time"

	"serin/baseline"
	"serin/probe"
)

// Status is what the engine shows to others. It is a copy: nothing in it changes later.
type Status struct {
	At        time.Time
	Canaries  []CanaryStatus // by key
	Alerts    []Alert        // open ones
	Incidents []Incident     // waiting or open, by scope
	Silences  []Silence      // active and planned
	Windows   []Mute         // the running maintenance windows
}

// CanaryStatus is one canary's part of Status.
type CanaryStatus struct {
	Canary string // key
	Target string
	Scene  string
	Size   probe.Size
	States map[Kind]int // serin_alert_state: every kind of the canary
	Kinds  map[Kind]State
	Bands  map[probe.Metric]baseline.Band // the newest; absent before the first
	Last   time.Time                      // of the newest regular probe; zero = none
}

// The numbers of serin_alert_state.
const (
	NumOK       = 0
	NumPending  = 1
	NumFiring   = 2 // or recovering
	NumLearning = 3
	NumNoData   = 4 // the canary has no data: what its other kinds say is old
	NumMuted    = 5 // full state, nothing sent
)

// Status returns what the engine shows now. It is safe for concurrent use and waits for no store.
func (e *Engine) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.view
	s.Canaries = slices.Clone(s.Canaries) // entries are replaced, never written to
	return s
}

// publish shows what a call changed.
func (e *Engine) publish(x *tx) {
	if e.opt.Recorded {
		return
	}
	alerts, incidents := e.openNow(x)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.view.At, e.view.Silences, e.view.Windows = e.now, e.silences, e.running()
	for c := range x.touched {
		if i, ok := e.idx[c.key]; ok && e.watches[c.key] == c {
			e.view.Canaries[i] = c.status()
		}
	}
	if alerts != nil {
		e.view.Alerts = *alerts
	}
	if incidents != nil {
		e.view.Incidents = *incidents
	}
}

// publishAll shows the whole set of canaries anew.
func (e *Engine) publishAll() {
	keys := slices.Sorted(maps.Keys(e.watches))
	view := Status{At: e.now, Alerts: e.allOpen(), Incidents: e.allIncidents(), Silences: e.silences, Windows: e.running()}
	idx := make(map[string]int, len(keys))
	for i, k := range keys {
		idx[k] = i
		view.Canaries = append(view.Canaries, e.watches[k].status())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.view, e.idx = view, idx
}

// openNow lists open alerts and incidents where the call changed any, nil where not.
func (e *Engine) openNow(x *tx) (*[]Alert, *[]Incident) {
	var alerts *[]Alert
	var incidents *[]Incident
	if len(x.Alerts) > 0 {
		list := e.allOpen()
		alerts = &list
	}
	if len(x.Incidents) > 0 {
		list := e.allIncidents()
		incidents = &list
	}
	return alerts, incidents
}

func (e *Engine) allOpen() []Alert {
	var list []Alert
	for _, t := range e.order {
		for _, c := range t.canaries {
			list = append(list, c.openAlerts()...)
		}
		for _, k := range rateKinds() {
			if a := t.rates[k]; a.Open() {
				list = append(list, a)
			}
		}
		for _, m := range ringMetrics() {
			if p := t.pools[m]; p != nil && p.alert.Open() {
				list = append(list, p.alert)
			}
		}
	}
	return list
}

func (e *Engine) allIncidents() []Incident {
	var list []Incident
	for _, inc := range e.current() {
		list = append(list, inc.Incident)
	}
	return list
}

func (c *watch) status() CanaryStatus {
	c.shown = true
	s := CanaryStatus{Canary: c.key, Target: c.Canary.Target.Name, Scene: c.Canary.Scene.Name, Size: c.Canary.Size,
		States: map[Kind]int{}, Kinds: map[Kind]State{}, Bands: c.bands}
	for _, k := range c.kinds() {
		s.States[k], s.Kinds[k] = c.number(k), c.alerts[k].State
	}
	if n := len(c.recent); n > 0 {
		s.Last = time.Unix(0, c.recent[n-1].at)
	}
	return s
}

// number is the kind's state as a number.
func (c *watch) number(k Kind) int {
	a := c.alerts[k]
	switch {
	case a.Open() && (a.Suppressed != "" || a.Muted() || a.State == StateFlapping):
		return NumMuted
	case a.Open():
		return NumFiring
	case k != KindNoData && c.alerts[KindNoData].Open():
		return NumNoData
	case a.State == StatePending:
		return NumPending
	case a.State == StateLearning:
		return NumLearning
	}
	return NumOK
}
