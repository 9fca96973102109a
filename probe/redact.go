package probe

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Redactor replaces every configured secret in a text by ***, and every piece of one from minFragment bytes on: in either
// case, and in hex, base64, URL, JSON and HTML escapes. It is safe for concurrent use; secrets whose file changes are
// looked up at each call.
type Redactor struct {
	mu      sync.Mutex
	secrets []Secret
	seen    map[string]bool // every value ever known: an old key is still a key
	masks   *masks          // of all seen; never changed once made
}

// Add makes the redactor know s.
func (r *Redactor) Add(s Secret) {
	if s.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, s)
	r.learn()
}

// Absorb makes r know the secrets of a newer config. A source that r had already is replaced; the values seen of it stay.
func (r *Redactor) Absorb(newer *Redactor) {
	if newer == nil || newer == r {
		return
	}
	newer.mu.Lock()
	list := slices.Clone(newer.secrets)
	newer.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range list {
		r.secrets = slices.DeleteFunc(r.secrets, func(old Secret) bool { return old.Label() == s.Label() })
		r.secrets = append(r.secrets, s)
	}
	r.learn()
}

// learn takes in values not seen before; the caller holds mu.
func (r *Redactor) learn() {
	fresh := false
	for _, s := range r.secrets {
		v, err := s.Reveal()
		if err != nil || v == "" || r.seen[v] {
			continue
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[v], fresh = true, true
	}
	if !fresh {
		return
	}
	r.masks = newMasks()
	for v := range r.seen {
		r.masks.add(v)
	}
}

// Redact returns text with every known secret replaced by ***.
func (r *Redactor) Redact(text string) string {
	if r == nil || text == "" {
		return text
	}
	r.mu.Lock()
	r.learn()
	m := r.masks
	r.mu.Unlock()
	if m == nil {
		return text
	}
	return m.mask(text)
}

// shortForms lists how a secret too short for masks to decode is written.
func shortForms(v string) []string {
	quoted, _ := json.Marshal(v) // a string always encodes
	list := []string{v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v))}
	for _, user := range []string{"", "user", "api"} { // basic auth forms
		list = append(list, base64.StdEncoding.EncodeToString([]byte(user+":"+v)))
	}
	return list
}
