package configs

import (
	"fmt"
	"slices"
	"strings"

	"serin/alert"
	"serin/probe"
	"serin/probe/glob"
)

// routeKeys are the keys of [[route]].
type routeKeys struct {
	Match    map[string]string `koanf:"match"`
	Channels []string          `koanf:"channels"`
}

// resolveRoutes reads every [[route]]; channels, targets and scenes have been read.
func (l *loader) resolveRoutes() {
	names := make([]string, len(l.cfg.Channels))
	for i, c := range l.cfg.Channels {
		names[i] = c.Name
	}
	used := map[string]bool{}
	sections := l.many("route")
	for _, s := range sections {
		var k routeKeys
		l.decode(layers{s}, &k)
		l.checkRouteChannels(s, k.Channels, names)
		for _, name := range sortedKeys(k.Match) {
			l.checkMatch(s, name, k.Match[name])
		}
		for _, c := range k.Channels {
			used[c] = true
		}
		l.cfg.Routes = append(l.cfg.Routes, alert.Route{Match: k.Match, Channels: k.Channels})
	}
	for _, name := range names {
		if len(sections) > 0 && !used[name] {
			l.rep.warn(sections[0].at(""), "route", fmt.Sprintf("no route names the channel %q: it gets only what no route matches", name), "name it in a route")
		}
	}
}

func (l *loader) checkRouteChannels(s section, chosen, known []string) {
	if len(chosen) == 0 && (s.has("channels") || s.tree.kids["channels"] == nil) {
		l.rep.fail(s.at("channels"), s.key("channels"), "names no channel", `name them: channels = ["slack"]`)
	}
	for i, c := range chosen {
		switch {
		case !slices.Contains(known, c) && !l.brokenChannel(c):
			fix := "add a [[channel]] of this name"
			if n, ok := nearest(c, known); ok {
				fix = fmt.Sprintf("did you mean %q?", n)
			} else if len(known) > 0 {
				fix += "; there are: " + strings.Join(known, ", ")
			}
			l.rep.fail(s.at("channels"), s.key("channels"), fmt.Sprintf("there is no channel %q", c), fix)
		case slices.Contains(chosen[:i], c):
			l.rep.fail(s.at("channels"), s.key("channels"), fmt.Sprintf("names %q twice", c), "remove one")
		}
	}
}

// brokenChannel reports whether a [[channel]] of that name was left out for a mistake, which is reported already.
func (l *loader) brokenChannel(name string) bool {
	nodes, _ := l.top.values["channel"].([]*node) // absent or reported
	return slices.ContainsFunc(nodes, func(n *node) bool {
		t, _ := n.val.(*table) // tablesOf saw to that
		return t.kids["name"] != nil && t.kids["name"].val == name
	})
}

// checkMatch checks one pattern of a route: its name must be known, and something must be able to match it.
func (l *loader) checkMatch(s section, name, pattern string) {
	at, key := s.at("match"), s.key("match")+"."+name
	labels := l.labelNames()
	known := append(alert.MatchNames(), labels...)
	if !slices.Contains(known, name) {
		fix := "match one of: " + strings.Join(known, ", ")
		if n, ok := nearest(name, known); ok {
			fix = fmt.Sprintf("did you mean %q? (one of: %s)", n, strings.Join(known, ", "))
		}
		l.rep.fail(at, key, "is neither a name to match nor a label of a target", fix)
		return
	}
	if !glob.Valid(pattern) {
		l.rep.fail(at, key, fmt.Sprintf("%q is not a pattern", pattern), `write a value, a glob such as "gw-*", or several with | between them`)
		return
	}
	values := l.matchable(name)
	for one := range strings.SplitSeq(pattern, "|") {
		if !slices.ContainsFunc(values, func(v string) bool { return glob.Match(one, v) }) {
			fix := "there are: " + strings.Join(values, ", ")
			if n, ok := nearest(one, values); ok {
				fix = fmt.Sprintf("did you mean %q? (%s)", n, fix)
			}
			l.rep.fail(at, key, fmt.Sprintf("%q matches nothing", strings.TrimSpace(one)), fix)
		}
	}
}

// labelNames lists the labels of all targets.
func (l *loader) labelNames() []string {
	seen := map[string]bool{}
	for _, t := range l.targets {
		for name := range t.Labels {
			seen[name] = true
		}
	}
	return sortedKeys(seen)
}

// matchable lists what can stand under a name of a route.
func (l *loader) matchable(name string) []string {
	var list []string
	switch name {
	case "severity":
		return []string{string(alert.Info), string(alert.Warning), string(alert.Critical)}
	case "kind":
		for _, k := range alert.Kinds() {
			list = append(list, string(k))
		}
		return list
	case "size":
		for _, size := range probe.Sizes() {
			list = append(list, string(size))
		}
		return list
	case "scene":
		for _, s := range l.scenes {
			if n, ok := s.values["name"].(string); ok {
				list = append(list, n)
			}
		}
		return list
	}
	seen := map[string]bool{}
	for _, t := range l.targets {
		v := t.Labels[name]
		if name == "target" {
			v = t.Name
		}
		if v != "" {
			seen[v] = true
		}
	}
	return sortedKeys(seen)
}
