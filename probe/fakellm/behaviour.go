package fakellm

import (
	"math"
	"math/rand/v2"
	"time"
)

// DefaultOutputTokens is the length of an answer where nothing else is said.
const DefaultOutputTokens = 160

// Behaviour is how one model answers. The zero value answers at once, in DefaultOutputTokens tokens.
type Behaviour struct {
	TTFT          time.Duration // from the request's arrival to the first token, of an empty prompt
	PerInputToken time.Duration // added to TTFT for each token of the prompt (prefill)
	TPOT          time.Duration // between two tokens
	Jitter        float64       // sigma of the lognormal factor (mean 1) on TTFT and on each gap; 0 = none
	Daily         Daily         // load over the day

	SlowTTFT float64 // factor on the time to the first token; 0 = 1
	SlowTPOT float64 // factor on every gap; 0 = 1

	OutputTokens int // tokens of an answer, reasoning included; 0 = DefaultOutputTokens; the request's max_tokens caps it
	Reasoning    int // how many of them are reasoning, before the answer
	MaxInFlight  int // requests at once; more get 429; 0 = no bound

	Fault  Fault
	Script []Step // instead of all the above: what to send, byte by byte
}

// Daily makes latency follow the hours: times 1 at the quietest, times 1+Swing at Peak o'clock in Zone, a cosine between.
type Daily struct {
	Swing float64        // 0 = none
	Peak  float64        // hour of the day
	Zone  *time.Location // nil = UTC
}

// Factor returns the factor on latency at t.
func (d Daily) Factor(t time.Time) float64 {
	if d.Swing == 0 {
		return 1
	}
	if d.Zone != nil {
		t = t.In(d.Zone)
	} else {
		t = t.UTC()
	}
	hour := float64(t.Hour()) + float64(t.Minute())/60 + float64(t.Second())/3600
	return 1 + d.Swing*(1+math.Cos((hour-d.Peak)*2*math.Pi/24))/2
}

// Plan returns when each of outputTokens tokens is sent, counted from the arrival at arrived of a request with inputTokens
// tokens. r is the source of jitter. The server itself answers by Plan, so that made-up history fits what it measures.
func (b Behaviour) Plan(r *rand.Rand, arrived time.Time, inputTokens, outputTokens int) []time.Duration {
	load := b.Daily.Factor(arrived)
	first := float64(b.TTFT+time.Duration(inputTokens)*b.PerInputToken) * factor(b.SlowTTFT) * load
	gap := float64(b.TPOT) * factor(b.SlowTPOT) * load
	plan := make([]time.Duration, outputTokens)
	at := first * b.jitter(r)
	for i := range plan {
		plan[i] = time.Duration(at)
		at += gap * b.jitter(r)
	}
	return plan
}

// jitter draws a lognormal factor of mean 1.
func (b Behaviour) jitter(r *rand.Rand) float64 {
	if b.Jitter == 0 {
		return 1
	}
	return math.Exp(b.Jitter*r.NormFloat64() - b.Jitter*b.Jitter/2)
}

func factor(f float64) float64 {
	if f == 0 {
		return 1
	}
	return f
}

// lengths returns how many tokens an answer has under a cap (0 = none), how many of them are reasoning, and whether the
// cap cut it.
func (b Behaviour) lengths(limit int) (total, reasoning int, cut bool) {
	total = b.OutputTokens
	if total == 0 {
		total = DefaultOutputTokens
	}
	total = max(total, b.Reasoning)
	if limit > 0 && limit < total {
		total, cut = limit, true
	}
	return total, min(b.Reasoning, total), cut
}
