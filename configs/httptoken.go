package configs

import (
	"fmt"
	"slices"
	"strings"

	"serin/probe"
)

// HTTPToken is one [[http.token]]: a token of its own for a person or a machine, that may do what its scopes say.
type HTTPToken struct {
	Name   string
	Secret probe.Secret // read again when its file changes
	Scopes []string     // of TokenScopes
}

// tokenKeys are the keys of [[http.token]].
type tokenKeys struct {
	Name   string   `koanf:"name"`
	File   string   `koanf:"token_file"`
	Scopes []string `koanf:"scopes"`
}

// TokenScopes lists what a token may be good for: read is every GET, write is every change, the others are one kind of
// change each.
func TokenScopes() []string {
	return []string{"read", "write", "silence", "mark", "ack", "accept", "reload"}
}

// resolveTokens reads every [[http.token]]; first is the path of [http] token_file, "" = none.
func (l *loader) resolveTokens(http section, first string) {
	seen, files := map[string]place{}, map[string]string{}
	if first != "" {
		files[first] = "http.token_file"
	}
	for _, s := range l.nested(http, "token") {
		var k tokenKeys
		l.decode(layers{s}, &k)
		t := HTTPToken{Name: l.name(s, seen), Scopes: k.Scopes}
		l.checkScopes(s, k.Scopes)
		if k.File == "" {
			if !s.wrong("token_file") {
				l.rep.fail(s.at("token_file"), s.key("token_file"), "is missing", `name the file that holds the token: token_file = "ci.token"`)
			}
			continue
		}
		path := l.near(s.at("token_file"), k.File)
		if other, twice := files[path]; twice {
			l.rep.fail(s.at("token_file"), s.key("token_file"), "is the file of "+other+" too: nobody could tell who it was", "give each its own token")
			continue
		}
		files[path] = s.path
		if !l.opt.NoSecrets {
			t.Secret = l.secretFile(s.at("token_file"), s.key("token_file"), path)
		}
		l.cfg.HTTP.Tokens = append(l.cfg.HTTP.Tokens, t)
	}
}

func (l *loader) checkScopes(s section, scopes []string) {
	if len(scopes) == 0 && !s.wrong("scopes") {
		l.rep.fail(s.at("scopes"), s.key("scopes"), "names no scope: the token could do nothing", `name them: scopes = ["read", "silence"] of `+strings.Join(TokenScopes(), ", "))
	}
	for i, scope := range scopes {
		l.oneOf(layers{s}, "scopes", scope, TokenScopes()...)
		if slices.Contains(scopes[:i], scope) {
			l.rep.fail(s.at("scopes"), s.key("scopes"), fmt.Sprintf("names %q twice", scope), "remove one")
		}
	}
}

// nested returns the checked sections of an array of tables inside a table that comes once.
func (l *loader) nested(of section, name string) []section {
	nodes, _ := of.values[name].([]*node) // absent or reported
	list := make([]section, 0, len(nodes))
	for i, n := range nodes {
		t, _ := n.val.(*table) // tablesOf saw to that
		list = append(list, checkTable(t, l.spec.keys[of.path].keys[name], named(of.path+"."+name, i, n), l.rep))
	}
	return list
}
