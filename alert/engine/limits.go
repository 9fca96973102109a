package engine

import (
	"fmt"
	"math"
	"time"

	"serin/baseline"
	"serin/probe"
)

// The default fixed limits: for short canaries of targets without reasoning, while the band is learned.
const (
	shortTTFTLimit = 5 * time.Second
	shortTPOTLimit = 200 * time.Millisecond
)

// armAfter is how many samples must have a median below half of a default limit before it may alert.
const (
	armAfter = 14
	armFrom  = 64 // of the newest samples
)

// userLimit returns the limit that the user set for a metric, zero when there is none.
func userLimit(w Watched, m probe.Metric) Limit {
	switch m {
	case probe.TTFT:
		return w.Rule.TTFTLimit[w.Canary.Size]
	case probe.TPOT:
		return w.Rule.TPOTLimit[w.Canary.Size]
	}
	return Limit{}
}

// lowest is the limit that breaches: a critical one alone warns as well.
func (l Limit) lowest() time.Duration {
	if l.Warning > 0 {
		return l.Warning
	}
	return l.Critical
}

// defaultLimit returns the fixed limit that holds while learning, 0 when there is none.
func defaultLimit(w Watched, m probe.Metric) time.Duration {
	if w.Canary.Size != probe.Short || w.Canary.Target.Reasoning {
		return 0
	}
	switch m {
	case probe.TTFT:
		return shortTTFTLimit
	case probe.TPOT:
		return shortTPOTLimit
	}
	return 0
}

// againstFixed holds a value against a fixed limit: above it breaches, at or below is calm.
func againstFixed(v, limit time.Duration) baseline.Ruling {
	out := baseline.Ruling{Call: baseline.Calm, Value: v.Seconds(), Limit: limit.Seconds(), Ratio: v.Seconds() / limit.Seconds()}
	if v > limit {
		out.Call = baseline.Breach
	}
	return out
}

// arm decides whether a default limit may alert: once the canary has shown that it usually stays below half of it.
func (e *Engine) arm(c *watch, m probe.Metric, limit time.Duration) bool {
	if c.memo.Armed[m] {
		return true
	}
	usual, n := usualOf(c.series[m].Points())
	switch {
	case n < armAfter:
		return false
	case usual < limit.Seconds()/2:
		c.memo.Armed[m] = true
		return true
	case !c.mark(m).waits:
		c.mark(m).waits = true
		e.log.Info("fixed limit waits for the band", "canary", c.key, "metric", string(m), "usual_seconds", usual,
			"limit_seconds", limit.Seconds(), "reason", "usual is over half of the fixed limit")
	}
	return false
}

// usualOf returns the median of the newest points in seconds, and how many there are.
func usualOf(pts []baseline.Point) (float64, int) {
	pts = pts[max(0, len(pts)-armFrom):]
	if len(pts) == 0 {
		return 0, 0
	}
	ys := make([]float64, len(pts))
	for i, p := range pts {
		ys[i] = p.Y
	}
	return math.Exp(median(ys)), len(pts)
}

// learned says how much of the band has been learned.
func (e *Engine) learned(b *baseline.Band) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("day %d of %d, %d samples", max(b.Days, 1), int(e.opt.Baseline.Window/(24*time.Hour)), b.N)
}
