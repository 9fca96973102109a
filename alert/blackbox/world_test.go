package blackbox_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"serin/probe"
)

// trouble is a stretch of time in which some canaries answer otherwise.
type trouble struct {
	from, to time.Time
	match    string // glob over target/scene/size
	what     string
	on, off  time.Duration // comes and goes; zero = lasts
	times    int           // of so many probes of each canary; zero = of all
	seen     map[string]int
}

func (x *trouble) hits(c *probe.Canary, at time.Time) bool {
	ok, err := path.Match(x.match, c.Key())
	if err != nil {
		panic(err)
	}
	if !ok || at.Before(x.from) || !at.Before(x.to) {
		return false
	}
	if x.on > 0 && at.Sub(x.from)%(x.on+x.off) >= x.on {
		return false
	}
	if x.times > 0 {
		if x.seen[c.Key()] >= x.times {
			return false
		}
		x.seen[c.Key()]++
	}
	return true
}

// play is a world of troubles; beside them all is well.
func play(list []*trouble) world {
	return func(c *probe.Canary, at time.Time) probe.Sample {
		s := healthy(c, at)
		for _, x := range list {
			if x.hits(c, at) {
				s = spoil(c, s, x.what)
			}
		}
		return s
	}
}

// spoil changes a good sample: "x2" TTFT, "tpot-x2", "both-x2", an outcome, "overlap", "no-room", "none" (no probe is
// begun), "30%-reset" at random.
func spoil(c *probe.Canary, s probe.Sample, what string) probe.Sample {
	if chance, rest, ok := strings.Cut(what, "%-"); ok {
		if p := number(chance) / 100; wobble(c.Key(), "chance", s.Time.UnixNano()) >= 2*p-1 {
			return s
		}
		what = rest
	}
	if factor, ok := strings.CutPrefix(what, "x"); ok {
		return slower(s, number(factor), 1)
	}
	if factor, ok := strings.CutPrefix(what, "tpot-x"); ok {
		return slower(s, 1, number(factor))
	}
	if factor, ok := strings.CutPrefix(what, "both-x"); ok {
		return slower(s, number(factor), number(factor))
	}
	switch what {
	case "none":
		return probe.Sample{}
	case "overlap":
		return skipped(c, s.Time, probe.ReasonOverlap)
	case "no-room":
		return skipped(c, s.Time, probe.ReasonInFlight)
	case "over-budget":
		return skipped(c, s.Time, probe.ReasonBudget)
	case "other-model":
		s.ReturnedModel = "other"
		return s
	}
	return ends(c, s.Time, probe.Outcome(what))
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// healthy answers in 400 ms ± 6 % and 20 ms ± 4 % a token.
func healthy(c *probe.Canary, at time.Time) probe.Sample {
	ttft := .4 * math.Exp(.06*wobble(c.Key(), "ttft", at.UnixNano()))
	tpot := .02 * math.Exp(.04*wobble(c.Key(), "tpot", at.UnixNano()))
	s := ends(c, at, probe.OK)
	s.ReturnedModel = "qwen"
	return timed(s, ttft, tpot)
}

// timed gives a sample its durations, seconds; the answer has 100 tokens.
func timed(s probe.Sample, ttft, tpot float64) probe.Sample {
	s.TTFT, s.TPOT = seconds(ttft), seconds(tpot)
	s.TTFA, s.E2E = s.TTFT, seconds(ttft+100*tpot)
	return s
}

func slower(s probe.Sample, ttft, tpot float64) probe.Sample {
	return timed(s, s.TTFT.D.Seconds()*ttft, s.TPOT.D.Seconds()*tpot)
}

func seconds(x float64) probe.Span { return probe.Known(time.Duration(x * float64(time.Second))) }

// ends is a sample without an answer.
func ends(c *probe.Canary, at time.Time, o probe.Outcome) probe.Sample {
	return probe.Sample{Time: at, Target: c.Target.Name, Scene: c.Scene.Name, Size: c.Size, Outcome: o, Family: o.Family(), Side: o.Side("")}
}

func skipped(c *probe.Canary, at time.Time, reason string) probe.Sample {
	s := ends(c, at, probe.Skipped)
	s.Reason = reason
	return s
}

// lasts is how long a probe is under way.
func lasts(c *probe.Canary, s *probe.Sample) time.Duration {
	switch {
	case s.E2E.Known:
		return s.E2E.D
	case s.Outcome == probe.TimeoutFirstToken:
		return c.Target.FirstToken(c.Size)
	case s.Outcome == probe.Skipped:
		return 0
	}
	return 200 * time.Millisecond
}

// wobble is a number in [-1, 1) that depends on the parts alone.
func wobble(parts ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, parts...)
	x := h.Sum64()
	x ^= x >> 31
	x *= 0x94D049BB133111EB
	return float64(x>>11)/(1<<52) - 1
}
