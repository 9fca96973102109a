package configs

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"serin/probe/wire"
)

// checkPasted refuses a base URL that holds the endpoint's path already, or its version twice.
func (l *loader) checkPasted(t *target, u *url.URL, at place, key string) {
	p, err := wire.Find(t.Protocol)
	if err != nil {
		p = wire.Protocol{} // reported as an unknown protocol; the paths of all known ones are looked for still
	}
	if fixed, pasted := p.Pasted(t.BaseURL); pasted {
		l.rep.fail(at, key, "holds the endpoint's path, which serin adds itself", fmt.Sprintf("write base_url = %q", fixed))
		return
	}
	if path := strings.TrimRight(u.Path, "/"); strings.HasSuffix(path, "/v1/v1") {
		l.rep.fail(at, key, "ends in /v1 twice", fmt.Sprintf("write base_url = %q", strings.Replace(t.BaseURL, "/v1/v1", "/v1", 1)))
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

// parseWebhook returns the URL of a webhook; its error never holds the text.
func parseWebhook(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("no http or https URL")
	}
	return u, nil
}
