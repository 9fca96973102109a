package configs

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"serin/probe/secret"
	"serin/probe/wire"
)

// httpURL checks an http or https URL without credentials in it, and returns it parsed, or nil where it is not one.
func (s section) httpURL(key, raw string) *url.URL {
	u, err := url.Parse(raw)
	scheme := strings.Contains(raw, "://") && (err != nil || u.Scheme == "http" || u.Scheme == "https")
	what, fix := "", "write https://host/path"
	switch {
	case strings.ContainsAny(raw, " \t\r\n"):
		what, fix = "holds white space", "take it out"
	case raw != "" && !scheme:
		what = "has no http:// or https:// in front"
	case err != nil:
		what = "is not a URL: " + urlReason(err)
	case u.Hostname() == "":
		what = "names no host"
	case u.User != nil && !s.l.file.AllowPlain:
		what, fix = "holds a user or password", "take it out: a URL shows up in logs"
	case u.Fragment != "":
		what, fix = "holds a #fragment, which is never sent", "take it out"
	default:
		s.learnUser(key, u)
		return u
	}
	s.fail(key, what, fix)
	return nil
}

// learnUser makes the redactor know the user info of a URL whose path and query are no secret.
func (s section) learnUser(key string, u *url.URL) {
	if u.User != nil {
		s.checkParts(key, &url.URL{User: u.User})
	}
}

// urlReason returns why a text is no URL, without the text.
func urlReason(err error) string {
	if e, ok := err.(*url.Error); ok {
		if strings.Contains(e.Err.Error(), "port") {
			return "its port is not a number"
		}
		if _, ok := e.Err.(url.EscapeError); ok {
			return "an escape in it is broken"
		}
	}
	return "it cannot be parsed"
}

// checkBaseURL checks the base URL of a target; a wrong protocol is reported elsewhere.
func (t *target) checkBaseURL() {
	if t.BaseURL == "" {
		if !t.wrong("base_url") {
			t.fail("base_url", "is missing", `name the endpoint: base_url = "https://host/v1"`)
		}
		return
	}
	u := t.httpURL("base_url", t.BaseURL)
	if u == nil {
		return
	}
	if u.User != nil {
		t.fail("base_url", "holds a user or password", "use api_key_env or headers_env")
		return
	}
	for name := range u.Query() {
		if secret.Parameter(name) {
			t.fail("base_url", fmt.Sprintf("holds a key in its query (%s)", name), "use api_key_env: a URL shows up in logs")
			return
		}
	}
	t.checkPasted(u)
	if u.Scheme == "http" && !privateHost(u.Hostname()) {
		t.warn("base_url", fmt.Sprintf("sends the key and the prompts to %s without encryption", u.Hostname()), "use https://")
	}
}

// checkPasted refuses a base URL that holds the endpoint's path already, or its version twice. Of an unknown protocol the
// paths of all are looked for.
func (t *target) checkPasted(u *url.URL) {
	p, err := wire.Find(t.Protocol)
	if err != nil {
		p = wire.Protocol{}
	}
	if fixed, pasted := p.Pasted(t.BaseURL); pasted {
		t.fail("base_url", "holds the endpoint's path, which serin adds itself", fmt.Sprintf("write base_url = %q", fixed))
	} else if path := strings.TrimRight(u.Path, "/"); strings.HasSuffix(path, "/v1/v1") {
		t.fail("base_url", "ends in /v1 twice", fmt.Sprintf("write base_url = %q", strings.Replace(t.BaseURL, "/v1/v1", "/v1", 1)))
	} else if p.Name == "ollama" && strings.HasSuffix(path, "/v1") {
		t.fail("base_url", "is where Ollama speaks OpenAI's protocol", `remove /v1 from base_url, or write protocol = "openai-chat"`)
	}
}

// privateHost reports whether a host is loopback or private: by its address, or by a name that no public DNS has.
func privateHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || netip.MustParsePrefix("100.64.0.0/10").Contains(a)
	}
	h := strings.TrimSuffix(strings.ToLower(host), ".")
	if !strings.Contains(h, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc", ".cluster.local"} {
		if strings.HasSuffix(h, suffix) {
			return true
		}
	}
	return strings.Contains(h, ".svc.")
}

func loopbackHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

func (t *target) checkProxy() {
	if t.Proxy == "" || t.Proxy == "none" {
		return
	}
	const fix = `write "http://host:port" (or https, socks5), or "none"; with a password use HTTPS_PROXY in the environment`
	u, err := parseProxy(t.Proxy)
	switch {
	case err != nil:
		t.fail("proxy", "is not a proxy URL", fix)
	case u.User != nil && !t.l.file.AllowPlain:
		t.fail("proxy", "holds a user or password", fix)
	default:
		t.learnUser("proxy", u)
	}
}

// learnProxies makes the redactor know the passwords of the proxies in the environment: an error of theirs may hold them.
func (l *loader) learnProxies() {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if u, err := parseProxy(os.Getenv(name)); err == nil {
			parts, err := secret.Parts(&url.URL{User: u.User})
			l.cfg.Redactor.Know(parts...)
			if err != nil {
				l.doc.rep.add(Warning, place{file: fromEnvironment}, name, err.Error(), "it may show up in logs: use a longer one")
			}
		}
	}
}

// parseProxy returns the URL of a proxy.
func parseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("no proxy URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, errors.New("no proxy scheme")
}
