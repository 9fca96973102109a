package configs

import (
	"fmt"
	"net"

	"serin/probe/secret"
)

// HTTPToken is one [[http.token]]: a token of its own for a person or a machine, that may do what its role says.
type HTTPToken struct {
	Name   string
	Secret secret.Secret // read again when its file changes
	Role   string        // read, annotate or admin
}

// tokenKeys are the keys of [[http.token]].
type tokenKeys struct {
	Name string `koanf:"name"`
	File string `koanf:"token_file"`
	Role string `koanf:"role"`
}

func (l *loader) resolveHTTP() {
	s, k := l.table("http"), l.file.HTTP
	l.cfg.HTTP = k.HTTP
	files := map[string]string{}
	if k.TokenFile != "" {
		files[s.near("token_file", k.TokenFile)] = "http.token_file"
		l.cfg.HTTP.Token = s.secretFile("token_file", k.TokenFile)
	}
	l.resolveTokens(files)
	host, ok := s.checkListen("listen", k.Listen)
	if ok && !loopbackHost(host) && k.TokenFile == "" && !s.given("token") && !k.AllowPublic {
		s.fail("listen", fmt.Sprintf("%q is reachable from other machines and there is no token", k.Listen),
			`give token_file or [[http.token]], listen on 127.0.0.1, open only metrics_listen, or say allow_public = true`)
	}
	if k.MetricsListen != "" {
		s.checkListen("metrics_listen", k.MetricsListen)
		if k.MetricsListen == k.Listen {
			s.fail("metrics_listen", "is the same as listen", "give it another port, or remove it")
		}
	}
	if k.ExternalURL != "" {
		s.httpURL("external_url", k.ExternalURL)
	}
}

// resolveTokens reads every [[http.token]]; files holds whose token a file has.
func (l *loader) resolveTokens(files map[string]string) {
	seen := map[string]section{}
	for i, s := range l.each("http.token") {
		k := l.file.HTTP.Tokens[i]
		t := HTTPToken{Name: s.name(seen), Role: k.Role}
		switch {
		case k.Role != "":
			s.oneOf("role", k.Role, "read", "annotate", "admin")
		case !s.given("role") && !s.given("scopes"):
			s.fail("role", "is missing", `write role = "read", "annotate" (marks, silences, acks, labels) or "admin" (accept, reset, reload)`)
		}
		if k.File == "" {
			if !s.wrong("token_file") {
				s.fail("token_file", "is missing", `name the file that holds the token: token_file = "ci.token"`)
			}
			continue
		}
		path := s.near("token_file", k.File)
		if other, twice := files[path]; twice {
			s.fail("token_file", "is the file of "+other+" too: nobody could tell who it was", "give each its own token")
			continue
		}
		files[path] = s.String()
		t.Secret = s.secretFile("token_file", k.File)
		l.cfg.HTTP.Tokens = append(l.cfg.HTTP.Tokens, t)
	}
}

func (s section) checkListen(key, addr string) (host string, ok bool) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		s.fail(key, fmt.Sprintf("%q is not host:port", addr), `write "127.0.0.1:9469"`)
		return "", false
	}
	return host, true
}
