package configs

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"serin/probe"
	"serin/probe/wire"
)

// ownOnly are the keys that a target never takes from its provider or the defaults.
func ownOnly() []string { return []string{"name", "title"} }

func (l *loader) resolveTargets() {
	defaults := l.single("target_defaults")
	first := map[string]place{}
	list := l.many("target")
	if len(list) == 0 && l.top.tree.kids["target"] == nil {
		l.rep.fail(l.top.tree.at, "target", "is missing: there is nothing to probe", "add a [[target]] with name, base_url and model")
	}
	used := map[string]bool{}
	for _, s := range list {
		name := l.name(s, first)
		t := l.resolveTarget(s, defaults, used)
		if name == "" || t == nil {
			continue
		}
		l.targets = append(l.targets, t)
		l.cfg.Targets = append(l.cfg.Targets, t.Target)
	}
	for name, s := range l.providers {
		if !used[name] {
			l.rep.warn(s.at("name"), s.path, "is used by no target", fmt.Sprintf("give a target provider = %q, or remove it", name))
		}
	}
}

// resolveTarget merges and checks one target.
func (l *loader) resolveTarget(own, defaults section, used map[string]bool) *target {
	from := layers{own}
	provider, lanes := l.providerOf(own, defaults)
	if provider != nil {
		used[provider.values["name"].(string)] = true
		from = append(from, *provider)
	}
	from = append(from, defaults)
	for i := 1; i < len(from); i++ {
		from[i].values = dropKeys(from[i].values, ownOnly())
	}
	k := targetKeys{Target: probe.DefaultTarget()}
	l.decode(from, &k)
	t := &target{Target: &k.Target, from: from, lanes: lanes}
	if t.Provider == "" {
		t.Provider = t.Name
		if _, taken := l.providers[t.Name]; taken {
			l.rep.warn(own.at("name"), own.key("name"), "is the name of a provider too, so the two count as one unit of an outage", fmt.Sprintf("rename it, or give it provider = %q", t.Name))
		}
	}
	t.Prices = l.pricesOf(t.Model)
	t.APIKey = l.secret(from, "api_key", k.credential())
	l.checkTarget(t)
	l.budgetOf(t, k)
	return t
}

