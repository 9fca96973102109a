package probe

import "time"

// PriceAt returns the price in force at a time, nil where there is none. The first glob of the file counts that matches
// and is in force; of several entries with that same glob the one with the latest From.
func (t *Target) PriceAt(at time.Time) *Price {
	var best *Price
	for i := range t.Prices {
		p := &t.Prices[i]
		if p.From.After(at) || best != nil && (p.Model != best.Model || !p.From.After(best.From)) {
			continue
		}
		best = p
	}
	return best
}

// cost returns what the call cost in US dollars; unknown where a price or a count that it needs is. A cached count that
// was not reported is none: prompts are made not to hit.
func cost(s *Sample, p *Price) Money {
	if p == nil || !s.InputTokens.Known || !s.OutputTokens.Known {
		return Money{}
	}
	cached, written := s.CachedInputTokens.V, s.CacheWriteTokens.V
	sum := 0.0
	for _, part := range []struct {
		n     int64
		price Money
	}{{s.InputTokens.V - cached - written, p.Input}, {cached, p.CachedInput}, {written, p.CacheWrite}, {s.OutputTokens.V, p.Output}} {
		if part.n == 0 {
			continue
		}
		if !part.price.Known {
			return Money{}
		}
		sum += float64(part.n) * part.price.V / 1e6
	}
	return Some(sum)
}

// Spend is what a probe takes out of a budget: input and output tokens, and US dollars where a price is known.
type Spend struct {
	Tokens int64
	USD    Money
}

// Most returns what a probe of c may take at a time: the aimed prompt and the whole output cap.
func (c *Canary) Most(at time.Time) Spend { return c.assumed(&Sample{Time: at}) }

// Spent returns what the probe of c that left s must be taken to have used up. What an endpoint counted at the end of an
// answer is taken as it is. Of a stream that broke off, or whose counts never came, nobody knows the bill: then it is the
// whole output cap. A request that was refused with a status, or never written, cost nothing.
func (c *Canary) Spent(s *Sample) Spend {
	switch {
	case s.Outcome == Skipped:
		return Spend{USD: Some(0.0)}
	case s.InputTokens.Known && s.OutputTokens.Known && s.Outcome.counted():
		usd := s.CostUSD
		if !usd.Known {
			usd = cost(s, c.Target.PriceAt(s.Time))
		}
		return Spend{s.InputTokens.V + s.OutputTokens.V, usd}
	case !s.Billable():
		return Spend{USD: Some(0.0)}
	}
	return c.assumed(s)
}

// Billable reports whether the endpoint may have charged for the probe: it was answered, or written and never refused.
func (s *Sample) Billable() bool {
	answered := s.HTTPStatus >= 200 && s.HTTPStatus < 300
	return s.Outcome != Skipped && (s.Outcome.Success() || answered || s.HTTPStatus == 0 && s.Sent.Known)
}

// counted reports whether the answer came to its own end, so that its counts are final.
func (o Outcome) counted() bool {
	return o.Success() || o == ContentFilter || o == Refused || o == Empty
}

// assumed takes the aimed prompt and the output cap for what s does not say.
func (c *Canary) assumed(s *Sample) Spend {
	full := Sample{InputTokens: s.InputTokens, CachedInputTokens: s.CachedInputTokens, CacheWriteTokens: s.CacheWriteTokens}
	if !full.InputTokens.Known {
		full.InputTokens = Some(int64(c.InputTokens))
	}
	full.OutputTokens = Some(max(s.OutputTokens.V, int64(c.outputCap())))
	return Spend{full.InputTokens.V + full.OutputTokens.V, cost(&full, c.Target.PriceAt(s.Time))}
}
