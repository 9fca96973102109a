package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version numbers the built-in prompts. It is part of the spec: change it with any change of a built-in text, because samples
// of different texts must not share a band.
const Version = "1"

// The languages of the built-in prompts.
const (
	English = "en"
	Chinese = "zh"
)

// Bounds of an aimed input length, tokens. A shorter text has no room for its task.
const (
	MinInputTokens = 24
	MaxInputTokens = 200_000
)

// Default aimed input lengths by size, tokens.
const (
	ShortTokens  = 30
	MediumTokens = 500
	LongTokens   = 4_000
)

// DefaultTokens returns the aimed input length of size "short", "medium" or "long"; ok is false for any other.
func DefaultTokens(size string) (n int, ok bool) {
	switch size {
	case "short":
		return ShortTokens, true
	case "medium":
		return MediumTokens, true
	case "long":
		return LongTokens, true
	}
	return 0, false
}

// Builtin returns the built-in prompts of one language ("en" or "zh") and length. All have the same number of
// characters, aimed at inputTokens by the ratios of Estimate (the nonce and the endpoint's chat template come on top), so
// they differ in tokens by a few per cent. Each asks for an answer that is natural to give in 130 to 250 tokens. size
// only goes into the IDs. The same arguments always give the same prompts. The error names the bad argument.
func Builtin(language string, inputTokens int, size string) ([]Prompt, error) {
	book, ok := bookOf(language)
	if !ok {
		return nil, fmt.Errorf("language %q has no built-in prompts: use %q or %q, or own prompts from files", language, English, Chinese)
	}
	if inputTokens < MinInputTokens || inputTokens > MaxInputTokens {
		return nil, fmt.Errorf("input_tokens = %d is out of range: use %d to %d", inputTokens, MinInputTokens, MaxInputTokens)
	}
	want := chars(inputTokens, language)
	list := make([]Prompt, len(book.tasks))
	for i, task := range book.tasks {
		list[i] = Prompt{ID: fmt.Sprintf("%s-%s-%d", language, size, i+1), User: book.compose(task, want, uint64(i+1))}
	}
	return list, nil
}

// book is what one language's prompts are made of.
type book struct {
	tasks     []task
	templates []string   // sentences with {slots}
	slots     [][]string // words for {0}, {1}, …
	words     []string   // of many lengths, to fill a text to the character
	part      string     // heading of a part, with one %d
	intro     string     // before the passage
	also      string     // before filling words, below a task
	margin    string     // before filling words, below a passage
	comma     string
	stop      string
	space     string // between sentences
}

// task is one question: alone for short prompts, below a passage for longer ones.
type task struct{ alone, about string }

// passageFrom is the number of characters from which a prompt carries a passage.
const passageFrom = 4

// compose returns a text of exactly want characters where the filling words allow it, and at most 2 off.
func (b *book) compose(t task, want int, seed uint64) string {
	passage := want > passageFrom*utf8.RuneCountInString(t.about+b.intro)
	if !passage {
		return b.fill(t.alone, b.also, want, seed)
	}
	tail := "\n\n" + t.about
	room := want - utf8.RuneCountInString(b.intro) - utf8.RuneCountInString(tail) - 2
	body := b.passage(room, seed)
	return b.intro + "\n\n" + b.fill(body, b.margin, room, seed) + tail
}

// fill appends "lead word, word, … word." to text so that it gets want characters.
func (b *book) fill(text, lead string, want int, seed uint64) string {
	left := want - utf8.RuneCountInString(text)
	fixed := utf8.RuneCountInString(b.space + lead + b.stop)
	if left < fixed+2 {
		return text
	}
	r := random(seed * 977)
	left -= fixed
	var words []string
	for left > 0 {
		w := b.pick(&r, left, len(words) > 0)
		if w == "" {
			break
		}
		if len(words) > 0 {
			left -= utf8.RuneCountInString(b.comma)
		}
		left -= utf8.RuneCountInString(w)
		words = append(words, w)
	}
	if len(words) == 0 {
		return text
	}
	return text + b.space + lead + strings.Join(words, b.comma) + b.stop
}

// pick returns a word that leaves either nothing or room for another one; "" when none fits.
func (b *book) pick(r *random, left int, joined bool) string {
	comma := utf8.RuneCountInString(b.comma)
	if joined {
		left -= comma
	}
	shortest := 1 << 30
	for _, w := range b.words {
		shortest = min(shortest, utf8.RuneCountInString(w))
	}
	first := r.below(len(b.words))
	best := ""
	for i := range b.words {
		w := b.words[(first+i)%len(b.words)]
		rest := left - utf8.RuneCountInString(w)
		if rest == 0 || rest >= comma+shortest {
			return w
		}
		if rest > 0 && best == "" {
			best = w
		}
	}
	return best
}
