package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"serin/probe"
)

// Limits of the self-check.
const (
	selfEvery   = 15 * time.Second // the machine is asked
	selfWindow  = time.Hour        // of samples that are judged together
	selfFewest  = 6                // fewer samples say nothing about the machine
	selfBad     = 0.5              // share of suspect samples above which it is said
	selfBetter  = 0.25             // and below which it is over
	selfKept    = 20_000           // samples remembered: more do not come in an hour from a machine that is well
	selfCertain = time.Second      // what the machine did in the window is told from here on
)

// selfCheck watches whether this process's own delays spoil what it measures.
type selfCheck struct {
	log   *slog.Logger
	alert *selfAlert
	tel   *telemetry

	mu      sync.Mutex
	machine machine
	seen    []judgedSample // oldest first
	bad     bool
}

// judgedSample is one measured sample: whether its own delay may have spoiled it.
type judgedSample struct {
	at      time.Time
	suspect bool
}

// observe takes in a finished probe. Those whose tokens were never seen say nothing about the clock.
func (c *selfCheck) observe(s *probe.Sample, now time.Time) {
	if s.Stamp == "" || !s.TTFT.Known {
		return
	}
	c.tel.observe(s.Lag.Seconds(), selfBuckets(), "serin_self_delay_seconds", label{"stamp", s.Stamp})
	suspect := s.Has(probe.ClientSuspect)
	if suspect {
		c.tel.count(1, "serin_self_suspect_samples_total")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) == selfKept {
		c.seen = append(c.seen[:0], c.seen[1:]...)
	}
	c.seen = append(c.seen, judgedSample{now, suspect})
	c.judge(now)
}

// judge says it once when most of an hour's samples are suspect, and once when that is over.
func (c *selfCheck) judge(now time.Time) {
	suspects, n := c.count(now)
	share := float64(suspects) / float64(max(n, 1))
	switch {
	case !c.bad && n >= selfFewest && share > selfBad:
		c.bad = true
		c.log.Warn("own delays spoil most samples of the hour", "suspect", suspects, "samples", n)
		c.alert.begin("serin measures late: its own delays may have spoiled most samples of the last hour",
			fmt.Sprintf("%d of %d samples carry client_suspect: they vote nothing and enter no band", suspects, n), c.why(),
			"give it CPU time, or probe less at once")
	case c.bad && share < selfBetter:
		c.bad = false
		c.log.Info("own delays spoil few samples again", "suspect", suspects, "samples", n)
		c.alert.end("serin measures in time again")
	}
}

// count drops what is older than the window and counts the rest.
func (c *selfCheck) count(now time.Time) (suspects, n int) {
	old := 0
	for old < len(c.seen) && now.Sub(c.seen[old].at) >= selfWindow {
		old++
	}
	c.seen = append(c.seen[:0], c.seen[old:]...)
	for _, s := range c.seen {
		if s.suspect {
			suspects++
		}
	}
	return suspects, len(c.seen)
}

// why says what the machine did to this process.
func (c *selfCheck) why() string {
	if d, ok := c.machine.throttled(); ok && d > selfCertain {
		return fmt.Sprintf("its control group was throttled for %s: raise the CPU limit", d.Round(time.Second))
	}
	if d, ok := c.machine.runQueueDelay(); ok && d > selfCertain {
		return fmt.Sprintf("its threads waited %s for a CPU since start: the machine is busy", d.Round(time.Second))
	}
	return fmt.Sprintf("neither throttling nor a busy machine shows; the collector's longest pause of the last minute was %s", c.machine.pause())
}

// watch asks the machine until ctx ends.
func (c *selfCheck) watch(ctx context.Context) {
	tick := time.NewTicker(selfEvery)
	defer tick.Stop()
	for {
		c.mu.Lock()
		c.machine.read()
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// selfGauges writes what the self-check knows.
func (d *daemon) selfGauges(g *gaugeLines) {
	c := d.self
	c.mu.Lock()
	defer c.mu.Unlock()
	suspects, n := c.count(time.Now())
	d.put(g, float64(suspects)/float64(max(n, 1)), "serin_self_suspect_ratio")
	d.put(g, c.machine.pause().Seconds(), "serin_self_gc_pause_seconds")
	if v, ok := c.machine.runQueueDelay(); ok {
		d.put(g, v.Seconds(), "serin_self_run_queue_seconds_total")
	}
	if v, ok := c.machine.throttled(); ok {
		d.put(g, v.Seconds(), "serin_self_cpu_throttled_seconds_total")
	}
}

// selfBuckets are the le bounds of serin_self_delay_seconds, in seconds.
func selfBuckets() []float64 {
	return []float64{.00002, .00005, .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .5, 1}
}
