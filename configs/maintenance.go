package configs

import (
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

// resolveMaintenance reads every [[maintenance]]; targets, scenes and runs have been read.
func (l *loader) resolveMaintenance() {
	seen := map[string]section{}
	for i, s := range l.each("maintenance") {
		before, k := len(l.doc.rep.problems), l.file.Maintenance[i]
		m := alert.Maintenance{Name: s.name(seen), Cap: alert.Severity(k.SeverityCap), Probe: k.Probe, Zone: s.zone(k.Timezone)}
		for _, key := range sortedKeys(k.Match) {
			m.Match = append(m.Match, l.maintenanceMatch(s, key, k.Match[key], k.Probe))
		}
		if s.has("severity_cap") {
			s.oneOf("severity_cap", k.SeverityCap, string(alert.Info), string(alert.Warning))
			if !k.Probe {
				s.warn("severity_cap", "caps what cannot come: nothing is probed in this window", "remove it, or set probe = true")
			}
		}
		w := l.windows(s, k, m.Zone)
		if w == nil || m.Name == "" {
			continue
		}
		m.Next = w.Next
		l.cfg.Maintenance = append(l.cfg.Maintenance, m)
		if len(l.doc.rep.problems) == before { // else what is wrong is reported already
			l.checkMaintenance(s, m)
		}
	}
}

// maintenanceMatch checks one matcher; a pattern that begins with ! matches what the rest of it does not.
func (l *loader) maintenanceMatch(s section, name, pattern string, probes bool) alert.Matcher {
	m := alert.Matcher{Name: name}
	m.Pattern, m.Not = strings.CutPrefix(pattern, "!")
	l.checkMatch(s, name, m.Pattern)
	if !probes && (name == "kind" || name == "severity") {
		s.fail("match."+name, "says which alerts, but with probe = false nothing is probed that could alert", "remove it, or set probe = true")
	}
	return m
}

const longest = 31 * day // of one window

// checkMaintenance says where a window can do nothing.
func (l *loader) checkMaintenance(s section, m alert.Maintenance) {
	from, to, ok := m.Next(l.opt.Now)
	if !ok {
		s.warn("until", "is over: it never comes again", "remove it, or give it a later time")
		return
	}
	if to.Sub(from) > longest {
		s.warn("", fmt.Sprintf("lasts %s: nobody is notified for so long", formatDuration(to.Sub(from).Round(time.Minute))), "make it shorter")
	}
	if !slices.ContainsFunc(l.cfg.Runs, func(r Run) bool { return m.Matches(r.Canary) }) && len(l.cfg.Runs) > 0 {
		s.fail("match", "matches no canary: no target, scene, size and label goes with all of it", "correct the patterns; all of them must hold for one canary")
	}
}

// windows returns when the window is; nil where that is not said or wrong.
func (l *loader) windows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	const forms = `give schedule and duration ("0 2 * * sun", "2h"), from and until of the day ("22:00", "06:00"), or from and until as times ("2026-03-01T22:00:00+01:00")`
	cron, span := s.given("schedule"), s.given("from") || s.given("until")
	switch {
	case cron && span:
		s.fail("schedule", "stands beside from and until", forms)
	case cron:
		return l.cronWindows(s, k, zone)
	case span:
		return l.spanWindows(s, k, zone)
	default:
		s.fail("", "does not say when", forms)
	}
	return nil
}

func (l *loader) cronWindows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.given("weekdays") {
		s.fail("weekdays", "stands beside schedule", `put the days into the cron's last field: "0 2 * * sat,sun"`)
	}
	switch {
	case s.wrong("duration"), s.wrong("schedule"):
		return nil
	case !s.given("duration"):
		s.fail("duration", "is missing", `say how long: duration = "2h"`)
		return nil
	case k.Duration < time.Minute || k.Duration > longest:
		s.fail("duration", fmt.Sprintf("is %s", formatDuration(k.Duration)), `write "1m" to "31d"`)
		return nil
	}
	c, first, ok := l.cron(s, "schedule", k.Schedule, zone)
	if !ok {
		return nil
	}
	if again := c.Next(c.Next(first)); !again.IsZero() && again.Sub(first) <= 2*k.Duration {
		s.fail("duration", fmt.Sprintf("%s is not shorter than the time between two starts: the maintenance would never end", formatDuration(k.Duration)),
			"make it shorter, or start less often")
		return nil
	}
	return schedule.Starts{Cron: c, For: k.Duration}
}

func (l *loader) spanWindows(s section, k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.given("duration") {
		s.fail("duration", "stands beside from and until", "keep until, or write schedule and duration")
	}
	for _, key := range []string{"from", "until"} {
		if !s.has(key) {
			if !s.wrong(key) {
				s.fail(key, "is missing", "give both from and until")
			}
			return nil
		}
	}
	from, daily := timeOfDay(k.From)
	until, alsoDaily := timeOfDay(k.Until)
	switch {
	case daily && alsoDaily:
		if from%day == until%day && len(k.Weekdays) == 0 {
			s.fail("until", "is the same time of day as from: the maintenance would never end", "give another time, or weekdays")
			return nil
		}
		return schedule.Daily{From: from, Until: until, Days: s.weekdays(k.Weekdays), Zone: zone}
	case !daily && !alsoDaily:
		return s.onceWindow(k, zone)
	}
	key, text := "from", k.From
	if daily {
		key, text = "until", k.Until
	}
	if _, ok := s.instant(key, text, zone); ok {
		s.fail("until", fmt.Sprintf("%q and from %q differ in form", k.Until, k.From), `write both as "22:00", or both as times`)
	}
	return nil
}

// onceWindow is a window between two instants.
func (s section) onceWindow(k maintenanceKeys, zone *time.Location) schedule.Windows {
	if s.given("weekdays") {
		s.fail("weekdays", "stands beside from and until that are times", `remove it, or write from and until as "22:00"`)
	}
	from, okFrom := s.instant("from", k.From, zone)
	until, okUntil := s.instant("until", k.Until, zone)
	switch {
	case !okFrom || !okUntil:
		return nil
	case !until.After(from):
		s.fail("until", fmt.Sprintf("%s is not after from (%s)", until.Format(time.RFC3339), from.Format(time.RFC3339)), "give a later time")
		return nil
	}
	return schedule.Spans{{From: from, To: until}}
}

func (s section) instant(key, text string, zone *time.Location) (time.Time, bool) {
	at, err := ParseInstant(text, zone)
	if err != nil {
		s.fail(key, err.Error(), `write "22:00" for every day, "2026-03-01T22:00:00+01:00", or "2026-03-01 22:00" in timezone`)
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
		return day, true
	}
	at, err := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, err == nil
}

func (s section) weekdays(names []string) (days []time.Weekday) {
	if s.has("weekdays") && len(names) == 0 {
		s.fail("weekdays", "is empty: the window never comes", `name days: ["sat", "sun"], or remove it for every day`)
	}
	known := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for _, name := range names {
		d := slices.Index(known, strings.ToLower(name))
		switch {
		case d < 0:
			s.oneOf("weekdays", name, known...)
		case slices.Contains(days, time.Weekday(d)):
			s.fail("weekdays", fmt.Sprintf("names %q twice", name), "remove one")
		default:
			days = append(days, time.Weekday(d))
		}
	}
	return days
}
