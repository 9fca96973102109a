package configs

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"serin/probe/secret"
)

// checkHeaders checks the headers of a target or channel, and makes the redactor know the secret ones; own are those that
// serin sets itself.
func (s section) checkHeaders(headers map[string]string, own ...string) {
	for _, name := range sortedKeys(headers) {
		key, value := "headers."+name, headers[name]
		s.checkHeaderName("headers", name, own)
		if !httpguts.ValidHeaderFieldValue(value) {
			s.fail(key, "holds a control character", "write the value on one line")
		}
		switch {
		case !secretHeader(name):
		case !s.l.file.AllowPlain:
			s.fail(key, "is a secret in the config itself", fmt.Sprintf("use headers_env = { %q = \"VARIABLE\" } (or allow_plain_secrets = true at the top of the file)", name))
		default:
			s.learnWords(key, "header "+name, value)
		}
	}
}

// headersEnv checks headers whose values stand in environment variables, and returns the values of the good ones.
func (s section) headersEnv(variables map[string]string, own ...string) map[string]string {
	values := map[string]string{}
	for _, name := range sortedKeys(variables) {
		key, variable := "headers_env."+name, variables[name]
		good := s.checkHeaderName("headers_env", name, own)
		if s.leftOut() {
			continue
		}
		value, ok := os.LookupEnv(variable)
		switch {
		case !variableName(variable) || secretPrefix(variable):
			s.fail(key, "looks like the secret itself", "write the name of an environment variable")
		case !ok:
			s.fail(key, "environment variable "+variable+" is not set", "set it in serin's environment")
		case strings.TrimSpace(value) == "":
			s.fail(key, "environment variable "+variable+" is empty", "set it to the header's value")
		case !httpguts.ValidHeaderFieldValue(value):
			s.fail(key, "environment variable "+variable+" holds a control character", "set it to one line")
		case good:
			s.learnWords(key, "environment variable "+variable, value)
			values[name] = value
		}
	}
	return values
}

func (s section) checkHeaderName(table, name string, own []string) bool {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		s.fail(table, fmt.Sprintf("%q is not a header name", name), "use letters, digits and -")
	case slices.Contains(own, lower), strings.HasPrefix(lower, "serin-"),
		slices.Contains([]string{"content-length", "transfer-encoding", "host", "connection", "content-type"}, lower):
		s.fail(table+"."+name, "is a header that serin sets itself", "remove it")
	default:
		return true
	}
	return false
}

// learnWords makes the redactor know the words of a header value ("Bearer abc"): a secret by itself holds no space. A value
// without a word that can be told from ordinary text is refused.
func (s section) learnWords(key, label, value string) {
	words := strings.Fields(value)
	s.l.cfg.Redactor.Know(words...)
	if !slices.ContainsFunc(words, func(w string) bool { return len(w) >= secret.Least }) {
		s.fail(key, label+" "+secret.ErrShort.Error(), "use a longer one; a value that is no secret goes into headers")
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
