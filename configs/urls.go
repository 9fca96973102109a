package configs

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// httpURL checks an http or https URL without credentials in it, and returns it parsed, or nil where it is not one.
func (l *loader) httpURL(from layers, key, raw string) *url.URL {
	at, name := from.at(key)
	u, err := url.Parse(raw)
	switch {
	case strings.TrimSpace(raw) != raw || strings.ContainsAny(raw, " \t\r\n"):
		l.rep.fail(at, name, "holds white space", "take it out")
		return nil
	case raw != "" && !strings.Contains(raw, "://"):
		l.rep.fail(at, name, "has no http:// or https:// in front", "write https://host/path")
		return nil
	case err != nil:
		l.rep.fail(at, name, "is not a URL: "+urlReason(err), "write https://host/path")
		return nil
	case u.Scheme != "http" && u.Scheme != "https":
		l.rep.fail(at, name, "has no http:// or https:// in front", "write https://host/path")
		return nil
	case u.Hostname() == "":
		l.rep.fail(at, name, "names no host", "write https://host/path")
		return nil
	case u.User != nil && !l.plain:
		l.rep.fail(at, name, "holds a user or password", "take it out: a URL shows up in logs")
		return nil
	case u.Fragment != "":
		l.rep.fail(at, name, "holds a #fragment, which is never sent", "take it out")
		return nil
	}
	l.learnPassword(name, u)
	return u
}

// learnPassword makes the redactor know the password of a URL.
func (l *loader) learnPassword(label string, u *url.URL) {
	if u.User == nil {
		return
	}
	if pw, ok := u.User.Password(); ok && pw != "" {
		l.learnWords("the password of "+label, pw)
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

// checkBaseURL checks the base URL of a target; protocol is known to be one.
func (l *loader) checkBaseURL(t *target) {
	at, key := t.from.at("base_url")
	if t.BaseURL == "" && t.from.wrong("base_url") {
		return
	}
	if t.BaseURL == "" {
		l.rep.fail(at, key, "is missing", `name the endpoint: base_url = "https://host/v1"`)
		return
	}
	u := l.httpURL(t.from, "base_url", t.BaseURL)
	if u == nil {
		return
	}
	if u.User != nil {
		l.rep.fail(at, key, "holds a user or password", "use api_key_env or headers_env")
		return
	}
	for name := range u.Query() {
		if secretParameter(name) {
			l.rep.fail(at, key, fmt.Sprintf("holds a key in its query (%s)", name), "use api_key_env: a URL shows up in logs")
			return
		}
	}
	l.checkPasted(t, u, at, key)
	if u.Scheme == "http" && !privateHost(u.Hostname()) {
		l.rep.warn(at, key, fmt.Sprintf("sends the key and the prompts to %s without encryption", u.Hostname()), "use https://")
	}
}

func secretParameter(name string) bool {
	switch strings.ToLower(name) {
	case "key", "api_key", "apikey", "api-key", "token", "access_token", "sig", "signature", "code", "subscription-key":
		return true
	}
	return false
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

// resolveHTTP reads [http].
func (l *loader) resolveHTTP() {
	s := l.single("http")
	k := httpKeys{HTTP: defaultHTTP()}
	own := s
	own.values = dropKeys(s.values, []string{"token"})
	l.decode(layers{own}, &k)
	l.cfg.HTTP = k.HTTP
	first := ""
	if k.TokenFile != "" {
		first = l.near(s.at("token_file"), k.TokenFile)
	}
	l.resolveTokens(s, first)
	if k.TokenFile != "" && !l.opt.NoSecrets {
		l.cfg.HTTP.Token = l.secretFile(s.at("token_file"), s.key("token_file"), first)
	}
	host, ok := l.checkListen(s, "listen", k.Listen)
	if ok && !loopbackHost(host) && k.TokenFile == "" && !s.has("token") && !k.AllowPublic {
		l.rep.fail(s.at("listen"), s.key("listen"), fmt.Sprintf("%q is reachable from other machines and there is no token", k.Listen),
			`give token_file or [[http.token]], listen on 127.0.0.1, open only metrics_listen, or say allow_public = true`)
	}
	if k.MetricsListen != "" {
		l.checkListen(s, "metrics_listen", k.MetricsListen)
		if k.MetricsListen == k.Listen {
			l.rep.fail(s.at("metrics_listen"), s.key("metrics_listen"), "is the same as listen", "give it another port, or remove it")
		}
	}
	if k.ExternalURL != "" {
		l.httpURL(layers{s}, "external_url", k.ExternalURL)
	}
}

func (l *loader) checkListen(s section, key, addr string) (host string, ok bool) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		l.rep.fail(s.at(key), s.key(key), fmt.Sprintf("%q is not host:port", addr), `write "127.0.0.1:9469"`)
		return "", false
	}
	return host, true
}
