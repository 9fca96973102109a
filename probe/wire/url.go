package wire

import (
	"fmt"
	"net/url"
	"strings"
)

// URL returns the final URL of base for model: base without its trailing slashes, with the endpoint's path, its query
// kept. The error names what is wrong with base.
func (pr *Protocol) URL(base, model string) (string, error) {
	u, err := parseBase(base)
	if err != nil {
		return "", err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	return rebuild(u, pr.Path(path, url.PathEscape(model))), nil
}

// Pasted reports whether base already holds an endpoint's path, this protocol's or another's, and returns base without
// it, which is what base_url should be.
func (pr *Protocol) Pasted(base string) (fixed string, pasted bool) {
	u, err := parseBase(base)
	if err != nil {
		return "", false
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	all := append([]Protocol{*pr}, Protocols()...)
	for _, p := range all {
		for _, end := range p.Endpoint {
			if rest, ok := cutEnd(path, end); ok {
				return rebuild(u, rest), true
			}
		}
	}
	return "", false
}

// cutEnd cuts end off path; a * in end stands for anything within a segment.
func cutEnd(path, end string) (rest string, ok bool) {
	head, tail, wild := strings.Cut(end, "*")
	if !wild {
		return strings.CutSuffix(path, end)
	}
	if path, ok = strings.CutSuffix(path, tail); !ok {
		return "", false
	}
	i := strings.LastIndex(path, head)
	if i < 0 || strings.Contains(path[i+len(head):], "/") {
		return "", false
	}
	return path[:i], true
}

// ModelsURL returns the URL of the list of models that base has. The error says that base is wrong or that the protocol
// knows no such list.
func (pr *Protocol) ModelsURL(base string) (string, error) {
	u, err := parseBase(base)
	if err != nil {
		return "", err
	}
	path := pr.Models(strings.TrimRight(u.EscapedPath(), "/"))
	if path == "" {
		return "", fmt.Errorf("%s has no list of models to ask for", pr.Name)
	}
	return rebuild(u, path), nil
}

// Key returns the header that carries the key and what stands before the key in it. auth is "" (the protocol's own
// way), bearer, x-api-key, api-key, x-goog-api-key or none; for none the name is "".
func (pr *Protocol) Key(auth string) (name, prefix string) {
	switch auth {
	case "none":
		return "", ""
	case "bearer":
		return "Authorization", "Bearer "
	case "x-api-key", "api-key", "x-goog-api-key":
		return auth, ""
	}
	if pr.KeyHeader == "Authorization" {
		return "Authorization", "Bearer "
	}
	return pr.KeyHeader, ""
}

// Auths lists the values of auth that Key knows.
func Auths() []string {
	return []string{"", "bearer", "x-api-key", "api-key", "x-goog-api-key", "none"}
}

func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil:
		return nil, fmt.Errorf("base_url is not a URL: %w", cause(err))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("base_url needs http:// or https:// in front")
	case u.Host == "":
		return nil, fmt.Errorf("base_url has no host")
	case u.User != nil:
		return nil, fmt.Errorf("base_url holds a user or password; use api_key_env or headers_env")
	}
	return u, nil
}

// cause drops the URL that a url.Error repeats: it may hold a credential.
func cause(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// rebuild returns the URL with path in place of u's. Of path's query, what u's query says already is left out.
func rebuild(u *url.URL, path string) string {
	path, own, _ := strings.Cut(path, "?")
	said := u.Query()
	query := u.RawQuery
	for _, part := range strings.Split(own, "&") {
		name, _, _ := strings.Cut(part, "=")
		if part == "" || said.Has(name) {
			continue
		}
		if query != "" {
			part += "&"
		}
		query = part + query
	}
	if query != "" {
		query = "?" + query
	}
	return u.Scheme + "://" + u.Host + path + query
}
