// Package glob matches names by pattern: the one dialect of routes, silences, maintenance, scenes, prices and commands.
//
// * stands for any run of characters, ? for one, [a-z] for one of a range, and | separates alternatives: "gw-*|lab".
package glob

import (
	"path"
	"strings"
)

// Match reports whether text matches one of the pattern's alternatives. An invalid pattern matches nothing.
func Match(pattern, text string) bool {
	for one := range strings.SplitSeq(pattern, "|") {
		one = strings.TrimSpace(one)
		if !strings.ContainsAny(one, `*?[\`) {
			if one == text {
				return true
			}
		} else if ok, err := path.Match(flat(one), flat(text)); err == nil && ok {
			return true
		}
	}
	return false
}

// flat takes the slashes out: path.Match keeps * within them, and model names have some.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// Valid reports whether every alternative of the pattern can match something.
func Valid(pattern string) bool {
	for one := range strings.SplitSeq(pattern, "|") {
		if _, err := path.Match(one, ""); err != nil || strings.TrimSpace(one) == "" {
			return false
		}
	}
	return true
}

// MatchKey holds the parts of a pattern, split at slashes, against those of a key such as target/scene/size. Parts that
// the pattern leaves out match anything, a part that the key does not have matches nothing.
func MatchKey(pattern, key string) bool {
	patterns, parts := strings.Split(pattern, "/"), strings.Split(key, "/")
	if len(patterns) > len(parts) {
		return false
	}
	for i, p := range patterns {
		if !Match(p, parts[i]) {
			return false
		}
	}
	return true
}

// ValidKey reports whether every part of a pattern over keys is valid.
func ValidKey(pattern string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		if !Valid(part) {
			return false
		}
	}
	return true
}
