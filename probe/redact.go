package probe

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"sort"
	"strings"
	"sync"
)

// Redactor replaces every configured secret in a text by ***: as it is, and in its URL-escaped, base64 and
// JSON-escaped forms. It is safe for concurrent use; secrets whose file changes are looked up at each call.
type Redactor struct {
	mu      sync.RWMutex
	secrets []Secret
	seen    map[string]bool // every value ever known: an old key is still a key
	forms   []string        // longest first
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

// learn takes in values not seen before; the caller holds mu.
func (r *Redactor) learn() {
	for _, s := range r.secrets {
		v, err := s.Reveal()
		if err != nil || v == "" || r.seen[v] {
			continue
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[v] = true
		r.forms = append(r.forms, forms(v)...)
	}
	sort.Slice(r.forms, func(i, j int) bool { return len(r.forms[i]) > len(r.forms[j]) })
}

func forms(v string) []string {
	quoted, _ := json.Marshal(v) // a string always encodes
	list := []string{v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v))}
	for _, user := range []string{"", "user", "api"} { // basic auth forms
		list = append(list, base64.StdEncoding.EncodeToString([]byte(user+":"+v)))
	}
	return list
}

// Redact returns text with every known secret replaced by ***.
func (r *Redactor) Redact(text string) string {
	if r == nil || text == "" {
		return text
	}
	r.mu.Lock()
	r.learn()
	list := r.forms
	r.mu.Unlock()
	for _, f := range list {
		text = strings.ReplaceAll(text, f, "***")
	}
	return text
}
