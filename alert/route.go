package alert

import (
	"slices"

	"serin/probe"
	"serin/probe/glob"
)

// Route sends the incidents that it matches to channels.
//
// Match holds patterns by name: severity of the incident; kind, target, scene and size of an alert; any other name is a
// label of the alert's target. A pattern is that of probe/glob. All must hold, those of an alert for
// one and the same alert; no pattern matches everything.
type Route struct {
	Match    map[string]string
	Channels []string
}

// MatchNames lists the names that a route may match besides labels.
func MatchNames() []string { return []string{"severity", "kind", "target", "scene", "size"} }

// Routes choose the channels of incidents. The zero value sends everything to no channel.
type Routes struct {
	list []Route
	all  []string
}

// NewRoutes returns routes over the names of all channels.
func NewRoutes(list []Route, all []string) Routes { return Routes{list: list, all: all} }

// Channels returns, in the order of the config, the channels of every route that matches. Where there are no routes, and
// where none matches, it is all channels: an incident is never silent by accident.
func (r Routes) Channels(f Facts) []string {
	var chosen []string
	for _, route := range r.list {
		if route.matches(f) {
			chosen = append(chosen, route.Channels...)
		}
	}
	if len(chosen) == 0 {
		return slices.Clone(r.all)
	}
	return slices.DeleteFunc(slices.Clone(r.all), func(name string) bool { return !slices.Contains(chosen, name) })
}

func (r Route) matches(f Facts) bool {
	if want, ok := r.Match["severity"]; ok && !glob.Match(want, string(f.Incident.Severity)) {
		return false
	}
	if len(r.Match) == 0 || len(r.Match) == 1 && r.Match["severity"] != "" {
		return true
	}
	return slices.ContainsFunc(f.Alerts, r.matchesAlert)
}

// matchesAlert holds an alert against all patterns but that of severity. An alert that is over or held back chooses no
// channel: what it is about is not what people are told.
func (r Route) matchesAlert(f Fact) bool {
	if !f.Alert.IsFiring() || f.Inhibited != "" {
		return false
	}
	for name, want := range r.Match {
		if name != "severity" && !slices.ContainsFunc(f.values(name), func(v string) bool { return glob.Match(want, v) }) {
			return false
		}
	}
	return true
}

// values returns what a fact has under a name of a route. A whole target stands for all of its scenes and sizes.
func (f Fact) values(name string) []string {
	switch name {
	case "kind":
		return []string{string(f.Alert.Kind)}
	case "target":
		return []string{f.Target}
	case "scene":
		if f.Scene == "" {
			return f.Scenes
		}
		return []string{f.Scene}
	case "size":
		if f.Size == "" {
			return []string{string(probe.Short), string(probe.Medium), string(probe.Long)}
		}
		return []string{f.Size}
	}
	return []string{f.Labels[name]}
}
