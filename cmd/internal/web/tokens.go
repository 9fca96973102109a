package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"serin/probe/secret"
)

// The roles of tokens: each may do what the one before it may, and more.
const (
	RoleRead     = "read"     // every GET
	RoleAnnotate = "annotate" // marks, silences, acks, labels: what says something about the time line
	RoleAdmin    = "admin"    // accept, reset, reload: what changes how serin judges
)

// Roles lists the roles, the weakest first.
func Roles() []string { return []string{RoleRead, RoleAnnotate, RoleAdmin} }

// Token lets its holder do what its role says. Name is the author of what it changes.
type Token struct {
	Name   string
	Secret secret.Secret
	Role   string
}

// roleFor returns the weakest role that may send a request.
func roleFor(r *http.Request) string {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return RoleRead
	}
	for _, path := range []string{"/api/v1/silences", "/api/v1/marks", "/api/v1/ack", "/api/v1/incidents"} {
		if r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") {
			return RoleAnnotate
		}
	}
	return RoleAdmin
}

// may reports whether a token is good for a role.
func (t Token) may(role string) bool {
	return slices.Index(Roles(), t.Role) >= slices.Index(Roles(), role)
}

// tokens lists all tokens; that of [http] token_file has no name and may do everything.
func (s *Server) tokens() []Token {
	list := s.opt.Tokens
	if !s.opt.Token.IsZero() {
		list = append([]Token{{Secret: s.opt.Token, Role: RoleAdmin}}, list...)
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
