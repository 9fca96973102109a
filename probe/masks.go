package probe

import (
	"slices"
	"strings"
)

// minFragment is the length from which a piece of a secret in a text is masked: servers like to quote part of a key.
const minFragment = 8

// masks finds secrets in texts: every run of minFragment bytes and more that a text has in common with one, in either
// case, and behind URL, JSON and HTML escapes, hex and base64, nested as viewsOf does it. A secret shorter than
// minFragment is found whole, in the forms that short lists: to look for three letters in every case and code would mask
// half of any text. Once filled it may be read by many goroutines.
type masks struct {
	grams map[uint64]string // minFragment bytes in small letters → what may stand before them and is masked with them
	bits  [256]uint64       // a Bloom filter over grams
	short []string          // forms of short secrets, longest first
}

func newMasks(secrets ...string) *masks {
	m := &masks{grams: map[uint64]string{}}
	for _, s := range secrets {
		m.add(s)
	}
	return m
}

// add makes m know a secret.
func (m *masks) add(secret string) {
	if secret == "" {
		return
	}
	if len(secret) < minFragment {
		m.short = append(m.short, shortForms(secret)...)
		slices.SortStableFunc(m.short, func(a, b string) int { return len(b) - len(a) })
		return
	}
	before, rest := publicStart(secret)
	m.learn(before, rest)
	for v := range unescaped(view{text: secret}, `%\&`) { // what the escapes that are part of a secret come to in a text
		m.learn("", v.text)
	}
}

func (m *masks) learn(before, secret string) {
	var g uint64
	for i := range len(secret) {
		g = g<<8 | uint64(small(secret[i]))
		if i < minFragment-1 {
			continue
		}
		at, bit := bloom(g)
		m.bits[at] |= bit
		first := ""
		if i == minFragment-1 {
			first = strings.ToLower(before)
		}
		if m.grams[g] == "" {
			m.grams[g] = first
		}
	}
}

// publicStart cuts a secret URL in two: scheme, host and leading words of its path are no secret, and are masked only
// where the rest follows. Anything else is secret from its first byte.
func publicStart(secret string) (before, rest string) {
	i := strings.Index(secret, "://")
	if i < 0 {
		return "", secret
	}
	end := strings.IndexAny(secret[i+3:], "/?")
	if end < 0 || strings.Contains(secret[i+3:i+3+end], "@") {
		return "", secret
	}
	i += 3 + end
	for {
		n := strings.IndexByte(secret[i+1:], '/')
		if secret[i] != '/' || n < 0 || n > 12 || strings.Trim(secret[i+1:i+1+n], "abcdefghijklmnopqrstuvwxyz") != "" {
			break
		}
		i += 1 + n
	}
	if len(secret)-i < minFragment {
		return "", secret
	}
	return secret[:i], secret[i:]
}

// mask returns text with *** in place of what it finds.
func (m *masks) mask(text string) string {
	if len(m.grams) > 0 && len(text) >= minFragment {
		text = m.cut(text)
	}
	for _, s := range m.short {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

func (m *masks) cut(text string) string {
	var hits []stretch
	for v := range viewsOf(text) {
		hits = m.scan(v, hits)
	}
	if len(hits) == 0 {
		return text
	}
	slices.SortFunc(hits, func(a, b stretch) int { return a.from - b.from })
	var out strings.Builder
	done := 0
	for i := 0; i < len(hits); {
		from, to := hits[i].from, hits[i].to
		for i++; i < len(hits) && hits[i].from <= to; i++ {
			to = max(to, hits[i].to)
		}
		out.WriteString(text[done:from] + "***")
		done = to
	}
	return out.String() + text[done:]
}

// stretch is a half-open range of bytes of a text.
type stretch struct{ from, to int }

// scan adds to hits where v holds a piece of a secret.
func (m *masks) scan(v view, hits []stretch) []stretch {
	var g uint64
	for i := range len(v.text) {
		g = g<<8 | uint64(small(v.text[i]))
		if at, bit := bloom(g); m.bits[at]&bit == 0 || i < minFragment-1 {
			continue
		}
		before, known := m.grams[g]
		if !known {
			continue
		}
		first := i - minFragment + 1
		if first >= len(before) && strings.EqualFold(v.text[first-len(before):first], before) {
			first -= len(before)
		}
		hit := v.origin(first, i+1)
		if n := len(hits); n > 0 && hits[n-1].from <= hit.from && hit.from <= hits[n-1].to {
			hits[n-1].to = max(hits[n-1].to, hit.to)
		} else {
			hits = append(hits, hit)
		}
	}
	return hits
}

func bloom(g uint64) (at int, bit uint64) {
	h := g * 0x9e3779b97f4a7c15 >> 50
	return int(h >> 6), 1 << (h & 63)
}

func small(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}
