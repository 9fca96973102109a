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
	l.matchable = l.matchables()
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
	values, known := l.matchable[name]
	switch {
	case !known:
		names := alert.MatchNames()
		for _, n := range sortedKeys(l.matchable) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		s.fail(key, "is neither a name to match nor a label of a target", meant(name, names, "match one of: "))
		return
	case !glob.Valid(pattern):
		s.fail(key, fmt.Sprintf("%q is not a pattern", pattern), `write a value, a glob such as "gw-*", or several with | between them`)
		return
	}
	for one := range strings.SplitSeq(pattern, "|") {
		if !slices.ContainsFunc(values, func(v string) bool { return glob.Match(one, v) }) {
			s.fail(key, fmt.Sprintf("%q matches nothing", strings.TrimSpace(one)), meant(one, values, "there are: "))
		}
	}
}

// matchables lists what can stand under each name of a match table.
func (l *loader) matchables() map[string][]string {
	all := map[string][]string{"severity": {string(alert.Info), string(alert.Warning), string(alert.Critical)}, "target": l.targetNames(), "scene": nil,
		"kind": texts(alert.Kinds()), "size": texts(probe.Sizes())}
	for _, s := range l.each("scene") {
		all["scene"] = append(all["scene"], l.names[s.path])
	}
	for _, t := range l.targets {
		for name, value := range t.Labels {
			if _, taken := all[name]; !taken || !slices.Contains(alert.MatchNames(), name) {
				all[name] = append(all[name], value)
			}
		}
	}
	for name, list := range all {
		if !slices.Contains([]string{"severity", "kind", "size", "scene"}, name) {
			all[name] = slices.Compact(slices.Sorted(slices.Values(list)))
		}
	}
	return all
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
