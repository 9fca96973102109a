package wire

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lines runs pieces through a splitter of lines; ! marks an unterminated one. The pieces are overwritten once used.
func lines(pieces ...[]byte) (out []string, err error) {
	s := Splitter{Lines: true}
	for _, p := range pieces {
		p = bytes.Clone(p)
		if err := s.Feed(p); err != nil {
			return out, err
		}
		for {
			ev, ok, err := s.Next()
			if err != nil {
				return out, err
			}
			if !ok {
				break
			}
			out = append(out, string(ev.Data))
		}
		for i := range p {
			p[i] = '#'
		}
	}
	if ev, ok := s.Finish(); ok {
		if !ev.Unterminated {
			return out, errors.New("the end of the stream terminates nothing")
		}
		out = append(out, "!"+string(ev.Data))
	}
	return out, nil
}

// inPieces cuts text into pieces of n bytes.
func inPieces(text []byte, n int) [][]byte {
	var pieces [][]byte
	for len(text) > 0 {
		k := min(n, len(text))
		pieces = append(pieces, text[:k])
		text = text[k:]
	}
	return pieces
}

func TestLines(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		for _, n := range []int{len(in) + 1, 1, 2, 3} {
			got, err := lines(inPieces([]byte(in), n)...)
			if err != nil || strings.Join(got, "\n--\n") != strings.Join(want, "\n--\n") {
				t.Errorf("%q by %d gives %q, %v; want %q", in, n, got, err, want)
			}
		}
	}
	f("{}\n{\"a\":1}\n", "{}", "{\"a\":1}")
	f("{}\r\n\r\n{}\r\n", "{}", "{}")
	f("\n \n\t\n")
	f(" {} \n", "{}")
	f("\xEF\xBB\xBF{}\n", "{}")
	f("{\"a\":\r1}\n", "{\"a\":\r1}")
	f("\"\u2028\u0085\"\n", "\"\u2028\u0085\"")
	f("{}", "!{}")
	f("{}\n{\"a\"", "{}", "!{\"a\"")
	f("{}\n  ", "{}")
	f("")
}

func TestLinesCaps(t *testing.T) {
	f := func(want error, piece string, n int) {
		t.Helper()
		pieces := make([][]byte, n)
		for i := range pieces {
			pieces[i] = []byte(piece)
		}
		if _, err := lines(pieces...); !errors.Is(err, want) {
			t.Errorf("%d × %.20q: %v, want %v", n, piece, err, want)
		}
	}
	block := strings.Repeat("a", 1<<20)
	f(ErrEventTooLong, block, 5)
	f(ErrEventTooLong, strings.Repeat("a", MaxEvent+1)+"\n", 1)
	f(nil, block+"\n", 5)
	f(ErrStreamTooLong, block+"\n", 65)
	f(ErrStreamTooLong, strings.Repeat("\n", 1<<20), 65)
	f(ErrTooManyEvents, strings.Repeat("{}\n", 1000), 1001)
}

func TestLinesAllocateNothing(t *testing.T) {
	s := Splitter{Lines: true}
	pieces := [][]byte{[]byte("{\"a\":1}\n{\"b\":"), []byte("2}\n")}
	n := 0
	round := func() {
		for _, p := range pieces {
			_ = s.Feed(p)
			for {
				if _, ok, _ := s.Next(); !ok {
					break
				}
				n++
			}
		}
		s.bytes, s.events = 0, 0
	}
	round()
	round()
	if got := testing.AllocsPerRun(100, round); got != 0 || n != 2*103 {
		t.Errorf("%v allocations a round, %d events", got, n)
	}
}

// TestB53AnySplitOfLines: how the bytes fall into reads does not matter.
func TestB53AnySplitOfLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]string{"{\"a\":1}", "\n", "\r\n", "\r", " ", "日本🙂", "\xEF\xBB\xBF", "data: ", "x", "\xff"})
		text := []byte(strings.Join(rapid.SliceOfN(token, 0, 40).Draw(t, "tokens"), ""))
		whole, err := lines(text)
		if err != nil {
			t.Fatal(err)
		}
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got, err := lines(pieces...)
		if err != nil || strings.Join(got, "\x00") != strings.Join(whole, "\x00") {
			t.Fatalf("%q in pieces %q: %q, whole %q (%v)", text, pieces, got, whole, err)
		}
	})
}

// FuzzLines feeds anything to the splitter of lines, whole and in pieces.
func FuzzLines(f *testing.F) {
	for _, name := range transcripts(f, ollama()) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint8(3))
	}
	f.Add([]byte("\xEF\xBB\xBF{}\r\n\n {\"a\":\r1} \n{"), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		whole, err := lines(text)
		if err != nil {
			return // over a cap: pieces may be refused at another byte
		}
		got, err := lines(inPieces(text, int(size)%16+1)...)
		if err != nil || strings.Join(got, "\x00") != strings.Join(whole, "\x00") {
			t.Fatalf("pieces: %q, whole %q (%v)", got, whole, err)
		}
	})
}
