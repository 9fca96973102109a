package alert

import (
	"time"

	"serin/probe"
)

// Maintenance is a planned window that comes again: what its matchers hold for is muted while it lasts, its samples stay
// out of the bands, and what still fires at its end is told.
type Maintenance struct {
	Name  string
	Match Matchers       // none = everything
	Cap   Severity       // told as no more than that; "" = nothing is told
	Probe bool           // probes go on
	Zone  *time.Location // of its clock; nil = UTC
	// Next returns the earliest window that ends after a time, its end not included; ok is false when none will come.
	Next func(after time.Time) (from, to time.Time, ok bool)
}

// Covers reports whether a canary is in one of the maintenance windows at a time; with resting, only in one during which
// it is not probed. It returns the window's name. It is safe for concurrent use.
func Covers(list []Maintenance, c *probe.Canary, at time.Time, resting bool) (name string, ok bool) {
	for _, m := range list {
		if resting && m.Probe {
			continue
		}
		if from, _, ok := m.Next(at); ok && !from.After(at) && m.Matches(c) {
			return m.Name, true
		}
	}
	return "", false
}

// Matches reports whether the window is about a canary, kind and severity left aside.
func (m Maintenance) Matches(c *probe.Canary) bool {
	f := Fact{Alert: Alert{Series: c.Key()}, Target: c.Target.Name, Scene: c.Scene.Name, Size: string(c.Size), Labels: c.Target.Labels}
	return m.Match.Without("kind", "severity").Holds(f)
}
