package probe

import (
	"time"

	"serin/probe/wire"
)

// Limits of the judgement whether a stream's pace can be trusted.
const (
	bufferedTokens = 8                      // fewer tokens say nothing about a buffer
	tailLeast      = 250 * time.Millisecond // a finish so late after the last token event is late …
	tailShare      = 10                     // … if it is over a tenth of the window that was watched
	bufferedPace   = 100 * time.Microsecond // a shorter time per token is no decoding
	bufferedShare  = 0.8                    // of the token events in one read
	suspectLag     = 5 * time.Millisecond   // own delay at which a sample is suspect, and
	suspectShare   = 0.02                   // its share of TTFT, whichever is more
	suspectNear    = time.Second            // after the first token: how late reads are by then tells how late its own may have been
)

// measure fills the durations, tokens and flags of s from what the stream added up to. end is when it ended: its last
// marker, or the end of the body. s has its outcome already.
func (f *fold) measure(s *Sample, t0 time.Time, tl *timeline, c *Canary, end time.Time) {
	s.TTFE = since(t0, f.first)
	s.TTFT = since(t0, f.token)
	s.TTFA = since(t0, f.answer)
	s.TTFTWarm = since(tl.gotConn, f.token)
	s.FirstKind = f.firstKind.Label()
	s.Chunks = f.chunks
	if f.reads > 1 {
		s.MaxGap = Known(f.maxGap)
	}
	if f.ended() && f.fault == nil {
		s.StreamTotal = since(t0, end)
		if !f.last.IsZero() {
			s.Trailer = since(f.last, end)
		}
	}
	if s.Outcome.Success() {
		s.E2E = since(t0, f.last)
		f.pace(s, c)
	}
}

// since returns the span from a to b, unknown where one of them is.
func since(a, b time.Time) Span {
	if a.IsZero() || b.IsZero() {
		return Span{}
	}
	return Known(b.Sub(a))
}

// counts fills the token counts and the flags about them; u is normalised.
func (f *fold) counts(s *Sample, u wire.Usage, c *Canary) {
	s.TokensSource = "none"
	if u.Any() {
		s.TokensSource = "usage"
	}
	s.InputTokens, s.OutputTokens = count(u.Input), count(u.Output)
	s.CachedInputTokens, s.CacheWriteTokens = count(u.Cached), count(u.CacheWrite)
	s.ReasoningTokens = count(u.Reasoning)
	if f.odd(u, c) {
		s.flag(UsageOdd)
	}
	if c.Target.Cache != "keep" && hitsCache(u) {
		s.flag(CacheHit)
	}
}

func count(n wire.Num) Count { return Count{V: n.V, Known: n.Known} }

// odd reports whether the counts contradict the stream or themselves.
func (f *fold) odd(u wire.Usage, c *Canary) bool {
	if u.Odd || u.Input.Known && u.Input.V == 0 {
		return true
	}
	if !u.Output.Known {
		return false
	}
	most := int64(c.outputCap())
	return most > 0 && u.Output.V > most || u.Output.V < int64(f.chunks) ||
		u.Reasoning.V > u.Output.V
}

// pace fills TPOT, or says why there is none: only tokens whose arrival was watched are counted.
func (f *fold) pace(s *Sample, c *Canary) {
	n, from, why := f.watched(s, c)
	if why == "" {
		why = f.uneven(s, n, f.last.Sub(from))
	}
	if s.TPOTReason = why; why == "" {
		s.TPOT = Known(f.last.Sub(from) / time.Duration(n-1))
	}
}

// watched returns the number of tokens that came into view, and since when.
func (f *fold) watched(s *Sample, c *Canary) (n int64, from time.Time, why string) {
	switch {
	case f.choices > 1:
		return 0, from, "choices"
	case !s.OutputTokens.Known:
		return 0, from, "no_usage"
	}
	seen := f.thought && !f.redacted && !f.sealed && !f.paraphrase
	hidden := !seen && (f.sealed || f.redacted || f.paraphrase || c.Target.Reasoning)
	n, from = s.OutputTokens.V, f.token
	switch {
	case seen:
	case s.ReasoningTokens.Known && s.ReasoningTokens.V > 0:
		n, from = n-s.ReasoningTokens.V, f.visible
		if from.IsZero() {
			return 0, from, "hidden_reasoning"
		}
	case hidden && !s.ReasoningTokens.Known:
		return 0, from, "hidden_reasoning"
	}
	if n < 2 {
		return 0, from, "one_token"
	}
	return n, from, ""
}

// uneven says why n tokens within window give no pace, and flags a stream that looks buffered.
func (f *fold) uneven(s *Sample, n int64, window time.Duration) string {
	if f.unseenTail(n, window) {
		return "unseen_tail"
	}
	tool := s.FirstKind == "tool"
	if n >= bufferedTokens && !tool {
		crowded := float64(f.most) >= bufferedShare*float64(f.chunks)
		if crowded || window/time.Duration(n-1) < bufferedPace {
			s.flag(BufferedSuspect)
			return "buffered"
		}
	}
	if f.reads < 2 || f.stamps < 2 || window <= 0 {
		return "one_read"
	}
	return ""
}

// unseenTail reports whether tokens were counted that never came into view: fewer events than tokens, and a finish that came
// long after the last of them. A server that holds back incomplete characters generates on without a word; the window
// would end too early. (Events of several tokens are no such sign: their finish follows at once.)
func (f *fold) unseenTail(n int64, window time.Duration) bool {
	if f.finishAt.IsZero() || int64(f.chunks) >= n {
		return false
	}
	tail := f.finishAt.Sub(f.last)
	return tail > tailLeast && tail > window/tailShare
}

// stampOf fills how the instants were taken, the longest own delay, and whether that may have spoiled the sample.
func (f *fold) stampOf(s *Sample, meter *lagMeter) {
	if f.events == 0 {
		return
	}
	s.Stamp, s.Lag = "read", Known(f.lag)
	if f.chunks == 0 {
		return
	}
	if f.firstRead.kernel && f.lastRead.kernel {
		s.Stamp = "kernel"
	}
	for i, b := range []burst{f.firstRead, f.lastRead} {
		late := b.lag
		switch {
		case !b.kernel:
			late = meter.lateAt(b.back)
		case b.tokens > 1: // the stamp is the newest token's: how long the others lay there shows around it alone
			late = max(late, meter.lateUntil(b.back, lagTick))
			if i == 0 {
				late = max(late, f.near)
			}
		}
		s.Lag = Known(max(s.Lag.D, late))
		limit := max(suspectLag, time.Duration(suspectShare*float64(s.TTFT.D)))
		if late > limit && (!b.kernel || b.tokens > 1) && !s.Has(ClientSuspect) {
			s.flag(ClientSuspect)
		}
	}
}

// flag adds f to a sample under construction.
func (s *Sample) flag(f Flag) { s.Flags = append(s.Flags, f) }
