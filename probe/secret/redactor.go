package secret

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask stands in the place of a secret.
const Mask = "***"

// Redactor replaces every secret it knows by Mask: whole, or a prefix or suffix of 12 characters and more, in any of the
// forms that formsOf lists. It takes no lock to redact, and its time is linear in the text. It is safe for concurrent use.
type Redactor struct {
	index atomic.Pointer[index] // never changed once stored

	mu      sync.Mutex
	secrets []Secret
	known   map[string]bool // every value ever known: an old key is still a key
}

// Add makes the redactor know s, and every value that its file holds later.
func (r *Redactor) Add(s Secret) {
	if s.IsZero() {
		return
	}
	r.mu.Lock()
	r.secrets = append(r.secrets, s)
	r.mu.Unlock()
	s.src.subscribe(r)
}

// Absorb makes r know the secrets of a newer config, and keep its own.
func (r *Redactor) Absorb(newer *Redactor) {
	if newer == nil || newer == r {
		return
	}
	newer.mu.Lock()
	list, values := slices.Clone(newer.secrets), slices.Collect(maps.Keys(newer.known))
	newer.mu.Unlock()
	r.Know(values...)
	for _, s := range list {
		s.src.subscribe(r)
	}
}

// Know makes the redactor know values that have no source: of a URL what Parts returns, anything else whole. A value
// shorter than Least is left alone: it could not be told from ordinary text.
func (r *Redactor) Know(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []string
	for _, v := range values {
		if len(v) < Least || r.known[v] {
			continue
		}
		if r.known == nil {
			r.known = map[string]bool{}
		}
		r.known[v] = true
		fresh = append(fresh, v)
	}
	if len(fresh) > 0 {
		r.index.Store(r.index.Load().with(fresh))
	}
}

// Redact returns text with every known secret replaced by Mask. A nil redactor knows none.
func (r *Redactor) Redact(text string) string {
	if r == nil {
		return text
	}
	x := r.index.Load()
	if x == nil || len(text) < Least {
		return text
	}
	hits := x.find(text)
	if len(hits) == 0 {
		return text
	}
	var out strings.Builder
	done := 0
	for _, h := range hits {
		out.WriteString(text[done:h.from])
		out.WriteString(Mask)
		done = h.to
	}
	out.WriteString(text[done:])
	return out.String()
}
