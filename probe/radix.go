package probe

import "iter"

// radixes yields what the runs of hex digits and of base64 characters in v hold, each from every place where a first
// byte may begin: a run may have letters before it that belong to the text around.
func radixes(v view) iter.Seq[view] {
	return func(yield func(view) bool) {
		for r := range runs(v.text, hexRun, func(c byte) bool { return digit(c, 16) }) {
			for phase := range 2 {
				if !yield(packed(v, stretch{r.from + phase, r.to}, 4, hexValue)) {
					return
				}
			}
		}
		for r := range runs(v.text, base64Run, func(c byte) bool { return base64Value(c) < 64 }) {
			for phase := range 4 {
				if !yield(packed(v, stretch{r.from + phase, r.to}, 6, base64Value)) {
					return
				}
			}
		}
	}
}

// runs yields the longest stretches of text, of n bytes at least, whose bytes all belong to set.
func runs(text string, n int, set func(byte) bool) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		from := 0
		for i := range len(text) + 1 {
			if i < len(text) && set(text[i]) {
				continue
			}
			if i-from >= n && !yield(stretch{from, i}) {
				return
			}
			from = i + 1
		}
	}
}

// packed puts the digits of r, of bits bits each, together to bytes; bits left over at its end are dropped.
func packed(v view, r stretch, bits int, value func(byte) byte) view {
	b := newBuilder(v, max(0, (r.to-r.from)*bits/8))
	held, have, first := uint(0), 0, r.from
	for i := r.from; i < r.to; i++ {
		if have == 0 {
			first = i
		}
		held, have = held<<bits|uint(value(v.text[i])), have+bits
		if have < 8 {
			continue
		}
		have -= 8
		b.put(byte(held>>have), first, i+1)
		held &= 1<<have - 1
		first = i // the rest of its bits begin the next byte
	}
	return b.view()
}

// base64Value reads both alphabets; 64 = none of its characters.
func base64Value(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A'
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26
	case c >= '0' && c <= '9':
		return c - '0' + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return 64
}