func dropKeys(m map[string]any, keys []string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

// providerOf returns the section of the target's provider, or nil, and its own bound of probes in flight.
func (l *loader) providerOf(own, defaults section) (*section, int) {
	s := own
	if !own.has("provider") {
		s = defaults
	}
	name, _ := s.values["provider"].(string)
	if name == "" {
		return nil, 0
	}
	p, ok := l.providers[name]
	if !ok {
		l.rep.fail(s.at("provider"), s.key("provider"), fmt.Sprintf("there is no provider %q", name), l.nameFix(name, sortedKeys(l.providers), "provider"))
		return nil, 0
	}
	lanes, _ := p.values["max_in_flight"].(int64)
	return &p, int(lanes)
}

func (l *loader) nameFix(name string, known []string, what string) string {
	if n, ok := nearest(name, known); ok {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(known) == 0 {
		return "add a [[" + what + "]] of that name"
	}
	if len(known) > 10 {
		known = append(known[:10:10], "…")
	}
	return "use one of: " + strings.Join(known, ", ")
}

// checkTarget checks what stands in one target whatever scene uses it.
func (l *loader) checkTarget(t *target) {
	l.oneOf(t.from, "protocol", t.Protocol, wire.Names()...)
	l.checkBaseURL(t)
	if t.Model == "" && !t.from.wrong("model") {
		at, key := t.from.at("model")
		l.rep.fail(at, key, "is missing", `name the model as the endpoint does: model = "…"`)
	}
	l.oneOf(t.from, "auth", t.Auth, wire.Auths()...)
	l.oneOf(t.from, "connection", t.Connection, "new", "reuse")
	l.oneOf(t.from, "cache", t.Cache, "bust", "keep")
	l.checkNumbers(t)
	l.checkTimeouts(t)
	l.checkProxy(t)
	l.checkCA(t)
	l.checkHeaders(t.from, t.Target)
	l.checkExtraBody(t)
	l.checkDialect(t)
	for name, value := range t.Labels {
		if name == "" || value == "" {
			at, key := t.from.at("labels")
			l.rep.fail(at, key, "holds an empty name or value", "remove it")
		}
	}
}

func (l *loader) checkNumbers(t *target) {
	least := func(key string, v, low int, fix string) {
		if at, name := t.from.at(key); t.from.has(key) && v < low {
			l.rep.fail(at, name, fmt.Sprintf("is %d, below %d", v, low), fix)
		}
	}
	least("max_in_flight", t.MaxInFlight, 1, "write 1 or more (default 4)")
	least("max_tokens", t.MaxTokens, 0, "write a number of tokens, or 0 for the cap of each size")
	least("context_limit", t.ContextLimit, 0, "write the model's context length in tokens, or 0 where it is not known")
}

func (l *loader) checkTimeouts(t *target) {
	for key, d := range map[string]time.Duration{"connect_timeout": t.ConnectTimeout, "first_token_timeout": t.FirstTokenTimeout,
		"stall_timeout": t.StallTimeout, "total_timeout": t.TotalTimeout} {
		if at, name := t.from.at(key); t.from.has(key) && d <= 0 {
			l.rep.fail(at, name, "must be above 0", `write a duration such as "30s"`)
		}
	}
	for _, s := range probe.Sizes() {
		if at, key := t.from.at("first_token_timeout"); t.FirstToken(s) > t.TotalTimeout && t.TotalTimeout > 0 {
			l.rep.fail(at, key, fmt.Sprintf("the first token may take %s but the whole answer only %s (total_timeout)", formatDuration(t.FirstToken(s)), formatDuration(t.TotalTimeout)),
				"raise total_timeout or lower first_token_timeout")
			return
		}
	}
}

func (l *loader) checkProxy(t *target) {
	if t.Proxy == "" || t.Proxy == "none" {
		return
	}
	at, key := t.from.at("proxy")
	fix := `write "http://host:port" (or https, socks5), or "none"; with a password use HTTPS_PROXY in the environment`
	u, err := parseProxy(t.Proxy)
	switch {
	case err != nil:
		l.rep.fail(at, key, "is not a proxy URL", fix)
	case u.User != nil && !l.plain:
		l.rep.fail(at, key, "holds a user or password", fix)
	default:
		l.learnPassword(key, u)
	}
}

// learnProxies makes the redactor know the passwords of the proxies in the environment: an error of theirs may hold them.
func (l *loader) learnProxies() {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if u, err := parseProxy(os.Getenv(name)); err == nil {
			l.learnPassword(name, u)
		}
	}
}

func (l *loader) checkCA(t *target) {
	if t.CAFile == "" {
		return
	}
	at, key := t.from.at("ca_file")
	t.CAFile = l.near(at, t.CAFile)
	pem, err := probe.ReadRegular(t.CAFile, probe.MaxRootsFile)
	if err != nil {
		l.rep.fail(at, key, fmt.Sprintf("%s cannot be read: %s", t.CAFile, reason(err)), "name a PEM file that serin's user may read")
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		l.rep.fail(at, key, t.CAFile+" holds no certificate", "name a PEM file with -----BEGIN CERTIFICATE----- in it")
	}
}

// checkExtraBody refuses keys that would turn the probe into something that it does not measure.
func (l *loader) checkExtraBody(t *target) {
	at, key := t.from.at("extra_body")
	for _, name := range sortedKeys(t.ExtraBody) {
		switch name {
		case "stream", "messages", "model", "input", "contents", "system", "systemInstruction", "prompt":
			l.rep.fail(at, key+"."+name, "would overwrite what the probe itself sends", "remove it (model and prompts have their own keys)")
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			l.rep.fail(at, key+"."+name, "would overwrite the output cap", "use max_tokens of the target or of a size")
		case "n":
			l.rep.fail(at, key+"."+name, "asks for several answers, which leaves no time per output token", "remove it")
		case "api_key", "key":
			l.rep.fail(at, key+"."+name, "is a secret in the config itself", "use api_key_env")
		}
	}
}
