package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// split runs pieces through a splitter and writes each event on a line: name|data, with ! in front where it is
// unterminated. The pieces are overwritten once used, as a read buffer is.
func split(pieces ...[]byte) (out []string, comments int, err error) {
	var s Splitter
	show := func(ev Event) {
		mark := ""
		if ev.Unterminated {
			mark = "!"
		}
		out = append(out, mark+string(ev.Name)+"|"+string(ev.Data))
	}
	for _, p := range pieces {
		p = bytes.Clone(p)
		if err := s.Feed(p); err != nil {
			return out, s.Comments, err
		}
		for {
			ev, ok, err := s.Next()
			if err != nil {
				return out, s.Comments, err
			}
			if !ok {
				break
			}
			show(ev)
		}
		for i := range p {
			p[i] = '#'
		}
	}
	if ev, ok := s.Finish(); ok {
		show(ev)
	}
	return out, s.Comments, nil
}

func TestSplitter(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		got, _, err := split([]byte(in))
		if err != nil || strings.Join(got, "\n--\n") != strings.Join(want, "\n--\n") {
			t.Errorf("%q gives %q, %v; want %q", in, got, err, want)
		}
	}
	f("data: a\n\n", "|a")
	f("data:a\n\n", "|a")
	f("data:  a\n\n", "| a")
	f("data: a\r\n\r\n", "|a")
	f("data: a\r\r", "|a")
	f("data: a\r\n\rdata: b\n\n", "|a", "|b")
	f("data: a\ndata: b\n\n", "|a\nb")
	f("event: e\ndata: a\n\ndata: b\n\n", "e|a", "|b")
	f("event: e\n\ndata: b\n\n", "|b")
	f("data\n\n")
	f("data:\n\n")
	f("data:\ndata: a\n\n", "|\na")
	f(": c\n\n\n\n:\n")
	f("\xEF\xBB\xBFdata: a\n\n", "|a")
	f("\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n")
	f("data: a\u2028\u0085\v\f\n\n", "|a\u2028\u0085\v\f")
	f("id: 1\nretry: 2\nfoo: bar\ndata: a\n\n", "|a")
	f("  data: a\n \n", "|a")
	f("data: a", "!|a")
	f("data: a\n", "!|a")
	f("event: error\ndata: a\r", "!error|a")
	f("data: a\n\n: c", "|a")
	f("")
}

func TestCaps(t *testing.T) {
	f := func(want error, piece string, n int) {
		t.Helper()
		pieces := make([][]byte, n)
		for i := range pieces {
			pieces[i] = []byte(piece)
		}
		if _, _, err := split(pieces...); !errors.Is(err, want) {
			t.Errorf("%d × %.20q: %v, want %v", n, piece, err, want)
		}
	}
	block := strings.Repeat("a", 1<<20)
	f(ErrEventTooLong, "data: "+block, 5)
	f(ErrEventTooLong, "data: "+block+"\n", 5)
	f(nil, "data: "+block+"\n\n", 5)
	f(ErrStreamTooLong, "data: "+block+"\n\n", 65)
	f(ErrTooManyEvents, strings.Repeat("data: {}\n\n", 1000), 1001)
}

func TestEndlessCommentKeepsNothing(t *testing.T) {
	var s Splitter
	piece := []byte(strings.Repeat("a", 1<<20))
	for i, p := range append([][]byte{[]byte("\n: ")}, piece, piece, piece) {
		if err := s.Feed(p); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Next(); ok || err != nil {
			t.Fatal(ok, err)
		}
		if i > 0 && (s.Growing() || cap(s.line) > 64) {
			t.Fatalf("a comment is kept: %d bytes", cap(s.line))
		}
	}
}

func TestSplitterAllocatesNothing(t *testing.T) {
	var s Splitter
	piece := []byte("event: message\ndata: {\"choices\":[]}\n\ndata: {\"a\":")
	rest := []byte("1}\n\n")
	round := func() {
		for _, p := range [][]byte{piece, rest} {
			_ = s.Feed(p)
			for {
				if _, ok, _ := s.Next(); !ok {
					break
				}
			}
		}
		s.bytes, s.events = 0, 0
	}
	round()
	round()
	if got := testing.AllocsPerRun(100, round); got != 0 {
		t.Errorf("%v allocations a round", got)
	}
}

// TestAnySplitGivesTheSame: how the bytes fall into reads does not matter.
func TestAnySplitGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]string{"data: ", "data:", "event: e", ":c", "\n", "\r", "\r\n", "\n\n", "{\"a\":1}", "日本🙂", "\xEF\xBB\xBF", "x", " ", "\xff"})
		text := []byte(strings.Join(rapid.SliceOfN(token, 0, 40).Draw(t, "tokens"), ""))
		whole, comments, err := split(text)
		if err != nil {
			t.Fatal(err)
		}
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		got, gotComments, err := split(pieces...)
		if err != nil || strings.Join(got, "\x00") != strings.Join(whole, "\x00") || gotComments != comments {
			t.Fatalf("%q in pieces %q: %q (%d comments), whole %q (%d)", text, pieces, got, gotComments, whole, comments)
		}
	})
}

func seeds(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Blue\"},\"finish_reason\":null}],\"usage\":null}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"t\"}]}]}}]}\r\n\r\ndata: [DONE]\r\n\r\n",
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5,\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\r\r",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":6}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"error\":\"text\"}", "data: {\"detail\":[{\"loc\":[\"body\",\"x\"],\"msg\":\"m\"}]}\n\n", "\xEF\xBB\xBF: c\n\ndata\n\n", "data: [[{}]]\n\n",
	} {
		f.Add([]byte(s), uint8(3))
	}
}

// FuzzStream feeds anything to the splitter and both decoders, whole and in pieces.
func FuzzStream(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		whole, comments, err := split(text)
		if err != nil {
			return // over a cap: pieces may be refused at another byte
		}
		n := int(size)%16 + 1
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			k := min(n, len(rest))
			pieces = append(pieces, rest[:k])
			rest = rest[k:]
		}
		got, gotComments, err := split(pieces...)
		if err != nil || strings.Join(got, "\x00") != strings.Join(whole, "\x00") || comments != gotComments {
			t.Fatalf("pieces of %d: %q, whole %q (%v)", n, got, whole, err)
		}
		for _, pr := range Protocols() {
			var p Piece
			for _, ev := range whole {
				name, data, _ := strings.Cut(strings.TrimPrefix(ev, "!"), "|")
				if data == "" {
					continue
				}
				if err := pr.Read(Event{Name: []byte(name), Data: []byte(data)}, &p); err != nil {
					continue
				}
				if p.Kind == 0 && len(p.Text) > 0 {
					t.Fatalf("%s: text %q without a kind", pr.Name, p.Text)
				}
				for _, c := range []Num{p.Usage.Input, p.Usage.Output, p.Usage.Cached, p.Usage.Reasoning} {
					if c.Known && c.V < 0 {
						t.Fatalf("%s: negative count %v", pr.Name, c)
					}
				}
			}
			_ = DecodeFault(500, text)
		}
	})
}
