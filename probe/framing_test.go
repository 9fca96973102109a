package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chat is the normal stream as bytes, with the given line end.
func chat(eol string) string {
	lines := []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`}
	for range 10 {
		lines = append(lines, `{"choices":[{"index":0,"delta":{"content":"日本🙂"}}]}`)
	}
	lines = append(lines, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":10}}`, `[DONE]`)
	var out strings.Builder
	for _, l := range lines {
		out.WriteString("data: " + l + eol + eol)
	}
	return out.String()
}

const answerText = "日本🙂日本🙂日本🙂日本🙂日本🙂日本🙂日本🙂日本🙂日本🙂日本🙂"

// bytewise sends text one byte a write.
func bytewise(text string) []step {
	var list []step
	for i := range len(text) {
		list = append(list, raw(text[i:i+1]))
	}
	return list
}

func TestFraming(t *testing.T) {
	lf := chat("\n")
	big := `data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 70_000) + "\"}}]}\n\n"
	huge := `data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 2<<20) + "\"}}]}\n\n"
	for _, c := range []struct {
		name   string
		script []step
		text   string
	}{
		{"B41 B42 70 kB line", steps(raw(big), tail("stop", 1)), strings.Repeat("x", 70_000)},
		{"B41 B42 2 MB line", steps(raw(huge), tail("stop", 1)), strings.Repeat("x", maxAnswer)},
		{"B43 B44 byte by byte", steps(bytewise(lf), end()), answerText},
		{"B45 CRLF", steps(raw(chat("\r\n")), end()), answerText},
		{"B45 CRLF byte by byte", steps(bytewise(chat("\r\n")), end()), answerText},
		{"B45 CR", steps(raw(chat("\r")), end()), answerText},
		{"B47 U+2028 and U+0085", steps(raw("data: {\"choices\":[{\"delta\":{\"content\":\"a\u2028b\u0085c\"}}]}\n\n"), tail("stop", 1)), "a\u2028b\u0085c"},
		{"B48 no space", steps(raw(strings.ReplaceAll(lf, "data: ", "data:")), end()), answerText},
		{"B49 JSON over data lines", steps(raw("data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"a\"}}]}\n\n"), tail("stop", 1)), "a"},
		{"B49 empty data line first", steps(raw("data:\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"), tail("stop", 1)), "a"},
		{"B50 comments between", steps(raw(strings.ReplaceAll(lf, "\n\n", "\n\n: keep\n\n:\n")), end()), answerText},
		{"B52 comment and blank lines", steps(raw(": x\n\n\n\nevent: ping\n\n"), raw(lf), end()), answerText},
		{"B57 byte order mark", steps(raw("\xEF\xBB\xBF"+lf), end()), answerText},
		{"B57 split mark", steps(bytewise("\xEF\xBB\xBF"+lf), end()), answerText},
		{"B60 done after the last byte", steps(raw(strings.TrimRight(lf, "\n")), end()), answerText},
		{"id and retry", steps(raw("id: 1\nretry: 5\n"+lf), end()), answerText},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, d := probeDiary(t, scripted(c.script), testCanary())
			if !s.Outcome.Success() || d.Text != c.text {
				t.Errorf("%s %q, text of %d bytes %.80q", s.Outcome, s.Reason, len(d.Text), d.Text)
			}
		})
	}
}

func TestB56Caps(t *testing.T) {
	long := raw("data: " + strings.Repeat("a", 1<<20))
	more := raw(strings.Repeat("a", 1<<20))
	s := probeOnce(t, scripted(steps(long, times(5, more))), testCanary())
	wantOutcome(t, s, Protocol, "4 MiB")
	comment := raw(": " + strings.Repeat("a", 1<<20))
	s = probeOnce(t, scripted(steps(tok("a"), comment, times(70, more))), testCanary())
	wantOutcome(t, s, Protocol, "64 MiB")
	pile := raw(strings.Repeat("data: {}\n\n", 10_000))
	s = probeOnce(t, scripted(times(101, pile)), testCanary())
	wantOutcome(t, s, Protocol, "1 000 000 events")
}

