package prompt

import "unicode"

// scriptShare is the share of an answer's words that must be in the script of its language. Below one: names and terms of
// another language belong to any real answer.
const scriptShare = 0.6

// writtenIn reports whether text is mostly in the script of language: for "zh" Chinese characters, for "en" Latin
// letters. Each Chinese character counts as one word, as does each run of letters of any other script, and each kana or
// hangul, so that Japanese and Korean do not pass for Chinese. It tells scripts apart, not languages: French passes for
// English. A text without a letter is in no language.
func writtenIn(text, language string) bool {
	var han, latin, other int
	inWord := false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			han, inWord = han+1, false
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			other, inWord = other+1, false
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’':
			inWord = false
		case inWord || !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin, inWord = latin+1, true
		default:
			other, inWord = other+1, true
		}
	}
	want := latin
	if language == Chinese {
		want = han
	}
	return want > 0 && float64(want) >= scriptShare*float64(han+latin+other)
}
