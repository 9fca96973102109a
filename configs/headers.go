package configs

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"serin/probe"
)

// checkHeaders checks the headers of a target and makes the redactor know the secret ones.
func (l *loader) checkHeaders(from layers, t *probe.Target) {
	at, key := from.at("headers")
	for _, name := range sortedKeys(t.Headers) {
		l.checkHeaderName(at, key, name)
		value := t.Headers[name]
		if !validHeaderValue(value) {
			l.rep.fail(at, key+"."+name, "holds a control character", "write the value on one line")
		}
		if !secretHeader(name) {
			continue
		}
		if !l.plain {
			l.rep.fail(at, key+"."+name, "is a secret in the config itself", fmt.Sprintf("use headers_env = { %q = \"VARIABLE\" } (or allow_plain_secrets = true at the top of the file)", name))
			continue
		}
		l.learnWords("header "+name, value)
	}
	l.checkHeadersEnv(from, t)
}

func (l *loader) checkHeadersEnv(from layers, t *probe.Target) {
	at, key := from.at("headers_env")
	for _, name := range sortedKeys(t.HeadersEnv) {
		l.checkHeaderName(at, key, name)
		if l.opt.NoSecrets {
			continue
		}
		variable := t.HeadersEnv[name]
		value, ok := os.LookupEnv(variable)
		switch {
		case !variableName(variable) || secretPrefix(variable):
			l.rep.fail(at, key+"."+name, "looks like the secret itself", "write the name of an environment variable")
		case !ok:
			l.rep.fail(at, key+"."+name, "environment variable "+variable+" is not set", "set it in serin's environment")
		case strings.TrimSpace(value) == "":
			l.rep.fail(at, key+"."+name, "environment variable "+variable+" is empty", "set it to the header's value")
		case !validHeaderValue(value):
			l.rep.fail(at, key+"."+name, "environment variable "+variable+" holds a control character", "set it to one line")
		default:
			l.learnWords("environment variable "+variable, value)
		}
	}
}

func (l *loader) checkHeaderName(at place, key, name string) {
	if !validHeaderName(name) {
		l.rep.fail(at, key, fmt.Sprintf("%q is not a header name", name), "use letters, digits and -")
		return
	}
	switch strings.ToLower(name) {
	case "content-length", "transfer-encoding", "host", "connection", "accept-encoding", "content-type":
		l.rep.fail(at, key+"."+name, "is a header that the probe sets itself", "remove it")
	}
}

// learnWords makes the redactor know the words of a header value ("Bearer abc"): a secret by itself holds no space.
func (l *loader) learnWords(label, value string) {
	for _, word := range strings.Fields(value) {
		if s := strings.ToLower(word); s == "bearer" || s == "basic" || s == "token" {
			continue
		}
		s, err := probe.SecretFromValue(label, word)
		if err == nil { // a word has no space, and control characters were refused
			l.cfg.Redactor.Add(s)
		}
	}
}

// secretHeader reports whether a header of that name carries a credential.
func secretHeader(name string) bool {
	n := strings.ToLower(name)
	for _, part := range []string{"authorization", "api-key", "apikey", "api_key", "token", "secret", "password", "credential", "cookie"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}

// validHeaderName reports whether name is a token of RFC 9110.
func validHeaderName(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return name != ""
}

// validHeaderValue reports whether a value can be sent: no control character but the tab.
func validHeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
