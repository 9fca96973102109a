package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/alert"
	"serin/probe/schedule"
)

// maintenanceKeys are the keys of [[maintenance]].
type maintenanceKeys struct {
	Name        string            `koanf:"name"`
	Match       map[string]string `koanf:"match"`
	Timezone    string            `koanf:"timezone"`
	Schedule    string            `koanf:"schedule"`
	Duration    time.Duration     `koanf:"duration"`
	From        string            `koanf:"from"`
	Until       string            `koanf:"until"`
	Weekdays    []string          `koanf:"weekdays"`
	SeverityCap string            `koanf:"severity_cap"`
	Probe       bool              `koanf:"probe"`
}

func defaultMaintenance() maintenanceKeys { return maintenanceKeys{Timezone: "UTC", Probe: true} }

// resolveMaintenance reads every [[maintenance]]; targets, scenes and runs have been read.
func (l *loader) resolveMaintenance() {
	seen := map[string]place{}
	for _, s := range l.many("maintenance") {
		before := len(l.rep.problems)
		k := defaultMaintenance()
		l.decode(layers{s}, &k)
		name := l.name(s, seen)
		m := alert.Maintenance{Name: name, Cap: alert.Severity(k.SeverityCap), Probe: k.Probe, Zone: l.zone(s, k.Timezone)}
		for _, key := range sortedKeys(k.Match) {
			m.Match = append(m.Match, l.maintenanceMatch(s, key, k.Match[key], k.Probe))
		}
		if s.has("severity_cap") {
			l.oneOf(layers{s}, "severity_cap", k.SeverityCap, string(alert.Info), string(alert.Warning))
			if !k.Probe {
				l.rep.warn(s.at("severity_cap"), s.key("severity_cap"), "caps what cannot come: nothing is probed in this window", "remove it, or set probe = true")
			}
		}
		w := l.windows(s, k, m.Zone)
		if w == nil || name == "" {
			continue
		}
		m.Next = w.Next
		l.cfg.Maintenance = append(l.cfg.Maintenance, m)
		if len(l.rep.problems) == before { // else what is wrong is told already
			l.checkMaintenance(s, m)
		}
	}
}

// maintenanceMatch checks one matcher; a pattern that begins with ! matches what the rest of it does not.
func (l *loader) maintenanceMatch(s section, name, pattern string, probes bool) alert.Matcher {
	m := alert.Matcher{Name: name, Pattern: pattern}
	m.Pattern, m.Not = strings.CutPrefix(pattern, "!")
	l.checkMatch(s, name, m.Pattern)
	if !probes && (name == "kind" || name == "severity") {
		l.rep.fail(s.at("match"), s.key("match")+"."+name, "says which alerts, but with probe = false nothing is probed that could alert", "remove it, or set probe = true")
	}
	return m
}

// checkMaintenance says where a window can do nothing.
func (l *loader) checkMaintenance(s section, m alert.Maintenance) {
	from, to, ok := m.Next(l.opt.Now)
	if !ok {
		l.rep.warn(s.at("until"), s.path, "is over: it never comes again", "remove it, or give it a later time")
		return
	}
	if to.Sub(from) > 31*24*time.Hour {
		l.rep.warn(s.at(""), s.path, fmt.Sprintf("lasts %s: nobody is told for so long", formatDuration(to.Sub(from).Round(time.Minute))), "make it shorter")
	}
	if !slices.ContainsFunc(l.cfg.Runs, func(r Run) bool { return m.Matches(r.Canary) }) && len(l.cfg.Runs) > 0 {
		l.rep.fail(s.at("match"), s.key("match"), "matches no canary: no target, scene, size and label goes with all of it", "mend the patterns; all of them must hold for one canary")
	}
}

// windows returns when the window is; nil where that is not said or wrong.
func (l *loader) windows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	const forms = `give schedule and duration ("0 2 * * sun", "2h"), from and until of the day ("22:00", "06:00"), or from and until as times ("2026-03-01T22:00:00+01:00")`
	cron, span := s.has("schedule") || s.wrong("schedule"), s.has("from") || s.has("until") || s.wrong("from") || s.wrong("until")
	switch {
	case cron && span:
		l.rep.fail(s.at("schedule"), s.key("schedule"), "stands beside from and until", forms)
	case cron:
		return l.cronWindows(s, k, zone)
	case span:
		return l.spanWindows(s, k, zone)
	default:
		l.rep.fail(s.at(""), s.path, "does not say when", forms)
	}
	return nil
}

