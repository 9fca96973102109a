package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"serin/probe"
)

// offGrid refuses samples of which none falls on the grid of --every, or so few that nothing is judged, and says which
// canaries have none or too few there.
func (c *backtestCmd) offGrid(w io.Writer, list []subject) error {
	var without, thin []string
	judged := false
	for i := range list {
		switch x := &list[i].tape; {
		case x.Regular == 0:
			without = append(without, list[i].Canary.Key())
		case 4*x.Regular < 3*x.Due:
			thin = append(thin, fmt.Sprintf("%s (%d of %d)", list[i].Canary.Key(), x.Regular, x.Due))
			judged = judged || 10*x.Regular >= x.Due
		default:
			judged = true
		}
	}
	if len(list) > 0 && !judged {
		return c.refused(list[0].tape.First, thin)
	}
	if len(without) > 0 {
		_, _ = fmt.Fprintf(w, "%d of %d canaries are not judged, they have no regular sample: %s\n", len(without), len(list), strings.Join(without, ", "))
	}
	if len(thin) > 0 {
		_, _ = fmt.Fprintf(w, "%d of %d canaries have samples after a time of --every %dm and none in its first minute, those runs are not judged: %s; leave --every out to let each sample's trigger decide\n",
			len(thin), len(list), c.Every/time.Minute, strings.Join(thin, ", "))
	}
	return nil
}

// unmeasured says which canaries have none of the metrics that are judged in any sample.
func unmeasured(w io.Writer, list []subject) {
	var names []string
	for i := range list {
		if x := &list[i]; !slices.ContainsFunc(x.series(), func(m probe.Metric) bool { return slices.Contains(x.tape.Metrics, m) }) {
			names = append(names, x.Canary.Key())
		}
	}
	if len(names) == 0 {
		return
	}
	var keys []string
	for _, m := range list[0].series() {
		keys = append(keys, string(m)+"_ms")
	}
	_, _ = fmt.Fprintf(w, "%d of %d canaries are judged by failures alone, no sample of theirs has %s: %s\n", len(names), len(list), strings.Join(keys, " or "), strings.Join(names, ", "))
}

// refused says why nothing would be judged.
func (c *backtestCmd) refused(first time.Time, thin []string) error {
	at := first.Format(time.RFC3339Nano)
	if c.Every == 0 {
		return fmt.Errorf("no sample is a regular one: every trigger says reprobe; name the schedule with --every (the first sample is at %s)", at)
	}
	what := "no sample falls"
	if len(thin) > 0 {
		what = "hardly a sample falls"
	}
	return fmt.Errorf("--every %dm: %s on a multiple of it since 00:00 UTC, cut to the minute (the first is at %s): give the schedule that the samples have, or leave --every out so that each one's trigger decides", c.Every/time.Minute, what, at)
}
