package fakellm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is one way of going wrong.
type Kind string

// The kinds of faults. "After" counts tokens.
const (
	None      Kind = ""
	Status    Kind = "status"     // Fault.Status instead of an answer
	RateLimit Kind = "rate-limit" // 429 with Retry-After
	Hang      Kind = "hang"       // not even headers
	Stall     Kind = "stall"      // silence after After tokens; with 0 the stream opens and stays empty
	Cut       Kind = "cut"        // a clean end after After tokens, without finish reason and terminal
	Reset     Kind = "reset"      // the connection is reset after After tokens
	Buffer    Kind = "buffer"     // the whole stream in one write, when its last event is due
	HTML      Kind = "html"       // 200 with a web page
	Empty     Kind = "empty"      // a whole stream without a token
	Error     Kind = "error"      // an error object inside the stream after After tokens
)

// Fault is what goes wrong, and how often.
type Fault struct {
	Kind       Kind
	After      int           // tokens sent before stall, cut, reset, error
	Status     int           // of kind status; 0 = 500
	Body       string        // of kind status and rate-limit; "" = an error object in the protocol's shape
	RetryAfter time.Duration // sent as Retry-After in whole seconds, rounded up; 0 = none

	Rate  float64 // probability that a request is hit; 0 = every request
	Every int     // only every n-th request of the model; 0 = each
}

// ParseFaults changes b by specs such as "slow-ttft=3", "status=503", "rate-limit=30s", "hang", "stall=10", "cut=10",
// "reset=10", "buffer", "html", "empty", "error=10", "reasoning=50", "max-in-flight=2", "retry-after=5s", "rate=0.1" and
// "every=5"; commas may join several in one string. At most one of them may be a kind of fault. The error names the bad spec and the fix.
func ParseFaults(b *Behaviour, specs ...string) error {
	for _, spec := range specs {
		for part := range strings.SplitSeq(spec, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if err := b.apply(part); err != nil {
				return fmt.Errorf("fault %q: %w", part, err)
			}
		}
	}
	return nil
}

func (b *Behaviour) apply(part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "slow-ttft":
		return positive(value, math.MaxFloat64, &b.SlowTTFT)
	case "slow-tpot":
		return positive(value, math.MaxFloat64, &b.SlowTPOT)
	case "rate":
		return positive(value, 1, &b.Fault.Rate)
	case "every":
		return count(value, 1, &b.Fault.Every)
	case "reasoning":
		return count(value, 1, &b.Reasoning)
	case "max-in-flight":
		return count(value, 1, &b.MaxInFlight)
	case "retry-after":
		return span(value, &b.Fault.RetryAfter)
	}
	return b.applyKind(Kind(name), value)
}

func (b *Behaviour) applyKind(kind Kind, value string) error {
	f := &b.Fault
	if f.Kind != None && f.Kind != kind {
		return fmt.Errorf("%s is set already: give one kind of fault", f.Kind)
	}
	switch kind {
	case Status:
		if err := count(value, 100, &f.Status); err != nil || f.Status > 599 {
			return fmt.Errorf("write a status such as status=503")
		}
	case RateLimit:
		f.RetryAfter = time.Second
		if value != "" {
			if err := span(value, &f.RetryAfter); err != nil {
				return err
			}
		}
	case Stall, Cut, Reset, Error:
		if value != "" {
			if err := count(value, 0, &f.After); err != nil {
				return err
			}
		}
	case Hang, Buffer, HTML, Empty:
		if value != "" {
			return fmt.Errorf("takes no value: write %s", kind)
		}
	default:
		return fmt.Errorf("is unknown: use slow-ttft, slow-tpot, status, rate-limit, hang, stall, cut, reset, buffer, html, empty, error, reasoning, max-in-flight, retry-after, rate or every")
	}
	f.Kind = kind
	return nil
}

func positive(value string, most float64, to *float64) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || v > most {
		if most == 1 {
			return fmt.Errorf("write a probability over 0 and up to 1")
		}
		return fmt.Errorf("write a factor over 0, such as 3")
	}
	*to = v
	return nil
}

func count(value string, least int, to *int) error {
	v, err := strconv.Atoi(value)
	if err != nil || v < least {
		return fmt.Errorf("write a whole number from %d", least)
	}
	*to = v
	return nil
}

func span(value string, to *time.Duration) error {
	v, err := time.ParseDuration(value)
	if err != nil || v < 0 {
		return fmt.Errorf("write a duration with its unit, such as 30s")
	}
	*to = v
	return nil
}
