package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// random is a small generator with a fixed sequence (splitmix64): built-in prompts must never change with a Go release.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// sentencesAPart is the shape of a passage.
const sentencesAPart = 24

// passage returns sentences in numbered parts, at most room characters, so that a few words more fill
// it. No template follows itself, and slots are drawn anew each time, so that no two lines are alike in practice.
func (b *book) passage(room int, seed uint64) string {
	r := random(seed)
	reserve := utf8.RuneCountInString(b.margin) + utf8.RuneCountInString(b.stop) + 12
	var out strings.Builder
	used, last := 0, -1
	for n := 0; ; n++ {
		k := r.below(len(b.templates))
		if k == last {
			k = (k + 1) % len(b.templates)
		}
		last = k
		s := b.lead(n) + b.sentence(&r, b.templates[k])
		size := utf8.RuneCountInString(s)
		if used+size+reserve > room {
			return out.String()
		}
		out.WriteString(s)
		used += size
	}
}

// lead returns what stands before sentence n: a part's heading or a space.
func (b *book) lead(n int) string {
	switch {
	case n == 0:
		return fmt.Sprintf(b.part, 1) + b.space
	case n%sentencesAPart == 0:
		return b.space + fmt.Sprintf(b.part, n/sentencesAPart+1) + b.space
	}
	return b.space
}

// sentence fills the slots of one template: {0}, {1}, … draw from that slot's words, never one twice in a row, {n} is a number from 2 to 97.
func (b *book) sentence(r *random, template string) string {
	var out strings.Builder
	var last [10]string
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			out.WriteString(template)
			return out.String()
		}
		out.WriteString(template[:open])
		name := template[open+1 : open+2]
		template = template[open+3:]
		if name == "n" {
			out.WriteString(strconv.Itoa(2 + r.below(96)))
			continue
		}
		slot := name[0] - '0'
		words := b.slots[slot]
		k := r.below(len(words))
		if words[k] == last[slot] {
			k = (k + 1) % len(words)
		}
		last[slot] = words[k]
		out.WriteString(words[k])
	}
}

func bookOf(language string) (*book, bool) {
	switch language {
	case English:
		return englishBook(), true
	case Chinese:
		return chineseBook(), true
	}
	return nil, false
}
