package configs

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/robfig/cron/v3"

	"serin/probe/schedule"
)

// timing is a parsed schedule.
type timing struct {
	schedule cron.Schedule
	interval time.Duration // the shortest gap between two runs
	ok       bool
}

// Least that a band needs in seven days.
const (
	leastRuns = 14
	leastDays = 3
)

// timing parses the schedule of a size in the scene's zone.
func (l *loader) timing(sc *scene, z *sizing) (timing, bool) {
	key := z.cronKey()
	if z.Schedule == "" && key != "" {
		if !z.from.given(key) {
			z.from.fail(key, "is missing", `write schedule = "*/5 * * * *"`)
		}
		return timing{}, false
	}
	id := sc.Zone.String() + " " + z.Schedule
	t, seen := l.crons[id]
	if !seen || !t.ok { // reported at its first place; here too
		t = l.parseCron(z.from, key, z.Schedule, sc.Zone)
		l.crons[id] = t
	}
	return t, t.ok
}

func (l *loader) parseCron(s section, key, text string, zone *time.Location) timing {
	cron, first, ok := l.cron(s, key, text, zone)
	if !ok {
		return timing{}
	}
	if runs, days := bestWeek(cron, first.In(zone)); runs < leastRuns || days < leastDays {
		what := fmt.Sprintf("at best it runs %d times in 7 days", runs)
		if runs >= leastRuns {
			what = fmt.Sprintf("at best it runs on %d of 7 days", days)
		}
		s.fail(key, fmt.Sprintf("schedule %q can never get a band: %s", text, what), "run at least 14 times in 7 days, on at least 3 of them")
		return timing{}
	}
	return timing{schedule: cron, interval: schedule.Interval(cron, first), ok: true}
}

// cron parses a schedule and returns its first run.
func (l *loader) cron(s section, key, text string, zone *time.Location) (c cron.Schedule, first time.Time, ok bool) {
	c, err := schedule.Parse(text, zone)
	perr, _ := errors.AsType[*schedule.ParseError](err)
	switch {
	case err == nil:
		first = c.Next(l.opt.Now)
	case plainWords.MatchString(text):
		m := plainWords.FindStringSubmatch(text)
		s.fail(key, fmt.Sprintf("schedule %q is not a cron", text), fmt.Sprintf(`write "@every %s%s"`, cmp.Or(m[1], "1"), m[2]))
		return nil, first, false
	case perr != nil:
		s.fail(key, fmt.Sprintf("schedule %q %s", perr.Spec, perr.What), perr.Fix)
		return nil, first, false
	default:
		s.fail(key, err.Error(), `write five fields such as "*/5 * * * *"`)
		return nil, first, false
	}
	if first.IsZero() {
		s.fail(key, fmt.Sprintf("schedule %q never fires", text), "correct its day and month")
	}
	return c, first, !first.IsZero()
}

// plainWords is how people say an interval: every 5 minutes, 30s.
var plainWords = regexp.MustCompile(`(?i)^\s*(?:every\s+)?([0-9]*)\s*([smh])(?:ec|ecs|econds?|ins?|inutes?|rs?|ours?)?\s*$`)

// bestWeek returns the runs and the days with runs of the seven local days that suit a band best, beginning on one of the
// five weeks from first on. Runs are counted up to 14 a day.
func bestWeek(s cron.Schedule, first time.Time) (runs, days int) {
	y, m, d := first.Date()
	var counts [6 * 7]int
	for i := range counts {
		from, to := time.Date(y, m, d+i, 0, 0, 0, 0, first.Location()), time.Date(y, m, d+i+1, 0, 0, 0, 0, first.Location())
		for range schedule.Runs(s, from, to) {
			if counts[i]++; counts[i] == leastRuns {
				break
			}
		}
	}
	for i := range counts[6:] {
		r, with := 0, 0
		for _, n := range counts[i : i+7] {
			r, with = r+n, with+min(n, 1)
		}
		if cmp.Or(cmp.Compare(min(r, leastRuns), min(runs, leastRuns)), cmp.Compare(with, days)) > 0 {
			runs, days = r, with
		}
	}
	return runs, days
}
