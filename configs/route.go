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
	names, used := l.channelNames(), map[string]bool{}
	sections := l.each("route")
	for i, s := range sections {
		k := l.file.Route[i]
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
			sections[0].warn("", fmt.Sprintf("no route names the channel %q: it gets only what no route matches", name), "name it in a route")
		}
	}
}

func (l *loader) checkRouteChannels(s section, chosen, known []string) {
	if len(chosen) == 0 && !s.wrong("channels") {
		s.fail("channels", "names no channel", `name them: channels = ["slack"]`)
	}
	for i, c := range chosen {
		broken := slices.ContainsFunc(l.each("channel"), func(s section) bool { return l.names[s.path] == c }) // for a mistake that is reported
		switch {
		case !slices.Contains(known, c) && !broken:
			s.fail("channels", fmt.Sprintf("there is no channel %q", c), nameFix(c, known, "channel"))
		case slices.Contains(chosen[:i], c):
			s.fail("channels", fmt.Sprintf("names %q twice", c), "remove one")
		}
	}
}

// checkMatch checks one pattern of a match table: its name must be known, and something must be able to match it.
func (l *loader) checkMatch(s section, name, pattern string) {
	key := "match." + name
	if known := append(alert.MatchNames(), l.labelNames()...); !slices.Contains(known, name) {
		fix := "match one of: " + strings.Join(known, ", ")
		if n, ok := nearest(name, known); ok {
			fix = fmt.Sprintf("did you mean %q? (one of: %s)", n, strings.Join(known, ", "))
		}
		s.fail(key, "is neither a name to match nor a label of a target", fix)
		return
	}
	if !glob.Valid(pattern) {
		s.fail(key, fmt.Sprintf("%q is not a pattern", pattern), `write a value, a glob such as "gw-*", or several with | between them`)
		return
	}
	values := l.matchable(name)
	for one := range strings.SplitSeq(pattern, "|") {
		if !slices.ContainsFunc(values, func(v string) bool { return glob.Match(one, v) }) {
			fix := "there are: " + shorten(values, 20)
			if n, ok := nearest(one, values); ok {
				fix = fmt.Sprintf("did you mean %q? (%s)", n, fix)
			}
			s.fail(key, fmt.Sprintf("%q matches nothing", strings.TrimSpace(one)), fix)
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
		for _, s := range l.each("scene") {
			list = append(list, l.names[s.path])
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
