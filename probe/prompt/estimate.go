package prompt

import (
	"math"
	"unicode"
)

// Characters per token of plain prose in today's byte-pair vocabularies (200 000 entries). Older, smaller
// vocabularies need a few per cent more tokens for English and up to twice as many for Chinese, so a check against a context
// limit wants a margin.
const (
	CharsPerTokenEn = 4.55
	CharsPerTokenZh = 1.1
)

// Estimate returns about how many tokens text has, at least 1 for a text that is not empty. Han, kana and hangul are counted
// at the Chinese ratio whatever the language, because such letters cost the same in every prompt; the rest is counted at
// the English one. In a text of language "zh" everything else is punctuation and digits, which cost what a letter costs.
func Estimate(text, lang string) int {
	var wide, narrow int
	for _, r := range text {
		if lang == Chinese || isWide(r) {
			wide++
		} else {
			narrow++
		}
	}
	return int(math.Ceil(float64(wide)/CharsPerTokenZh + float64(narrow)/CharsPerTokenEn))
}

func isWide(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// chars returns how many characters a text of n tokens has.
func chars(n int, lang string) int {
	if lang == Chinese {
		return int(float64(n) * CharsPerTokenZh)
	}
	return int(float64(n) * CharsPerTokenEn)
}
