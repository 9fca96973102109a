package message

import (
	"fmt"
	"slices"
	"strings"
)

// What must have moved before a hint rests on it.
const (
	connectRatio = 1.5  // connect this much slower …
	connectAbs   = 0.02 // … and by this many seconds
	cacheLost    = 0.5  // cached tokens below this share of usual
	ownSide      = 2    // other targets, at least, and all of them in trouble
)

// hint says what the numbers suggest, "" where the samples do not support any of it.
func hint(s Story) string {
	slow := func(k Kind) bool {
		return slices.ContainsFunc(s.Alerts, func(a Alert) bool { return a.Kind == k && a.Resolved.IsZero() })
	}
	switch {
	case everyTargetSlow(s):
		return "looks like our own side: every target is in trouble (network, proxy or host of this instance)"
	case slow(KindTTFT) && s.Buffered:
		return "looks like a proxy that buffers the stream: TTFT rose to the end of the answer"
	case slow(KindTTFT) && s.Cached.Usual > 0 && s.Cached.Now < cacheLost*s.Cached.Usual:
		return fmt.Sprintf("looks like a lost prefix cache: cached tokens %.0f, usually %.0f", s.Cached.Now, s.Cached.Usual)
	case slow(KindTTFT) && normal(s, OfMetric, "TPOT") && connectSlow(s.Connect):
		return fmt.Sprintf("looks like network or gateway: TPOT normal, connect %s, usually %s", seconds(s.Connect.Now), seconds(s.Connect.Usual))
	case longOnly(s):
		return "looks like prefill: TTFT is up for long prompts only"
	case slow(KindTPOT) && !slow(KindTTFT) && normal(s, OfMetric, "TTFT"):
		return "looks like decoding (KV cache, batch size): TPOT is up, TTFT normal"
	}
	return ""
}

func connectSlow(c Moved) bool {
	return c.Usual > 0 && c.Now > connectRatio*c.Usual && c.Now-c.Usual > connectAbs
}

// normal reports whether that sibling is there and fine.
func normal(s Story, of Of, name string) bool {
	return slices.ContainsFunc(s.Siblings, func(b Sibling) bool {
		return b.of() == of && strings.EqualFold(b.Name, name) && b.State == StateOK
	})
}

// everyTargetSlow reports whether there are enough other targets and all of them are in trouble; one that recovers already
// had trouble of its own, unless this one recovers too.
func everyTargetSlow(s Story) bool {
	n, passing := 0, len(s.Alerts) > 0 && s.Alerts[0].State == StateRecovering
	for _, b := range s.Siblings {
		if b.of() != OfTarget {
			continue
		}
		if b.State != StateFiring && b.State != StateFlapping && (b.State != StateRecovering || !passing) {
			return false
		}
		n++
	}
	return n >= ownSide
}

// longOnly reports whether TTFT is up for long prompts and every other size seen is fine.
func longOnly(s Story) bool {
	for _, a := range s.Alerts {
		if a.Resolved.IsZero() && (a.Kind != KindTTFT || !strings.HasSuffix(a.Series, "/long")) {
			return false
		}
	}
	sizes := 0
	for _, b := range s.Siblings {
		if b.of() != OfSize {
			continue
		}
		if b.State != StateOK {
			return false
		}
		sizes++
	}
	return sizes > 0 && len(s.Alerts) > 0
}
