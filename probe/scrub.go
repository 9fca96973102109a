package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longField is how many bytes of a foreign text are looked at for a field of maxSnippet bytes: secrets are taken out
// before it is cut to those.
const longField = 8 << 10

// oneLine makes one clean line of text: valid UTF-8, no control characters, and none that could hide or turn round what
// stands beside them.
func oneLine(text string) string { return printable(text, "") }

// printable is oneLine that leaves the characters of keep as they are.
func printable(text, keep string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(keep, r):
			return r
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner belongs to emoji
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// clip cuts text to n bytes at most, at the border of a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func clipBytes(b []byte, n int) []byte { return b[:min(len(b), n)] }
