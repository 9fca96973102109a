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
	MinInputTokens = 28
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
// they differ in tokens by a few per cent. Each asks for an answer that is natural to give in 150 to 220 tokens. size
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
		list[i] = Prompt{ID: fmt.Sprintf("%s-%s-%d", language, size, i+1), User: book.compose(task, want, seedBase+uint64(i+1))}
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

// seedBase is a seed for which the medium prompts come within 3 % of each other in tokens too, in both languages and in
// vocabularies of 100 000 and of 200 000 entries.
const seedBase = 200

// passageFrom is how many times its frame (introduction and task) a prompt must be long to carry a passage.
const passageFrom = 1.5

// compose returns one line of text, without quotes and line ends: relays and simulators that paste a prompt into a template
// unescaped take it as well. It has exactly want characters where the filling words allow it, and at most 2 off.
func (b *book) compose(t task, want int, seed uint64) string {
	if float64(want) < passageFrom*float64(utf8.RuneCountInString(t.about+b.intro)) {
		return b.fill(t.alone, b.also, want, seed)
	}
	head, tail := b.intro+b.space, b.space+t.about
	room := want - utf8.RuneCountInString(head+tail)
	return head + b.fill(b.passage(room, seed), b.margin, room, seed) + tail
}

// fill appends "lead word, word, … word." to text so that it gets want characters.
func (b *book) fill(text, lead string, want int, seed uint64) string {
	left := want - utf8.RuneCountInString(text+b.space+lead+b.stop)
	r := random(seed * 977)
	var words []string
	used := map[string]bool{}
	for left > 0 {
		w := b.pick(&r, left, used)
		if w == "" {
			break
		}
		words = append(words, w)
		used[w] = true
		left -= utf8.RuneCountInString(w + b.comma)
		if left < 0 { // the last word has no comma after it
			break
		}
		if len(used) == len(b.words) {
			clear(used)
		}
	}
	if len(words) == 0 {
		return text
	}
	return text + b.space + lead + strings.Join(words, b.comma) + b.stop
}

// pick returns a word not used yet that leaves either nothing or room for another one; "" when none fits.
func (b *book) pick(r *random, left int, used map[string]bool) string {
	first := r.below(len(b.words))
	best := ""
	for i := range b.words {
		w := b.words[(first+i)%len(b.words)]
		if used[w] {
			continue
		}
		rest := left - utf8.RuneCountInString(w)
		if rest == 0 || rest >= b.roomForTwo() {
			return w
		}
		if rest > 0 && best == "" {
			best = w
		}
	}
	return best
}

// roomForTwo returns how many characters a comma and any of the short or middling words need.
func (b *book) roomForTwo() int {
	if b.space == "" {
		return utf8.RuneCountInString(b.comma) + 4
	}
	return utf8.RuneCountInString(b.comma) + 10
}
