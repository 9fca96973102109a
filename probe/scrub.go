package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine makes one clean line of text: valid UTF-8, no control characters.
func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
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
