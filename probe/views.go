package probe

import (
	"html"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of the search for what a text holds in other codes.
const (
	maxRounds = 4                       // of escapes within escapes
	mostWork  = 64                      // bytes of views for one of the text
	leastWork = 1 << 16                 // bytes of views for any text
	hexRun    = 2 * minFragment         // digits that hold a piece of a secret
	base64Run = (8*minFragment + 5) / 6 // characters that do
)

// view is a text as it is after decoding, with the place of each of its bytes in the original.
type view struct {
	text     string
	from, to []int32 // nil: the text is the original itself
}

// origin returns where bytes from to to of the view come from.
func (v view) origin(from, to int) stretch {
	if v.from == nil {
		return stretch{from, to}
	}
	return stretch{int(v.from[from]), int(v.to[to-1])}
}

// viewsOf yields text as it is, without its escapes, and what its runs of hex and base64 hold, without their escapes.
func viewsOf(text string) iter.Seq[view] {
	return func(yield func(view) bool) {
		w := walk{yield: yield, left: leastWork + mostWork*len(text)}
		w.visit(view{text: text}, maxRounds, true)
	}
}

// walk visits the views of a text.
type walk struct {
	yield func(view) bool
	left  int // bytes of views still to be made
}

// visit yields v and all that can be made of it by rounds of unescaping, and by unpacking once where that is wanted.
// It returns false when the walk is over.
func (w *walk) visit(v view, rounds int, unpack bool) bool {
	if w.left -= len(v.text); w.left < 0 || !w.yield(v) {
		return false
	}
	if unpack {
		for r := range radixes(v) {
			if !w.visit(r, rounds, false) {
				return false
			}
		}
	}
	if rounds == 0 {
		return true
	}
	// After all escapes at once each kind alone: what is no escape in the code that was used may look like one of another
	// kind, within the secret, or where the text before it ends and it begins.
	for _, marks := range marksIn(v.text) {
		if next, changed := unescape(v, marks); changed && !w.visit(next, rounds-1, unpack) {
			return false
		}
	}
	return true
}

// marksIn returns which bytes that may begin an escape are in text: all that are, then each alone.
func marksIn(text string) []string {
	var found []string
	for _, mark := range []string{`%`, `\`, `&`} {
		if strings.Contains(text, mark) {
			found = append(found, mark)
		}
	}
	if len(found) > 1 {
		return append([]string{strings.Join(found, "")}, found...)
	}
	return found
}

// unescaped yields v without its escapes, then that without its escapes, and so on. marks are the bytes that begin one.
func unescaped(v view, marks string) iter.Seq[view] {
	return func(yield func(view) bool) {
		for range maxRounds {
			next, changed := unescape(v, marks)
			if !changed || !yield(next) {
				return
			}
			v = next
		}
	}
}

func unescape(v view, marks string) (out view, changed bool) {
	if !strings.ContainsAny(v.text, marks) {
		return v, false
	}
	b := newBuilder(v, len(v.text))
	for i := 0; i < len(v.text); {
		c := v.text[i]
		if c == '%' || c == '\\' || c == '&' {
			if plain, n := escape(v.text[i:]); n > 0 && strings.IndexByte(marks, c) >= 0 {
				for j := range len(plain) {
					b.put(plain[j], i, i+n)
				}
				i, changed = i+n, true
				continue
			}
		}
		b.put(c, i, i+1)
		i++
	}
	return b.view(), changed
}

// builder makes a view of a view.
type builder struct {
	v        view
	text     []byte
	from, to []int32
}

// newBuilder makes one with room for n bytes.
func newBuilder(v view, n int) builder {
	place := make([]int32, 2*n)
	return builder{v: v, text: make([]byte, 0, n), from: place[:0:n], to: place[n:n]}
}

// put adds a byte that stands for the bytes from to to of the view that is read.
func (b *builder) put(c byte, from, to int) {
	s := b.v.origin(from, to)
	b.text = append(b.text, c)
	b.from, b.to = append(b.from, int32(s.from)), append(b.to, int32(s.to))
}

func (b *builder) view() view { return view{string(b.text), b.from, b.to} }

// escape decodes the escape that s begins with: %41, %u0041, \u0041, \x41, \", &#65;, &#x41;, &quot;. n is its length, 0 = none.
func escape(s string) (c string, n int) {
	switch s[0] {
	case '%':
		if r, ok := digits(s, 1, 2, 16); ok {
			return string([]byte{byte(r)}), 3
		}
		if r, ok := digits(s, 2, 4, 16); ok && small(s[1]) == 'u' {
			return string(r), 6
		}
	case '\\':
		return backslash(s)
	case '&':
		return entity(s)
	}
	return "", 0
}

func backslash(s string) (c string, n int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case '\\', '"', '\'', '/':
		return s[1:2], 2
	case 'u', 'U':
		if r, ok := digits(s, 2, 4, 16); ok {
			return string(r), 6
		}
	case 'x', 'X':
		if r, ok := digits(s, 2, 2, 16); ok {
			return string([]byte{byte(r)}), 4
		}
	}
	return "", 0
}

// entity decodes a character of HTML. The numeric ones may lack their semicolon, as they may in a browser.
func entity(s string) (c string, n int) {
	const longest = 12
	from, base := 1, 0
	switch {
	case strings.HasPrefix(s, "&#x"), strings.HasPrefix(s, "&#X"):
		from, base = 3, 16
	case strings.HasPrefix(s, "&#"):
		from, base = 2, 10
	}
	end := from
	for end < len(s) && end < from+longest && (base == 0 && letter(s[end]) || base > 0 && digit(s[end], base)) {
		end++
	}
	closed := end < len(s) && s[end] == ';'
	if base > 0 {
		r, err := strconv.ParseUint(s[from:end], base, 31)
		if err != nil || r > utf8.MaxRune {
			return "", 0
		}
		if closed {
			end++
		}
		return string(rune(r)), end
	}
	if !closed {
		return "", 0
	}
	if name := s[:end+1]; html.UnescapeString(name) != name {
		return html.UnescapeString(name), end + 1
	} else if low := strings.ToLower(name); html.UnescapeString(low) != low {
		return html.UnescapeString(low), end + 1
	}
	return "", 0
}

// digits reads n digits of s from at on.
func digits(s string, at, n, base int) (r rune, ok bool) {
	if len(s) < at+n {
		return 0, false
	}
	for i := at; i < at+n; i++ {
		if !digit(s[i], base) {
			return 0, false
		}
		r = r<<4 | rune(hexValue(s[i]))
	}
	return r, true
}

func digit(c byte, base int) bool {
	return c >= '0' && c <= '9' || base == 16 && small(c) >= 'a' && small(c) <= 'f'
}

func letter(c byte) bool { return small(c) >= 'a' && small(c) <= 'z' || c >= '0' && c <= '9' }

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return small(c) - 'a' + 10
}
