package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// unquote returns the value of the JSON string b, "" where it is broken. The text of one without an escape is that of b
// itself: it lives as long as b is not written to.
func unquote(b []byte) string {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return ""
	}
	v := unquoted(b)
	return unsafe.String(unsafe.SliceData(v), len(v))
}

// unquoted returns the value of the JSON string b, which is sound: most have no escape and are sound UTF-8, and those are
// not copied. A byte that is no UTF-8 becomes U+FFFD, and so does half of a surrogate pair.
func unquoted(b []byte) []byte {
	in := b[1 : len(b)-1]
	if bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return in
	}
	out := make([]byte, 0, len(in)+2*utf8.UTFMax)
	for len(in) > 0 {
		if in[0] == '\\' {
			r, n := unescape(in)
			if n == 0 {
				return nil
			}
			out, in = utf8.AppendRune(out, r), in[n:]
			continue
		}
		r, n := utf8.DecodeRune(in)
		out, in = utf8.AppendRune(out, r), in[n:]
	}
	return out
}

// unescape returns the character that in begins with as an escape, or a pair of them, and its length; 0 = it is none.
func unescape(in []byte) (rune, int) {
	n := escape(in)
	switch {
	case n == 0:
		return 0, 0
	case n == 2:
		return plainEscape(in[1]), 2
	}
	r, _ := hex4(in[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if escape(in[6:]) == 6 {
		low, _ := hex4(in[8:])
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func plainEscape(c byte) rune {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return rune(c)
}

// hex4 reads four hex digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
