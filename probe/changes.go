package probe

import (
	"fmt"
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

// changeQuiet is how long the same change of the same canary is not reported again: an endpoint that goes back and forth
// changes once.
const changeQuiet = time.Hour

// CheckFailed is the Change of an answer check that passed before.
const CheckFailed = "check_failed"

// Change is one way in which an answer differs from the canary's answers before. Nobody is woken for it.
type Change struct {
	What string // the sample's flag, or CheckFailed
	Text string // one sentence
}

// Fingerprint is what a canary's answers are like, and what later ones are held against: it outlives a restart, so that a
// change meanwhile is seen. From unknown to known is no change.
type Fingerprint struct {
	Asked        string               `json:"asked"`                  // hash of the endpoint and model that the rest was seen of
	Models       recent               `json:"models,omitempty"`       // latest returned models, oldest first
	Fingerprints recent               `json:"fingerprints,omitempty"` // latest system fingerprints, oldest first
	Answered     bool                 `json:"answered,omitempty"`     // there was an answer; the rest is of the last one
	Usage        bool                 `json:"usage,omitempty"`        // it had token counts
	Buffered     bool                 `json:"buffered,omitempty"`
	Cached       bool                 `json:"cached,omitempty"`
	Repeated     bool                 `json:"repeated,omitempty"`
	Failed       bool                 `json:"failed,omitempty"`   // its check, or the last that was made
	Finish       string               `json:"finish,omitempty"`   // the last unknown finish reason
	ReportedAt   map[string]time.Time `json:"reported,omitempty"` // by Change.What
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

// last returns the latest name, "" where there is none.
func (r recent) last() string {
	if len(r) == 0 {
		return ""
	}
	return r[len(r)-1]
}

// history compares with the canary's earlier answers, flags what has changed and says it in a sentence.
func (r *run) history(s *Sample) {
	sum := hashOf(string(r.answer))
	r.p.remember(r.c, func(m *memory) {
		if s.Reason == ReasonLearningParameter {
			m.warmed = !r.first // the attempt that follows is the first real one
		}
		if !s.Outcome.Success() {
			return
		}
		if asked := hashOf(endpointOf(r.c.Target)); m.print.Asked != asked {
			m.print, m.answers = Fingerprint{Asked: asked}, nil
		}
		if len(r.answer) > 0 && m.repeats(r.prompt, lastText{sum, s.E2E.D}) && r.c.Target.Cache != "keep" {
			s.flag(SameAnswer)
		}
		s.Changes = m.print.compare(s, !r.ask.NoStreamOptions)
	})
}

// compare takes in an answer, flags new names and counts that are gone, and returns what has changed; asked says whether
// the request asked for counts.
func (p *Fingerprint) compare(s *Sample, asked bool) (changes []Change) {
	was, wasModel, wasPrint := *p, p.Models.last(), p.Fingerprints.last()
	model, print := p.Models.news(s.ReturnedModel), p.Fingerprints.news(s.SystemFingerprint)
	if model || print {
		s.flag(ModelChanged)
	}
	p.Usage = s.TokensSource == "usage"
	if was.Usage && !p.Usage && asked {
		s.flag(UsageGone)
	}
	p.Answered, p.Buffered, p.Cached, p.Repeated = true, s.Has(BufferedSuspect), s.Has(CacheHit), s.Has(SameAnswer)
	if s.Check != "" {
		p.Failed = s.Check == "fail"
	}
	report := func(changed bool, what, text string) {
		if changed && p.due(what, s.Time) {
			changes = append(changes, Change{what, text})
		}
	}
	report(s.Has(ModelChanged), string(ModelChanged), namesText(s, wasModel, wasPrint))
	report(s.Has(UsageGone), string(UsageGone), "token counts no longer come with the answer, so that tokens, cost and TPOT are unknown")
	report(was.Answered && !was.Buffered && p.Buffered, string(BufferedSuspect), "the answer comes in one piece now: something on the way buffers the stream")
	report(!was.Cached && p.Cached, string(CacheHit), fmt.Sprintf("%d of %d input tokens come from a cache although the prompt begins with a nonce", s.CachedInputTokens.V, s.InputTokens.V))
	report(!was.Repeated && p.Repeated, string(SameAnswer), "the same answer came again, at once, although the prompt differed: it looks like a response cache")
	if s.Has(FinishUnknown) {
		p.Finish = s.FinishReason
	}
	report(p.Finish != was.Finish, string(FinishUnknown), fmt.Sprintf("the answer ended for a reason that serin does not know: %q; it is taken for a success", p.Finish))
	report(was.Answered && !was.Failed && p.Failed, CheckFailed, "the answer does not meet its check (expect) any more")
	return changes
}

// due reports whether a change may be reported at a time, and notes that it is.
func (p *Fingerprint) due(what string, at time.Time) bool {
	if last, ok := p.ReportedAt[what]; ok && at.Sub(last) < changeQuiet {
		return false
	}
	later := map[string]time.Time{what: at}
	for k, v := range p.ReportedAt {
		if k != what {
			later[k] = v
		}
	}
	p.ReportedAt = later // a new map: Fingerprints hands out the old one
	return true
}

// namesText says what the endpoint calls itself now, and what before.
func namesText(s *Sample, wasModel, wasPrint string) string {
	if s.ReturnedModel != "" && s.ReturnedModel != wasModel {
		return fmt.Sprintf("the endpoint answers as model %q, before as %q", s.ReturnedModel, wasModel)
	}
	return fmt.Sprintf("the system fingerprint is %q, before %q", s.SystemFingerprint, wasPrint)
}

// repeats takes in an answer and reports whether it is an instant repetition of the last one to its prompt.
func (m *memory) repeats(prompt string, now lastText) bool {
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

// Fingerprints returns what answers of each canary are like, by key.
func (p *Prober) Fingerprints() map[string]Fingerprint {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]Fingerprint, len(p.memories))
	for key, m := range p.memories {
		if x := m.print; x.Asked != "" {
			x.Models, x.Fingerprints = slices.Clone(x.Models), slices.Clone(x.Fingerprints)
			out[key] = x
		}
	}
	return out
}

// RestoreFingerprints gives back what Fingerprints returned in an earlier life. Call it before the first probe.
func (p *Prober) RestoreFingerprints(all map[string]Fingerprint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, x := range all {
		p.memories[key] = &memory{print: x}
	}
}