func TestPayloads(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		kind string
		text string
	}{
		{"B75 reasoning_content", `{"choices":[{"delta":{"reasoning_content":"t"}}]}`, "reasoning", ""},
		{"B75 reasoning", `{"choices":[{"delta":{"reasoning":"t"}}]}`, "reasoning", ""},
		{"B75 both", `{"choices":[{"delta":{"reasoning":"t","reasoning_content":"t"}}]}`, "reasoning", ""},
		{"B76 typed parts, thinking", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]}]}}]}`, "reasoning", ""},
		{"B76 typed parts, text", `{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, "text", "ab"},
		{"thinking", `{"choices":[{"delta":{"thinking":"t"}}]}`, "reasoning", ""},
		{"reasoning_text", `{"choices":[{"delta":{"reasoning_text":"t"}}]}`, "reasoning", ""},
		{"thinking blocks", `{"choices":[{"delta":{"reasoning_content":"t","thinking_blocks":[{"type":"thinking","thinking":"t"}]}}]}`, "reasoning", ""},
		{"thinking blocks alone", `{"choices":[{"delta":{"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}]}}]}`, "reasoning", ""},
		{"a block's signature", `{"choices":[{"delta":{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s"}]}}]}`, "", ""},
		{"tool name", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}`, "tool", ""},
		{"tool arguments", `{"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}`, "tool", ""},
		{"tool arguments as object", `{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":{"a":1}}}]}}]}`, "tool", ""},
		{"function call", `{"choices":[{"delta":{"function_call":{"arguments":"x"}}}]}`, "tool", ""},
		{"refusal", `{"choices":[{"delta":{"refusal":"n"}}]}`, "refusal", ""},
		{"content null", `{"choices":[{"delta":{"content":null}}]}`, "", ""},
		{"content of another type", `{"choices":[{"delta":{"content":{"a":1}}}]}`, "", ""},
		{"delta of another type", `{"choices":[{"delta":"x"}]}`, "", ""},
		{"choices of another type", `{"choices":"x"}`, "", ""},
		{"obfuscation", `{"choices":[{"delta":{}}],"obfuscation":"abc"}`, "", ""},
		{"error null", `{"error":null,"choices":[{"delta":{"content":"a"}}]}`, "text", "a"},
		{"array", `[{"choices":[{"delta":{"content":"a"}}]}]`, "text", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, d := probeDiary(t, scripted(steps(E(c.data), tail("stop", 1))), testCanary())
			want := 1
			if c.kind == "" {
				want = 0
			}
			if s.FirstKind != c.kind || d.Text != c.text || s.Chunks != want {
				t.Errorf("first %q, text %q, chunks %d, outcome %s", s.FirstKind, d.Text, s.Chunks, s.Outcome)
			}
		})
	}
}

// TestCutAtEveryByte cuts a good stream after each byte, cleanly and by a reset: no cut is a success before the end is
// said, and a token before the cut makes it truncated.
func TestCutAtEveryByte(t *testing.T) {
	text := chat("\n")
	finish := strings.Index(text, `"finish_reason":"stop"}]}`) + len(`"finish_reason":"stop"}]}`)
	firstToken := strings.Index(text, "🙂\"}}]}\n\n") + len("🙂\"}}]}\n\n")
	for i := 0; i <= len(text); i++ {
		for _, cut := range []step{rst(), cutOff()} {
			s := probeOnce(t, scripted(steps(raw(text[:i]), cut)), testCanary())
			want := Truncated
			switch {
			case i >= finish:
				want = OK
			case i < firstToken:
				want = Reset
			}
			if s.Outcome != want {
				t.Fatalf("cut at %d (%q): %s %q, want %s", i, text[max(0, i-20):i], s.Outcome, s.Reason, want)
			}
		}
	}
}

func TestSplitInvariance(t *testing.T) {
	text := "\xEF\xBB\xBF: hi\n\n" + chat("\r\n") + chat("\r")
	whole, _ := probeDiary(t, scripted(steps(raw(text), end())), testCanary())
	for _, n := range []int{1, 2, 3, 7, 64, 1000} {
		var script []step
		for rest := text; rest != ""; {
			k := min(n, len(rest))
			script = append(script, raw(rest[:k]))
			rest = rest[k:]
		}
		s, _ := probeDiary(t, scripted(steps(script, end())), testCanary())
		// How the tokens fell into reads differs by design; all else is the same.
		s.TPOTReason, s.Flags, s.MaxGap = whole.TPOTReason, whole.Flags, whole.MaxGap
		if diff := cmp.Diff(whole, s); diff != "" {
			t.Errorf("pieces of %d bytes: %s", n, diff)
		}
	}
}

func TestHostile(t *testing.T) {
	headers := make([]string, 10_000)
	for i := range headers {
		headers[i] = "X-Ratelimit-Junk-" + strings.Repeat("a", i%90) + ": " + strings.Repeat("b", 10)
	}
	for _, c := range []struct {
		name   string
		script []step
		want   Outcome
	}{
		{"invalid UTF-8", steps(raw("data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n"), tail("stop", 1)), OK},
		{"10 000 headers", steps(head(200, true, headers...), okTokens(), tail("stop", 10)), OK},
		{"2 MB of headers", steps(head(200, true, append(headers, headers...)...), tail("stop", 10)), Protocol},
		{"nested arrays", steps(E(strings.Repeat("[", 100_000))), Protocol},
		{"nested content", steps(tok("a"), E(`{"choices":[{"delta":{"content":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}}]}`), tail("stop", 1)), OK},
		{"endless JSON body", steps(head(200, true), raw("{"), times(3, raw(strings.Repeat("a", 1<<20)))), NotSSE},
		{"endless HTML", steps(head(200, true), times(3, raw("<"+strings.Repeat("a", 1<<20)))), NotSSE},
		{"endless error body", steps(head(500, true), times(600, raw("x"), sleep(time.Second))), HTTP5xx},
		{"huge choice index", steps(E(`{"choices":[{"index":9223372036854775806,"delta":{"content":"a"}}]}`), tail("stop", 1)), OK},
		{"huge counts", steps(tok("a"), fin("stop"), E(`{"choices":[],"usage":{"prompt_tokens":1e300,"completion_tokens":-4}}`), done(), end()), OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantOutcome(t, probeOnce(t, scripted(c.script), testCanary()), c.want, "")
		})
	}
}