func (l *loader) cronWindows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.has("weekdays") {
		l.rep.fail(s.at("weekdays"), s.key("weekdays"), "stands beside schedule", `put the days into the cron's last field: "0 2 * * sat,sun"`)
	}
	switch {
	case s.wrong("duration"), s.wrong("schedule"):
		return nil
	case !s.has("duration"):
		l.rep.fail(s.at("schedule"), s.key("duration"), "is missing", `say how long: duration = "2h"`)
		return nil
	case k.Duration < time.Minute || k.Duration > 31*24*time.Hour:
		l.rep.fail(s.at("duration"), s.key("duration"), fmt.Sprintf("is %s", formatDuration(k.Duration)), `write "1m" to "31d"`)
		return nil
	}
	c, err := schedule.Parse(k.Schedule, zone)
	if perr, ok := errors.AsType[*schedule.ParseError](err); ok {
		l.rep.fail(s.at("schedule"), s.key("schedule"), fmt.Sprintf("%q %s", perr.Spec, perr.What), perr.Fix)
		return nil
	}
	first := c.Next(l.opt.Now)
	if again := c.Next(c.Next(first)); !first.IsZero() && !again.IsZero() && again.Sub(first) <= 2*k.Duration {
		l.rep.fail(s.at("duration"), s.key("duration"), fmt.Sprintf("%s is not shorter than the time between two starts: the maintenance would never end", formatDuration(k.Duration)),
			"make it shorter, or start less often")
		return nil
	}
	return schedule.Starts{Cron: c, For: k.Duration}
}

func (l *loader) spanWindows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.has("duration") {
		l.rep.fail(s.at("duration"), s.key("duration"), "stands beside from and until", "keep until, or write schedule and duration")
	}
	for _, key := range []string{"from", "until"} {
		if !s.has(key) {
			if !s.wrong(key) {
				l.rep.fail(s.at(""), s.key(key), "is missing", "give both from and until")
			}
			return nil
		}
	}
	from, daily := timeOfDay(k.From)
	until, alsoDaily := timeOfDay(k.Until)
	if daily != alsoDaily {
		for key, text := range map[string]string{"from": k.From, "until": k.Until} {
			if _, clock := timeOfDay(text); clock {
				continue
			}
			if _, ok := l.instant(s, key, text, zone); !ok {
				return nil
			}
		}
		l.rep.fail(s.at("until"), s.key("until"), fmt.Sprintf("%q and from %q are not of one form", k.Until, k.From), `write both as "22:00", or both as times`)
		return nil
	}
	if !daily {
		return l.onceWindow(s, k, zone)
	}
	if from == until && len(k.Weekdays) == 0 {
		l.rep.fail(s.at("until"), s.key("until"), "is the same as from: the maintenance would never end", "give another time, or weekdays")
		return nil
	}
	return schedule.Daily{From: from, Until: until, Days: l.weekdays(s, k.Weekdays), Zone: zone}
}

// onceWindow is a window between two instants.
func (l *loader) onceWindow(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.has("weekdays") {
		l.rep.fail(s.at("weekdays"), s.key("weekdays"), "stands beside from and until that are times", `remove it, or write from and until as "22:00"`)
	}
	from, okFrom := l.instant(s, "from", k.From, zone)
	until, okUntil := l.instant(s, "until", k.Until, zone)
	switch {
	case !okFrom || !okUntil:
		return nil
	case !until.After(from):
		l.rep.fail(s.at("until"), s.key("until"), fmt.Sprintf("%s is not after from (%s)", until.Format(time.RFC3339), from.Format(time.RFC3339)), "give a later time")
		return nil
	}
	return schedule.Spans{{From: from, To: until}}
}

func (l *loader) instant(s section, key, text string, zone *time.Location) (time.Time, bool) {
	at, err := ParseInstant(text, zone)
	if err != nil {
		l.rep.fail(s.at(key), s.key(key), err.Error(), `write "22:00" for every day, "2026-03-01T22:00:00+01:00", or "2026-03-01 22:00" in timezone`)
	}
	return at, err == nil
}

// ParseInstant reads RFC 3339, or a local date and time in zone: 2026-03-01 22:00, with or without seconds or a T between.
// A local time that the clock jumps over is refused; one that exists twice is the first.
func ParseInstant(text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.In(zone), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		at, err := time.ParseInLocation(layout, text, zone)
		switch {
		case err != nil:
			continue
		case at.Format(layout) != text:
			return at, fmt.Errorf("%q does not exist in %s: the clock jumps over it", text, zone)
		}
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time", text)
}

// timeOfDay reads 22:00, or 24:00 for the end of the day.
func timeOfDay(text string) (time.Duration, bool) {
	if text == "24:00" {
		return 24 * time.Hour, true
	}
	at, err := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err == nil
}

func (l *loader) weekdays(s section, names []string) (days []time.Weekday) {
	if s.has("weekdays") && len(names) == 0 {
		l.rep.fail(s.at("weekdays"), s.key("weekdays"), "is empty: the window never comes", `name days: ["sat", "sun"], or remove it for every day`)
	}
	known := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for _, name := range names {
		d := slices.Index(known, strings.ToLower(name))
		switch {
		case d < 0:
			l.oneOf(layers{s}, "weekdays", name, known...)
		case slices.Contains(days, time.Weekday(d)):
			l.rep.fail(s.at("weekdays"), s.key("weekdays"), fmt.Sprintf("names %q twice", name), "remove one")
		default:
			days = append(days, time.Weekday(d))
		}
	}
	return days
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
func (c *Config) Windows(now time.Time, n int) []NextWindows {
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
