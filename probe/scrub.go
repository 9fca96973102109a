package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// minFragment is the length from which a piece of a secret in a text is masked: servers like to quote part of a key.
const minFragment = 8

// scrub makes one clean line of text: every fragment of a secret masked, valid UTF-8, no control characters.
func scrub(text string, secrets []string) string {
	for _, s := range secrets {
		text = maskFragments(text, s)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// maskFragments replaces by *** what text has in common with secret for at least minFragment bytes, or the secret itself
// where it is shorter.
func maskFragments(text, secret string) string {
	if secret == "" {
		return text
	}
	if len(secret) <= minFragment {
		return strings.ReplaceAll(text, secret, "***")
	}
	var out strings.Builder
	from := 0
	for i := 0; i+minFragment <= len(text); {
		if !strings.Contains(secret, text[i:i+minFragment]) {
			i++
			continue
		}
		end := i + minFragment
		for end < len(text) && strings.Contains(secret, text[i:end+1]) {
			end++
		}
		out.WriteString(text[from:i] + "***")
		i, from = end, end
	}
	return out.String() + text[from:]
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
