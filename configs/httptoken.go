package configs

import (
	"fmt"

	"serin/probe"
)

// HTTPToken is one [[http.token]]: a token of its own for a person or a machine, that may do what its role says.
type HTTPToken struct {
	Name   string
	Secret probe.Secret // read again when its file changes
	Role   string       // read, annotate or admin
}

// tokenKeys are the keys of [[http.token]].
type tokenKeys struct {
	Name string `koanf:"name"`
	File string `koanf:"token_file"`
	Role string `koanf:"role"`
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
		t := HTTPToken{Name: l.name(s, seen), Role: k.Role}
		l.checkRole(s, k.Role)
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

func (l *loader) checkRole(s section, role string) {
	switch {
	case s.tree.kids["scopes"] != nil:
		l.rep.fail(s.at("scopes"), s.key("scopes"), "was replaced by role", fmt.Sprintf("write role = %q", roleOf(s.tree.kids["scopes"].val)))
	case role != "":
		l.oneOf(layers{s}, "role", role, "read", "annotate", "admin")
	case !s.wrong("role"):
		l.rep.fail(s.at("role"), s.key("role"), "is missing", `write role = "read", "annotate" (marks, silences, acks, labels) or "admin" (accept, reset, reload)`)
	}
}

// roleOf returns the weakest role that may do what a list of scopes allowed.
func roleOf(scopes any) string {
	role := "read"
	list, _ := scopes.([]*node) // another type could do nothing
	for _, n := range list {
		switch n.val {
		case "silence", "mark", "ack":
			role = "annotate"
		case "write", "accept", "reload":
			return "admin"
		}
	}
	return role
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
