package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// maxBody bounds what is read of a request's body, bytes.
const maxBody = 64 << 10

// door is how a request came in.
type door int

const (
	doorTCP    door = iota // an address: the token decides
	doorSocket             // the unix socket: its file mode has decided
)

// guard wraps h in what every request passes: headers, host, cross-site check, authorisation.
func (s *Server) guard(d door, loopback bool, h http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if origin := originOf(s.opt.ExternalURL); origin != "" {
		// The origin was taken from a URL that parsed; a refusal means a stricter check, not a weaker one.
		if err := cross.AddTrustedOrigin(origin); err != nil {
			s.opt.Log.Warn("external_url is no origin", "origin", origin, "error", err)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		status, why := 0, ""
		var by *Token
		switch {
		case d == doorSocket:
		case loopback && !s.ownHost(r.Host):
			status, why = http.StatusMisdirectedRequest, "host "+quoteHost(r.Host)+" is not this daemon's: use 127.0.0.1 or localhost, or set [http] external_url to the name of the proxy in front"
		case cross.Check(r) != nil:
			status, why = http.StatusForbidden, "this request comes from a page of another site: serin takes changes from its own pages and from tools only"
		default:
			by, status, why = s.authorise(r)
		}
		if status == 0 {
			h.ServeHTTP(w, authored(r, by))
			return
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="serin"`)
		}
		s.opt.Log.Debug("request refused", "path", r.URL.Path, "from", r.RemoteAddr, "status", status)
		s.fail(w, status, why)
	})
}

// secure sets the headers that keep an answer where it belongs.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// ownHost guards against DNS rebinding: a page of another site can make its own name point to loopback, but then its
// name stands in Host. Addresses, localhost and the host of external_url are ours.
func (s *Server) ownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(strings.TrimSuffix(host, "."), "[]"))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	u, err := url.Parse(s.opt.ExternalURL)
	return err == nil && host != "" && host == strings.ToLower(u.Hostname())
}

// authorise returns whose token was shown, or the status and the reason of a refusal.
func (s *Server) authorise(r *http.Request) (*Token, int, string) {
	role, tokens := roleFor(r), s.tokens()
	switch {
	case role == RoleRead && (isHealth(r.URL.Path) || len(tokens) == 0):
		return nil, 0, ""
	case len(tokens) == 0:
		return nil, http.StatusForbidden, "changes over TCP need a token, and none is set: run serin reload, silence, mark, ack or accept on this host (they use the unix socket), send SIGHUP, or set [http] token_file or [[http.token]]"
	}
	found, blind := s.bearerOf(r, tokens)
	switch {
	case found == nil && blind > 0:
		return nil, http.StatusServiceUnavailable, "a token cannot be read, so it lets nobody in: see serin's log, and check the files of [http] token_file and [[http.token]]"
	case found == nil:
		return nil, http.StatusUnauthorized, "this needs the header Authorization: Bearer TOKEN, with the token of [http] token_file or of a [[http.token]]"
	case !found.may(role):
		return nil, http.StatusForbidden, fmt.Sprintf("the token %q may not do this: it needs the role %s, and has %s", found.Name, role, found.Role)
	}
	return found, 0, ""
}

// bearer compares in constant time; the hashes make the lengths equal.
func bearer(header, token string) bool {
	scheme, given, _ := strings.Cut(header, " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(token))
	same := subtle.ConstantTimeCompare(a[:], b[:]) == 1
	return same && token != "" && strings.EqualFold(scheme, "Bearer")
}

// originOf returns scheme://host of a URL, "" when it is none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// quoteHost makes a foreign host name short and printable.
func quoteHost(h string) string {
	if len(h) > 80 {
		h = h[:80] + "…"
	}
	return strings.ToValidUTF8(`"`+h+`"`, "?")
}
