package app

import (
	"cmp"
	"fmt"
	"maps"
	"sync"
	"time"

	"serin/probe"
)

// changeQuiet is how long the same change of the same canary is not told again: an endpoint that goes back and forth
// changes once.
const changeQuiet = time.Hour

// changeNews is a change of an endpoint's ways that people may want to know of and nobody is woken for.
type changeNews struct {
	At     time.Time
	Canary string
	What   string // the sample's flag, or check_failed
	Text   string // one sentence
}

// changeWatch turns samples into news: what is otherwise than it was at the canary's last answer. From unknown to known
// is no change. It reads no clock and is safe for concurrent use.
type changeWatch struct {
	mu   sync.Mutex
	last map[string]lastWays // by canary
}

// lastWays is what a canary's last answer was like.
type lastWays struct {
	Model       string               `json:"model,omitempty"`
	Fingerprint string               `json:"fingerprint,omitempty"`
	Answers     bool                 `json:"answers,omitempty"` // there was one
	Buffered    bool                 `json:"buffered,omitempty"`
	Cached      bool                 `json:"cached,omitempty"`
	Repeated    bool                 `json:"repeated,omitempty"`
	Failed      bool                 `json:"failed,omitempty"` // its check
	Told        map[string]time.Time `json:"told,omitempty"`   // by what
}

// observe takes in a sample and returns what has changed. Only answers count.
func (w *changeWatch) observe(s *probe.Sample) (news []changeNews) {
	if !s.Outcome.Success() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.last[s.Key()]
	now := lastWays{Model: cmp.Or(s.ReturnedModel, was.Model), Fingerprint: cmp.Or(s.SystemFingerprint, was.Fingerprint), Answers: true,
		Buffered: s.Has(probe.BufferedSuspect), Cached: s.Has(probe.CacheHit), Repeated: s.Has(probe.SameAnswer), Failed: s.Check == "fail", Told: maps.Clone(was.Told)}
	if s.Check == "" {
		now.Failed = was.Failed
	}
	tell := func(when bool, what, text string) {
		if told, ok := now.Told[what]; !when || ok && s.Time.Sub(told) < changeQuiet {
			return
		}
		if now.Told == nil {
			now.Told = map[string]time.Time{}
		}
		now.Told[what] = s.Time
		news = append(news, changeNews{s.Time, s.Key(), what, text})
	}
	tell(s.Has(probe.ModelChanged), string(probe.ModelChanged), namesText(was, s))
	tell(s.Has(probe.UsageGone), string(probe.UsageGone), "token counts no longer come with the answer, so that tokens, cost and TPOT are unknown")
	tell(was.Answers && !was.Buffered && now.Buffered, string(probe.BufferedSuspect), "the answer comes in one piece now: something on the way buffers the stream")
	tell(!was.Cached && now.Cached, string(probe.CacheHit), fmt.Sprintf("%d of %d input tokens come from a cache although the prompt begins with a nonce", s.CachedInputTokens.V, s.InputTokens.V))
	tell(!was.Repeated && now.Repeated, string(probe.SameAnswer), "the same answer came again, at once, although the prompt differed: it looks like a response cache")
	tell(was.Answers && !was.Failed && now.Failed, "check_failed", "the answer does not meet its check (expect) any more")
	if w.last == nil {
		w.last = map[string]lastWays{}
	}
	w.last[s.Key()] = now
	return news
}

// namesText says what the endpoint calls itself now.
func namesText(was lastWays, s *probe.Sample) string {
	if s.ReturnedModel != "" && s.ReturnedModel != was.Model {
		return fmt.Sprintf("the endpoint answers as model %q, before as %q", s.ReturnedModel, was.Model)
	}
	return fmt.Sprintf("the system fingerprint is %q, before %q", s.SystemFingerprint, was.Fingerprint)
}

// all returns what is known of each canary; restore gives it back.
func (w *changeWatch) all() map[string]lastWays {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.last)
}

func (w *changeWatch) restore(all map[string]lastWays) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = all
}

// keep drops what is not in canaries.
func (w *changeWatch) keep(canaries map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.last, func(key string, _ lastWays) bool { return !canaries[key] })
}
