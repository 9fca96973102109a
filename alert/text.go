package alert

import (
	"strings"
	"unicode"
)

// Clean makes foreign text one line of valid UTF-8 without control and direction characters, which could hide or turn round
// what stands beside them.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner belongs to emoji
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�")))
}
