package probe

import (
	"hash/fnv"
	"slices"
	"strconv"
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
	Seen
	answers map[string]lastText // by prompt
}

// Seen is what later answers of a canary are held against: it outlives a restart, so that a change meanwhile is seen.
type Seen struct {
	Asked        string `json:"asked"`                  // hash of the endpoint and model that the rest was seen of
	Models       recent `json:"models,omitempty"`       // latest returned models, oldest first
	Fingerprints recent `json:"fingerprints,omitempty"` // latest system fingerprints, oldest first
	Usage        bool   `json:"usage,omitempty"`        // the last answer had token counts
}

// lastText is the last answer to one prompt.
type lastText struct {
	sum string        // hash of the text
	e2e time.Duration // of the last answer that was no instant repetition
}

// recent holds the latest names of one kind.
type recent []string

// news takes in name and reports whether it is new: there were names, and none of the latest is it. "" is never news.
func (r *recent) news(name string) bool {
	if name == "" {
		return false
	}
	fresh := len(*r) > 0 && !slices.Contains(*r, name)
	if *r = append(*r, name); len(*r) > recentNames {
		*r = slices.Delete(*r, 0, 1)
	}
	return fresh
}

// history compares with the canary's earlier answers and flags what has changed.
func (r *run) history(s *Sample) {
	sum := hashOf(string(r.answer))
	r.p.remember(r.c, func(m *memory) {
		if s.Reason == ReasonLearningParameter {
			m.warmed = !r.first // the attempt that follows is the first real one
		}
		if !s.Outcome.Success() {
			return
		}
		if asked := hashOf(endpointOf(r.c.Target)); m.seen.Asked != asked {
			m.seen = seen{Seen: Seen{Asked: asked}}
		}
		m.seen.compare(s, !r.ask.NoStreamOptions)
		if len(r.answer) > 0 && m.seen.repeats(r.prompt, lastText{sum, s.E2E.D}) && r.c.Target.Cache != "keep" {
			s.flag(SameAnswer)
		}
	})
}

// compare flags new names and counts that are gone; asked says whether the request asked for counts.
func (m *seen) compare(s *Sample, asked bool) {
	model, print := m.Models.news(s.ReturnedModel), m.Fingerprints.news(s.SystemFingerprint)
	if model || print {
		s.flag(ModelChanged)
	}
	has := s.TokensSource == "usage"
	if m.Usage && !has && asked {
		s.flag(UsageGone)
	}
	m.Usage = has
}

// repeats takes in an answer and reports whether it is an instant repetition of the last one to its prompt.
func (m *seen) repeats(prompt string, now lastText) bool {
	last := m.answers[prompt]
	if now.sum == last.sum && float64(now.e2e) < sameAnswerShare*float64(last.e2e) {
		return true // the time of the answer that was computed stays the measure
	}
	if m.answers == nil {
		m.answers = map[string]lastText{}
	}
	m.answers[prompt] = now
	return false
}

func hashOf(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return strconv.FormatUint(h.Sum64(), 16)
}

// Seen returns what was seen of each canary, by key.
func (p *Prober) Seen() map[string]Seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]Seen, len(p.memories))
	for key, m := range p.memories {
		if x := m.seen.Seen; x.Asked != "" {
			x.Models, x.Fingerprints = slices.Clone(x.Models), slices.Clone(x.Fingerprints)
			out[key] = x
		}
	}
	return out
}

// Remind gives back what an earlier prober had seen. Call it before the first probe.
func (p *Prober) Remind(all map[string]Seen) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range all {
		p.memories[key] = &memory{seen: seen{Seen: x}}
	}
}
