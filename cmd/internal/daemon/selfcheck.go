package daemon

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"serin/cmd/internal/telemetry"
	"serin/probe"
)

// Limits of the self-check.
const (
	selfWindow = time.Hour // of samples that are judged together
	selfFewest = 6         // fewer samples say nothing about the machine
	selfBad    = 0.5       // share of suspect samples above which it is said
	selfBetter = 0.25      // and below which it is over
	selfKept   = 20_000    // samples remembered: more do not come in an hour from a machine that is well
)

// selfCheck watches whether this process's own delays spoil what it measures.
type selfCheck struct {
	log   *slog.Logger
	alert *selfAlert
	tel   *telemetry.Registry

	mu   sync.Mutex
	seen []judgedSample // oldest first
	bad  bool
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
	c.tel.OwnDelay(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) == selfKept {
		c.seen = append(c.seen[:0], c.seen[1:]...)
	}
	c.seen = append(c.seen, judgedSample{now, s.Has(probe.ClientSuspect)})
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
			fmt.Sprintf("%d of %d samples carry client_suspect: they vote nothing and enter no band", suspects, n),
			"look at this machine's load and at the CPU limit of serin's control group; give it CPU time, or probe less at once")
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

// selfGauges writes what the self-check knows.
func (d gauges) selfGauges(g *telemetry.Gauges) {
	c := d.self
	c.mu.Lock()
	defer c.mu.Unlock()
	suspects, n := c.count(time.Now())
	g.Add(float64(suspects)/float64(max(n, 1)), "serin_self_suspect_ratio")
}
