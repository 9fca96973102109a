package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBuiltinLengths(t *testing.T) {
	f := func(lang string, tokens int) {
		t.Helper()
		list, err := Builtin(lang, tokens, "any")
		if err != nil {
			t.Fatalf("%s %d: %v", lang, tokens, err)
		}
		if len(list) < 3 {
			t.Fatalf("%s %d: %d prompts, want several", lang, tokens, len(list))
		}
		least, most := 1<<30, 0
		for _, p := range list {
			n := utf8.RuneCountInString(p.User)
			least, most = min(least, n), max(most, n)
			if e := Estimate(p.User, lang); float64(e) < 0.95*float64(tokens) || float64(e) > 1.05*float64(tokens)+1 {
				t.Errorf("%s: estimate %d, aimed at %d", p.ID, e, tokens)
			}
		}
		if float64(most) > 1.05*float64(least) {
			t.Errorf("%s %d: %d to %d characters, over 5 %% apart", lang, tokens, least, most)
		}
	}
	for _, lang := range []string{English, Chinese} {
		for _, n := range []int{MinInputTokens, ShortTokens, 40, 77, 150, 200, 300, MediumTokens, 1_000, LongTokens, 32_000, MaxInputTokens} {
			f(lang, n)
		}
		for n := MinInputTokens; n < 600; n += 7 {
			f(lang, n)
		}
	}
}

func TestBuiltinIsNotARepeatedLine(t *testing.T) {
	for _, lang := range []string{English, Chinese} {
		list, err := Builtin(lang, LongTokens, "long")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			seen, n := map[string]bool{}, 0
			for _, s := range strings.FieldsFunc(p.User, func(r rune) bool { return r == '.' || r == '。' || r == '\n' }) {
				if s = strings.TrimSpace(s); s != "" {
					seen[s], n = true, n+1
				}
			}
			if len(seen) < n*98/100 {
				t.Errorf("%s: %d different sentences of %d", p.ID, len(seen), n)
			}
		}
	}
}

func TestBuiltinAsksForABoundedAnswer(t *testing.T) {
	bound := map[string]string{English: "about 130 words", Chinese: "约二百五十字"}
	for lang, want := range bound {
		for _, n := range []int{ShortTokens, MediumTokens, LongTokens} {
			list, err := Builtin(lang, n, "any")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				if strings.Count(p.User, want) != 1 {
					t.Errorf("%s at %d tokens does not say %q once: %s", p.ID, n, want, tail(p.User))
				}
				if strings.ContainsAny(p.User, "\n\r\t\"\\") {
					t.Errorf("%s at %d tokens holds a character that an unescaped template breaks on", p.ID, n)
				}
				if strings.ContainsAny(p.User, "{}%") || !utf8.ValidString(p.User) {
					t.Errorf("%s at %d tokens has an unfilled slot", p.ID, n)
				}
			}
		}
	}
}

// The texts are part of the spec: whoever changes one must change Version with it.
func TestBuiltinIsPinnedToVersion(t *testing.T) {
	for _, lang := range []string{English, Chinese} {
		var sum uint64 = 14695981039346656037
		for _, n := range []int{ShortTokens, MediumTokens, LongTokens} {
			list, err := Builtin(lang, n, "x")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				for _, c := range []byte(p.ID + p.User) {
					sum = (sum ^ uint64(c)) * 1099511628211
				}
			}
		}
		if got := pinned[Version+lang]; got != sum {
			t.Errorf("%s: texts hash to %#x, version %s has %#x: a changed text needs a new Version", lang, sum, Version, got)
		}
	}
}

func TestBuiltinErrors(t *testing.T) {
	f := func(lang string, tokens int, want string) {
		t.Helper()
		if _, err := Builtin(lang, tokens, "short"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %d: error %v, want %q in it", lang, tokens, err, want)
		}
	}
	f("fr", 30, `use "en" or "zh"`)
	f("", 30, "no built-in prompts")
	f("en", 0, "use 28 to 200000")
	f("en", 200_001, "use 28 to 200000")
	f("zh", -5, "out of range")
}

func TestDefaultTokens(t *testing.T) {
	f := func(size string, want int, ok bool) {
		t.Helper()
		if n, got := DefaultTokens(size); n != want || got != ok {
			t.Errorf("%q: %d %v", size, n, got)
		}
	}
	f("short", 30, true)
	f("medium", 500, true)
	f("long", 4000, true)
	f("huge", 0, false)
}

func TestEstimate(t *testing.T) {
	f := func(text, lang string, want int) {
		t.Helper()
		if got := Estimate(text, lang); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
	f("", "en", 0)
	f("a", "en", 1)
	f(strings.Repeat("word ", 91), "en", 100)
	f(strings.Repeat("河", 110), "zh", 100)
	f(strings.Repeat("河", 110), "en", 100)
	f("日本🙂", "en", 3)
}

func tail(s string) string { return s[max(0, len(s)-200):] }

func BenchmarkBuiltinLongest(b *testing.B) {
	for b.Loop() {
		if _, err := Builtin(English, MaxInputTokens, "long"); err != nil {
			b.Fatal(err)
		}
	}
}
