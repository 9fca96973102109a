package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"serin/probe"
)

// Token lets its holder do what its scopes say: read is every GET, write every change, and silence, mark, ack, accept and
// reload are one kind of change each. Name is the author of what it changes.
type Token struct {
	Name   string
	Secret probe.Secret
	Scopes []string
}

const (
	scopeRead  = "read"
	scopeWrite = "write"
)

// scopesOf lists what a request needs one of; the list of what a scope is for may be read with it.
func scopesOf(r *http.Request) []string {
	wide := scopeWrite
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		wide = scopeRead
	}
	for _, of := range []struct{ path, scope string }{{"/api/v1/silences", "silence"}, {"/api/v1/marks", "mark"}, {"/api/v1/ack", "ack"},
		{"/api/v1/accept", "accept"}, {"/api/v1/baseline/reset", "accept"}, {"/-/reload", "reload"}} {
		if r.URL.Path == of.path || strings.HasPrefix(r.URL.Path, of.path+"/") {
			return []string{of.scope, wide}
		}
	}
	return []string{wide}
}

// may reports whether a token is good for one of the scopes.
func (t Token) may(scopes []string) bool {
	return slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(t.Scopes, s) })
}

// everything are the scopes of [http] token_file.
func everything() []string { return []string{scopeRead, scopeWrite} }

// tokens lists all tokens; that of [http] token_file has no name.
func (s *Server) tokens() []Token {
	list := s.opt.Tokens
	if !s.opt.Token.IsZero() {
		list = append([]Token{{Secret: s.opt.Token, Scopes: everything()}}, list...)
	}
	return list
}

// bearerOf returns whose token a request bears. All tokens are compared, so that the time tells nothing about which; blind
// is how many of them cannot be read.
func (s *Server) bearerOf(r *http.Request, tokens []Token) (found *Token, blind int) {
	header := r.Header.Get("Authorization")
	for i := range tokens {
		secret, err := tokens[i].Secret.Present()
		if err != nil {
			s.opt.Log.Error("read a token", "name", tokens[i].Name, "error", s.opt.Redact(err.Error()))
			blind++
			continue
		}
		if bearer(header, secret) && found == nil {
			found = &tokens[i]
		}
	}
	return found, blind
}

type authorKey struct{}

// authored notes the name of a request's token.
func authored(r *http.Request, t *Token) *http.Request {
	if t == nil || t.Name == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), authorKey{}, t.Name))
}

// author is who asks for a change: the token's name, else who the request says it is. Where neither is, it is the API.
func author(r *http.Request, says string) string {
	if name, ok := r.Context().Value(authorKey{}).(string); ok {
		return name
	}
	if says = oneLine(says); says != "" {
		return says
	}
	return "the API"
}
