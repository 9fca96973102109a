package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestB56EndlessLine(t *testing.T) {
	more := raw(strings.Repeat("a", 1<<20))
	s := probeOnce(t, scripted(steps(ndHead(), raw("{"), times(6, more))), speak("ollama"))
	wantOutcome(t, s, Protocol, "4 MiB")
	blank := raw(strings.Repeat("\n", 1<<20))
	s = probeOnce(t, scripted(steps(ndHead(), ltok("a"), times(70, blank))), speak("ollama"))
	wantOutcome(t, s, Protocol, "64 MiB")
	pile := raw(strings.Repeat("{}\n", 10_000))
	s = probeOnce(t, scripted(steps(ndHead(), times(101, pile))), speak("ollama"))
	wantOutcome(t, s, Protocol, "1 000 000 events")
}

func TestB107B108LinesStall(t *testing.T) {
	s := probeOnce(t, scripted(steps(ndHead(), ltok("a"), sleep(10*ms), ltok("b"), sleep(time.Hour))), speak("ollama"))
	wantOutcome(t, s, TimeoutStall, "idle: no byte after 2 token events")
	s = probeOnce(t, scripted(steps(ndHead(), ltok("a"), times(600, raw("\n"), sleep(time.Second)))), speak("ollama"))
	wantOutcome(t, s, TimeoutStall, "no_progress")
	s = probeOnce(t, scripted(steps(ndHead(), sleep(time.Hour))), speak("ollama"))
	wantOutcome(t, s, TimeoutFirstToken, "no event")
	line := `{"message":{"content":"` + strings.Repeat("x", 1<<20) + `"},"done":false}` + "\n"
	script := steps(ndHead(), ltok("a"))
	for len(line) > 0 {
		n := min(len(line), 10<<10)
		script = append(script, raw(line[:n]), sleep(time.Second))
		line = line[n:]
	}
	s = probeOnce(t, scripted(steps(script, lend("stop", ms, 2))), speak("ollama"))
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 102*time.Second)
}

// TestB41B44LongTerminal: what repeats the whole text in its last events is long, and counts once.
func TestB41B44LongTerminal(t *testing.T) {
	whole := strings.Repeat("日本🙂", 20_000)
	s, d := probeDiary(t, scripted(steps(rstart(), sleep(10*ms), rdelta("output_text", "日本🙂"), sleep(10*ms), rdelta("output_text", "b"),
		R(fmt.Sprintf(`{"type":"response.output_text.done","text":%q}`, whole)),
		R(fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","output":[{"content":[{"text":%q}]}],"usage":{"input_tokens":9,"output_tokens":2}}}`, whole)), end())), speak("openai-responses"))
	wantOutcome(t, s, OK, "")
	wantSpan(t, "e2e", s.E2E, 20*ms)
	if s.Chunks != 2 || d.Text != "日本🙂b" {
		t.Errorf("%d chunks, text %.40q", s.Chunks, d.Text)
	}
}

func TestHostileDialects(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, c := range []struct {
		name, protocol string
		script         []step
		want           Outcome
	}{
		{"invalid UTF-8", "gemini", steps(G("{\"text\":\"\xff\xfe\"}", "STOP", 1, 0), end()), OK},
		{"NUL", "ollama", steps(ndHead(), ltok(`a`), raw("\x00\n"), lend("stop", ms, 1)), OK},
		{"deep parts", "gemini", steps(G(part("a"), "", 1, 0), E(`{"candidates":[{"content":{"parts":`+deep+`}}]}`), G(part("b"), "STOP", 2, 0), end()), OK},
		{"deep delta", "openai-responses", steps(rdelta("output_text", "a"), R(`{"type":"response.output_text.delta","delta":`+deep+`}`), rend(1, 0)), OK},
		{"deep line", "ollama", steps(ndHead(), ltok("a"), raw(`{"message":{"content":`+deep+"}}\n"), lend("stop", ms, 1)), OK},
		{"nested arrays for a line", "ollama", steps(ndHead(), ltok("a"), raw(strings.Repeat("[", 100_000)+"\n")), Protocol},
		{"huge index", "gemini", steps(E(`{"candidates":[{"index":9223372036854775807,"content":{"parts":[{"text":"a"}]}}]}`), G(part("b"), "STOP", 2, 0), end()), OK},
		{"huge counts", "gemini", steps(G(part("a"), "STOP", 1, 0), E(`{"usageMetadata":{"promptTokenCount":9223372036854775807,"candidatesTokenCount":9223372036854775807,"thoughtsTokenCount":9223372036854775807}}`), end()), OK},
		{"negative counts", "openai-responses", steps(rdelta("output_text", "a"), R(`{"type":"response.completed","response":{"usage":{"input_tokens":-5,"output_tokens":-1,"total_tokens":-9}}}`), end()), OK},
		{"odd types everywhere", "openai-responses", steps(rdelta("output_text", "a"), R(`{"type":"response.output_item.added","item":5}`), R(`{"type":"response.in_progress","response":"x"}`), R(`{"type":"response.completed","response":[]}`), end()), OK},
		{"odd types everywhere", "gemini", steps(E(`{"candidates":5,"usageMetadata":"x","modelVersion":[]}`), G(part("a"), "", 1, 0), E(`{"candidates":[{"content":7,"finishReason":"STOP"}]}`), end()), OK},
		{"odd types everywhere", "ollama", steps(ndHead(), raw(`{"message":5,"done":"no","eval_count":"x"}`+"\n"), ltok("a"), lend("stop", ms, 1)), OK},
		{"endless load", "ollama", steps(ndHead(), ltok("a"), raw(`{"done":true,"done_reason":"stop","load_duration":9e99}`+"\n"), end()), OK},
	} {
		t.Run(c.protocol+" "+c.name, func(t *testing.T) {
			s := probeOnce(t, scripted(c.script), speak(c.protocol))
			wantOutcome(t, s, c.want, "")
			for _, n := range []Count{s.InputTokens, s.OutputTokens, s.ReasoningTokens} {
				if n.V < 0 {
					t.Errorf("a negative count: %+v", s)
				}
			}
		})
	}
}
