package slack

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
)

// clean makes foreign text one line without control and direction characters, which could hide or turn round what
// stands beside them.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner belongs to emoji
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	return strings.TrimSpace(text)
}

// escape makes text harmless in Slack's markup: <!channel> in it pings nobody.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(clean(text))
}

// size is a length as Slack counts it: UTF-16 units.
func size(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// fit escapes text and shortens it, never inside an entity, so that it takes at most limit.
func fit(text string, limit int) string {
	text = clean(text)
	if out := escape(text); size(out) <= limit {
		return out
	}
	used, end := 1, 0 // one for the dots
	for i, r := range text {
		used += size(escapeRune(r))
		if used > limit {
			break
		}
		end = i + len(string(r))
	}
	return escape(text[:end]) + "…"
}

// escapeRune is escape for one rune, spaces kept.
func escapeRune(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return string(r)
}

// cut shortens text to limit runes.
func cut(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// maxTarget is the longest link target.
const maxTarget = 1000

// link is a labelled link, or the label with the text where target is no web address. A target is not escaped: what
// would end it is percent-encoded.
func link(target, label string) string {
	u, err := url.Parse(clean(target))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || size(target) > maxTarget {
		return fit(label+": "+target, maxTarget)
	}
	safe := strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", " ", "%20").Replace(u.String())
	return "<" + safe + "|" + escape(label) + ">"
}
