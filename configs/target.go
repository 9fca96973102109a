package configs

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"serin/probe"
	"serin/probe/glob"
	"serin/probe/secret"
	"serin/probe/wire"
)

// target is a resolved target with its section.
type target struct {
	*probe.Target
	section
	lanes    int // max_in_flight of its provider; 0 = no bound
	selected bool
}

func (l *loader) resolveProviders() {
	seen := map[string]section{}
	for i, s := range l.each("provider") {
		name := s.name(seen)
		if name == "" {
			continue
		}
		if k := l.file.Provider[i]; k.BaseURL != "" {
			s.httpURL("base_url", k.BaseURL) // also where every target has its own
		}
		l.providers[name] = s
		l.cfg.Providers = append(l.cfg.Providers, name)
	}
}

func (l *loader) resolveTargets() {
	if len(l.each("target")) == 0 && !l.table("").given("target") {
		l.table("").fail("target", "is missing: there is nothing to probe", "add a [[target]] with name, base_url and model")
	}
	first, used := map[string]section{}, map[string]bool{}
	for i, s := range l.each("target") {
		name, k := s.name(first), l.file.Target[i]
		used[k.Provider] = true
		t := l.resolveTarget(s, k)
		l.checkProvider(t, k.Provider)
		if name != "" {
			l.targets = append(l.targets, t)
			l.cfg.Targets = append(l.cfg.Targets, t.Target)
		}
	}
	for _, name := range l.cfg.Providers {
		if !used[name] {
			l.providers[name].warn("", "is used by no target", fmt.Sprintf("give a target provider = %q, or remove it", name))
		}
	}
}

// resolveTarget checks one target.
func (l *loader) resolveTarget(s section, k targetKeys) *target {
	t := &target{Target: &k.Target, section: s}
	if t.Provider == "" {
		t.Provider = t.Name
		if _, taken := l.providers[t.Name]; taken {
			t.warn("name", "is the name of a provider too, so the two count as one unit of an outage", fmt.Sprintf("rename it, or give it provider = %q", t.Name))
		}
	}
	for _, p := range l.file.Price {
		if glob.Match(p.Model, t.Model) {
			t.Prices = append(t.Prices, p)
		}
	}
	t.APIKey = t.secret("api_key")
	t.check()
	l.budgetOf(t, k)
	return t
}

// checkProvider reports a provider that there is not, and takes its bound of probes in flight.
func (l *loader) checkProvider(t *target, name string) {
	p, ok := l.providers[name]
	if !ok && name != "" {
		t.fail("provider", fmt.Sprintf("there is no provider %q", name), nameFix(name, sortedKeys(l.providers), "provider"))
	}
	if ok {
		lanes, _ := l.value(join(p.path, "max_in_flight")).(int64)
		t.lanes = int(lanes)
	}
}

// check checks what stands in one target whatever scene uses it.
func (t *target) check() {
	t.oneOf("protocol", t.Protocol, wire.Names()...)
	t.checkBaseURL()
	if t.Model == "" && !t.wrong("model") {
		t.fail("model", "is missing", `name the model as the endpoint does: model = "…"`)
	}
	t.oneOf("auth", t.Auth, wire.Auths()...)
	t.oneOf("connection", t.Connection, "new", "reuse")
	t.oneOf("cache", t.Cache, "bust", "keep")
	t.atLeast("max_in_flight", t.MaxInFlight, 1, "write 1 or more (default 4)")
	t.atLeast("max_tokens", t.MaxTokens, 0, "write a number of tokens, or 0 for the cap of each size")
	t.atLeast("context_limit", t.ContextLimit, 0, "write the model's context length in tokens, or 0 where it is not known")
	t.checkTimeouts()
	t.checkProxy()
	t.checkCA()
	t.checkClientCert()
	t.checkHeaders(t.Headers, "accept-encoding")
	t.headersEnv(t.HeadersEnv, "accept-encoding")
	t.checkExtraBody()
	t.checkEffort()
	for name, value := range t.Labels {
		if name == "" || value == "" {
			t.fail("labels", "holds an empty name or value", "remove it")
		}
	}
}

func (s section) atLeast(key string, v, low int, fix string) {
	if s.has(key) && v < low {
		s.fail(key, fmt.Sprintf("is %d, below %d", v, low), fix)
	}
}

func (t *target) checkTimeouts() {
	for key, d := range map[string]time.Duration{"connect_timeout": t.ConnectTimeout, "first_token_timeout": t.FirstTokenTimeout,
		"stall_timeout": t.StallTimeout, "total_timeout": t.TotalTimeout} {
		if t.has(key) && d <= 0 {
			t.fail(key, "must be above 0", `write a duration such as "30s"`)
		}
	}
	for _, size := range probe.Sizes() {
		if first := t.FirstToken(size); first > t.TotalTimeout && t.TotalTimeout > 0 {
			t.fail("first_token_timeout", fmt.Sprintf("the first token may take %s but the whole answer only %s (total_timeout)", formatDuration(first), formatDuration(t.TotalTimeout)),
				"raise total_timeout or lower first_token_timeout")
			return
		}
	}
}

