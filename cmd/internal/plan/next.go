package plan

import (
	"time"

	"serin/configs"
	"serin/probe/schedule"
)

// NextRuns are the next runs of one canary.
type NextRuns struct {
	Key    string        `json:"key"`
	Cron   string        `json:"cron"`
	Zone   string        `json:"zone"`
	Offset time.Duration `json:"-"`         // behind the cron time, the same at every run
	Millis float64       `json:"offset_ms"` // Offset
	Runs   []time.Time   `json:"runs"`      // in the scene's zone, offset included
	Notes  []string      `json:"notes,omitempty"`
}

// Runs returns the next n real runs of every canary after now, by key: cron time and spread together. Notes say
// what the clock changes of the zone do to a schedule within a year.
func Runs(c *configs.Config, now time.Time, n int) []NextRuns {
	list := make([]NextRuns, 0, len(c.Runs))
	for _, r := range c.Runs {
		zone := r.Canary.Scene.Zone
		next := NextRuns{Key: r.Canary.Key(), Cron: r.Cron, Zone: zone.String(), Offset: r.Entry.Offset(),
			Millis: float64(r.Entry.Offset()) / float64(time.Millisecond),
			Notes:  schedule.DSTNotes(r.Entry.Schedule, zone, now)}
		for t := now; len(next.Runs) < n; {
			t = r.Due(t)
			if t.IsZero() {
				break
			}
			next.Runs = append(next.Runs, t.In(zone))
		}
		list = append(list, next)
	}
	return list
}

// NextWindows are the next windows of one maintenance, in its zone.
type NextWindows struct {
	Name    string       `json:"name"`
	Zone    string       `json:"zone"`
	Windows []NextWindow `json:"windows"`
	Mutes   []string     `json:"canaries"` // that it is about
	Cap     string       `json:"severity_cap,omitempty"`
	Probe   bool         `json:"probe"`
}

// NextWindow is one window; Until is not in it.
type NextWindow struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// Windows returns the running and the next windows, n of each [[maintenance]], in the order of the file.
func Windows(c *configs.Config, now time.Time, n int) []NextWindows {
	var list []NextWindows
	for _, m := range c.Maintenance {
		next := NextWindows{Name: m.Name, Zone: m.Zone.String(), Cap: string(m.Cap), Probe: m.Probe, Windows: []NextWindow{}, Mutes: []string{}}
		for at := now; len(next.Windows) < n; {
			from, until, ok := m.Next(at)
			if !ok {
				break
			}
			next.Windows = append(next.Windows, NextWindow{from.In(m.Zone), until.In(m.Zone)})
			at = until
		}
		for _, r := range c.Runs {
			if m.Matches(r.Canary) {
				next.Mutes = append(next.Mutes, r.Canary.Key())
			}
		}
		list = append(list, next)
	}
	return list
}
