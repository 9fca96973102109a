package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// ParseError is a schedule that cannot be used: what is wrong with it and the fix.
type ParseError struct {
	Spec string
	What string
	Fix  string
}

// Error returns spec, what is wrong and the fix in one line.
func (e *ParseError) Error() string { return fmt.Sprintf("schedule %q %s: %s", e.Spec, e.What, e.Fix) }

// maxSpec bounds a spec's length, bytes: every list of every field written out fits.
const maxSpec = 1_000

// Parse reads a cron expression of five fields (minute hour day-of-month month day-of-week), a descriptor (@hourly,
// @daily, @midnight, @weekly, @monthly, @yearly, @annually) or "@every D" with whole seconds. Fields take *, ?, numbers, names,
// ranges, lists and steps; when both day fields are restricted a day matches by either, as in every cron.
//
// Fields are read on the clock of zone (nil = UTC), which decides what a change of the clock does: a local time that does
// not exist that day (spring) is skipped, so a daily 02:30 run misses the day of a 02:00–03:00 gap; a local time that
// exists twice (autumn) fires twice. Hours that lie outside the gap and the repeat are not touched, and schedules that run
// every hour keep their pace. "@every D" knows no zone: it fires at the multiples of D since 1970-01-01T00:00:00Z, so that
// neither a restart nor a second instance moves it.
//
// Every error is a *ParseError: bad syntax, a zone inside the spec, "@every" under 1 s, a step beyond its field, a
// schedule that never fires. Parse never panics. The result's Next returns times in zone (in UTC for "@every") and the
// zero time when there is none.
func Parse(spec string, zone *time.Location) (cron.Schedule, error) {
	if zone == nil {
		zone = time.UTC
	}
	text := strings.Join(strings.Fields(spec), " ")
	s, what, fix := parse(text, zone)
	if what != "" {
		return nil, &ParseError{Spec: shown(spec), What: what, Fix: fix}
	}
	return s, nil
}

func parse(text string, zone *time.Location) (s cron.Schedule, what, fix string) {
	upper := strings.ToUpper(text)
	switch {
	case text == "":
		return nil, "is empty", `write five fields such as "*/5 * * * *"`
	case len(text) > maxSpec:
		return nil, fmt.Sprintf("has over %d characters", maxSpec), "split it into fewer, plainer values"
	case strings.HasPrefix(upper, "TZ=") || strings.HasPrefix(upper, "CRON_TZ="):
		return nil, "names a zone", "remove it and set the scene's timezone"
	case strings.HasPrefix(text, "@every"):
		return parseEvery(text)
	case strings.HasPrefix(text, "@"):
		return parseDescriptor(text, zone)
	}
	return parseFields(text, zone)
}

func parseEvery(text string) (s cron.Schedule, what, fix string) {
	words := strings.Fields(text)
	if len(words) != 2 || words[0] != "@every" {
		return nil, "is not @every with one duration", `write "@every 30s" or "@every 5m"`
	}
	d, err := time.ParseDuration(words[1])
	switch {
	case err != nil:
		return nil, fmt.Sprintf("has no duration in %q", words[1]), `write a number with its unit, such as "@every 30s"`
	case d < time.Second:
		return nil, "runs more often than once a second", `use "@every 1s" or longer`
	case d%time.Second != 0:
		return nil, "has a fraction of a second", "use whole seconds"
	}
	return every(d), "", ""
}

func parseDescriptor(text string, zone *time.Location) (s cron.Schedule, what, fix string) {
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return nil, "is no known descriptor", "use @hourly, @daily, @weekly, @monthly, @yearly, @every D, or five fields"
	}
	return fields{SpecSchedule: inUTC(parsed), text: text, zone: zone}, "", ""
}

// inUTC makes the parser's result count in UTC; fields.Next does the zone.
func inUTC(s cron.Schedule) *cron.SpecSchedule {
	spec := *s.(*cron.SpecSchedule) // five fields and descriptors but @every always give this type
	spec.Location = time.UTC
	return &spec
}

// shown shortens a spec for an error.
func shown(spec string) string {
	if r := []rune(spec); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return spec
}