// checkClientCert reads the certificate that the target shows to its endpoint.
func (t *target) checkClientCert() {
	switch {
	case t.ClientCert == "" && t.ClientKey == "":
		return
	case t.ClientKey == "":
		t.fail("client_cert_file", "stands without client_key_file", "name the PEM file with the certificate's private key; both may be one file")
		return
	case t.ClientCert == "":
		t.fail("client_key_file", "stands without client_cert_file", "name the PEM file with the certificate")
		return
	}
	t.ClientCert, t.ClientKey = t.near("client_cert_file", t.ClientCert), t.near("client_key_file", t.ClientKey)
	if t.leftOut() {
		return
	}
	if _, err := probe.LoadKeyPair(t.ClientCert, t.ClientKey); err != nil {
		t.fail("client_cert_file", "cannot be used: "+err.Error(), "name a PEM certificate and its unencrypted key, which serin's user may read")
		return
	}
	t.checkMode("client_key_file", t.ClientKey)
}

func (t *target) checkCA() {
	if t.CAFile == "" {
		return
	}
	t.CAFile = t.near("ca_file", t.CAFile)
	pem, err := secret.ReadFile(t.CAFile, secret.MaxRoots)
	if err != nil {
		t.fail("ca_file", fmt.Sprintf("%s cannot be read: %s", t.CAFile, reason(err)), "name a PEM file that serin's user may read")
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		t.fail("ca_file", t.CAFile+" holds no certificate", "name a PEM file with -----BEGIN CERTIFICATE----- in it")
	}
}

// checkExtraBody refuses keys that would turn the probe into something that it does not measure.
func (t *target) checkExtraBody() {
	if _, err := json.Marshal(t.ExtraBody); err != nil {
		t.fail("extra_body", "holds a value that JSON has not: nan or inf", "write a finite number")
	}
	const capped = "use max_tokens of the target or of a size"
	for _, name := range sortedKeys(t.ExtraBody) {
		key := "extra_body." + name
		switch name {
		case "stream", "messages", "model", "input", "contents", "system", "systemInstruction", "prompt":
			t.fail(key, "would overwrite what the probe itself sends", "remove it (model and prompts have their own keys)")
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			t.fail(key, "would overwrite the output cap", capped)
		case "n":
			t.fail(key, "asks for several answers, which leaves no time per output token", "remove it")
		case "api_key", "key":
			t.fail(key, "is a secret in the config itself", "use api_key_env")
		}
	}
	p, err := wire.Find(t.Protocol)
	if err != nil {
		return // reported as an unknown protocol
	}
	for _, field := range p.MaxFields {
		if strings.Contains(field, ".") && reaches(t.ExtraBody, field) {
			t.fail("extra_body."+field, "would overwrite the output cap", capped)
		}
	}
}

// reaches reports whether body holds the value that the dotted path leads to.
func reaches(body map[string]any, path string) bool {
	name, rest, more := strings.Cut(path, ".")
	v, ok := body[name]
	if !more || !ok {
		return ok
	}
	return reaches(asTable(v), rest)
}

// checkEffort checks reasoning_effort, which only some protocols have.
func (t *target) checkEffort() {
	p, err := wire.Find(t.Protocol)
	switch effort := t.ReasoningEffort; {
	case err != nil || effort == "":
	case p.Effort == "":
		t.fail("reasoning_effort", fmt.Sprintf("has no place in protocol %s", p.Name), "remove it; say it in extra_body as the endpoint wants it")
	case slices.Contains(strings.Fields(effort), effort): // one word
	default:
		t.fail("reasoning_effort", "holds white space", `write one word of the endpoint's, such as "low"`)
	}
}

func (l *loader) resolvePrices() {
	for i, s := range l.each("price") {
		p := l.file.Price[i]
		if p.Model == "" && !s.wrong("model") {
			s.fail("model", "is missing", `name the models by a glob: model = "gpt-4o*"`)
		}
		for key, m := range map[string]probe.Money{"input": p.Input, "cached_input": p.CachedInput, "cache_write": p.CacheWrite, "output": p.Output} {
			if m.V < 0 {
				s.fail(key, "is below 0", "write dollars per million tokens")
			}
		}
		if !p.Input.Known || !p.Output.Known {
			s.warn("", "has no input or no output price, so no cost is known", "give input and output in dollars per million tokens")
		}
		if slices.ContainsFunc(l.file.Price[:i], func(o probe.Price) bool { return o.Model == p.Model && o.From.Equal(p.From) }) {
			s.warn("model", fmt.Sprintf("%q has a price since then already, and the first counts", p.Model), "remove one, or give it another from")
		}
	}
}
