package probe

import (
	"hash/fnv"
	"slices"
	"time"

	"serin/probe/wire"
)

// Limits of what counts as a change or as the work of a cache.
const (
	// sameAnswerShare: an answer byte for byte like the last one to the same prompt, which had another nonce, in less than
	// this share of the last one's time was not computed. A model without randomness may well repeat itself, but not five
	// times as fast.
	sameAnswerShare = 0.2
	// recentNames: a returned model or fingerprint is new when none of so many answers before had it. A balancer before two
	// backends alternates and changes nothing; a rollback after a day is news.
	recentNames = 16
	// cacheSlackTokens and cacheSlackShare of the input, whichever is more, may come from a prefix cache although the
	// prompt begins with a nonce: the chat template in front of it is the same for all requests.
	cacheSlackTokens = 32
	cacheSlackShare  = 0.1
)

// hitsCache reports whether more of the input came from a cache than stands in front of the nonce.
func hitsCache(u wire.Usage) bool {
	return float64(u.Cached.V) > max(cacheSlackTokens, cacheSlackShare*float64(u.Input.V))
}

// seen is what a canary's earlier answers were like.
type seen struct {
	asked               string // endpoint and model that the rest was seen of
	models, fingerprint recent
	usage               bool                // the last answer had token counts
	answers             map[string]lastText // by prompt
}

// lastText is the last answer to one prompt.
type lastText struct {
	sum uint64        // hash of the text
	e2e time.Duration // of the last answer that was no instant repetition
}

// recent holds the latest names of one kind.
type recent struct{ names []string }

// news takes in name and reports whether it is new: there were names, and none of the latest is it. "" is never news.
func (r *recent) news(name string) bool {
	if name == "" {
		return false
	}
	fresh := len(r.names) > 0 && !slices.Contains(r.names, name)
	if r.names = append(r.names, name); len(r.names) > recentNames {
		r.names = slices.Delete(r.names, 0, 1)
	}
	return fresh
}

// history compares with the canary's earlier answers and flags what has changed.
func (r *run) history(s *Sample) {
	h := fnv.New64a()
	_, _ = h.Write(r.answer) // never fails
	sum := h.Sum64()
	r.p.remember(r.c, func(m *memory) {
		if s.Reason == ReasonLearningParameter {
			m.warmed = !r.first // the attempt that follows is the first real one
		}
		if !s.Outcome.Success() {
			return
		}
		if asked := endpointOf(r.c.Target); m.seen.asked != asked {
			m.seen = seen{asked: asked, answers: map[string]lastText{}}
		}
		m.seen.compare(s, !r.ask.NoStreamOptions)
		if len(r.answer) > 0 && m.seen.repeats(r.prompt, lastText{sum, s.E2E.D}) && r.c.Target.Cache != "keep" {
			s.flag(SameAnswer)
		}
	})
}

// compare flags new names and counts that are gone; asked says whether the request asked for counts.
func (m *seen) compare(s *Sample, asked bool) {
	model, print := m.models.news(s.ReturnedModel), m.fingerprint.news(s.SystemFingerprint)
	if model || print {
		s.flag(ModelChanged)
	}
	has := s.TokensSource == "usage"
	if m.usage && !has && asked {
		s.flag(UsageGone)
	}
	m.usage = has
}

// repeats takes in an answer and reports whether it is an instant repetition of the last one to its prompt.
func (m *seen) repeats(prompt string, now lastText) bool {
	last := m.answers[prompt]
	if now.sum == last.sum && float64(now.e2e) < sameAnswerShare*float64(last.e2e) {
		return true // the time of the answer that was computed stays the measure
	}
	m.answers[prompt] = now
	return false
}
