package secret

import (
	"maps"
	"slices"
)

// fragment is the length from which a prefix or suffix of a secret is masked: endpoints like to quote part of a key.
const fragment = 12

// index finds forms of secrets in texts. For each length of window it maps the first and the last window of each form to
// the form: a text is looked up once a byte and length, however many secrets there are. Windows are longer than Least
// characters only as far as the form is, so that there are five lengths at most, and one where no secret is short.
type index struct {
	windows [fragment + 1]map[string][]anchor
}

// anchor is one end of a form.
type anchor struct {
	form string
	last bool
}

// with returns an index that holds more values; x, which may be nil, is left as it is.
func (x *index) with(values []string) *index {
	more := &index{}
	if x != nil {
		for n, m := range x.windows {
			more.windows[n] = maps.Clone(m)
		}
	}
	for _, v := range values {
		for _, form := range formsOf(v) {
			more.add(form)
		}
	}
	return more
}

func (x *index) add(form string) {
	n := min(fragment, len(form))
	if n < Least {
		return
	}
	if x.windows[n] == nil {
		x.windows[n] = map[string][]anchor{}
	}
	m := x.windows[n]
	for _, a := range []anchor{{form, false}, {form, true}} {
		key := form[:n]
		if a.last {
			key = form[len(form)-n:]
		}
		if !slices.Contains(m[key], a) {
			m[key] = append(slices.Clip(m[key]), a)
		}
	}
}

// stretch is a half-open range of bytes of a text.
type stretch struct{ from, to int }

// find returns where text holds secrets, in order and without overlap.
func (x *index) find(text string) []stretch {
	var room [512]byte
	folded := foldAll(append(room[:0], text...))
	var hits []stretch
	for n, m := range x.windows {
		if len(m) == 0 {
			continue
		}
		for i := 0; i+n <= len(folded); i++ {
			for _, a := range m[string(folded[i:i+n])] {
				hits = append(hits, a.grow(folded, i, i+n))
			}
		}
	}
	return merge(hits)
}

// grow returns how far the window from to to belongs to the anchor's form.
func (a anchor) grow(text []byte, from, to int) stretch {
	if !a.last {
		for to < len(text) && to-from < len(a.form) && text[to] == a.form[to-from] {
			to++
		}
		return stretch{from, to}
	}
	for from > 0 && to-from < len(a.form) && text[from-1] == a.form[len(a.form)-(to-from)-1] {
		from--
	}
	return stretch{from, to}
}

func merge(hits []stretch) []stretch {
	slices.SortFunc(hits, func(a, b stretch) int { return a.from - b.from })
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n > 0 && h.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, h.to)
		} else {
			out = append(out, h)
		}
	}
	return out
}

// fold makes texts comparable: headers change the case of letters, and base64 has two alphabets.
func fold(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	case c == '-':
		return '+'
	case c == '_':
		return '/'
	}
	return c
}

// foldAll folds text in place and returns it.
func foldAll(text []byte) []byte {
	for i, c := range text {
		text[i] = fold(c)
	}
	return text
}
