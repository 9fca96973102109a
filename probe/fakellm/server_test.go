package fakellm

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChatStreamIsPacedExactly(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		g := b.post(chatPath, chatBody)
		want := []string{"0 role", "300 tok", "320 tok", "340 tok", "360 tok", "360 fin stop", "360 usage 8 4 0", "360 [DONE]"}
		if diff := cmp.Diff(want, g.short()); diff != "" || g.err != nil {
			t.Error(diff, g.err)
		}
		if k := g.header.Get("Content-Type"); k != "text/event-stream; charset=utf-8" || g.header.Get("X-Request-Id") != "req-m-1" {
			t.Errorf("header %v", g.header)
		}
		g = b.post(chatPath, strings.Replace(chatBody, `"include_usage":true`, `"include_usage":false`, 1))
		if s := g.short(); len(s) != 7 || s[6] != "360 [DONE]" {
			t.Errorf("without usage: %v", s)
		}
	})
}

func TestPromptLengthCosts(t *testing.T) {
	behaviour := brisk()
	behaviour.PerInputToken = time.Millisecond
	serve(t, Options{Default: behaviour}, func(b *bench) {
		long := strings.Replace(chatBody, "say something", strings.Repeat("word", 100), 1)
		if s := b.post(chatPath, long).short(); s[1] != "404 tok" {
			t.Errorf("%v", s)
		}
		parts := strings.Replace(chatBody, `"say something"`, `[{"type":"text","text":"say"},{"type":"text","text":"河河"}]`, 1)
		if s := b.post(chatPath, parts).short(); s[1] != "307 tok" {
			t.Errorf("%v", s)
		}
	})
}

func TestMaxTokensCutsTheAnswer(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		for _, field := range []string{"max_tokens", "max_completion_tokens"} {
			g := b.post(chatPath, strings.Replace(chatBody, `"model"`, `"`+field+`":2,"model"`, 1))
			want := []string{"0 role", "300 tok", "320 tok", "320 fin length", "320 usage 8 2 0", "320 [DONE]"}
			if diff := cmp.Diff(want, g.short()); diff != "" {
				t.Error(field, diff)
			}
		}
		g := b.post(messagesPath, strings.Replace(messagesBody, "100", "2", 1))
		if !strings.Contains(g.raw, `"stop_reason":"max_tokens"`) || strings.Count(g.raw, "text_delta") != 2 {
			t.Error(g.raw)
		}
	})
}

func TestReasoningComesFirst(t *testing.T) {
	behaviour := brisk()
	behaviour.Reasoning = 2
	serve(t, Options{Default: behaviour}, func(b *bench) {
		want := []string{"0 role", "300 think", "320 think", "340 tok", "360 tok", "360 fin stop", "360 usage 8 4 2", "360 [DONE]"}
		if diff := cmp.Diff(want, b.post(chatPath, chatBody).short()); diff != "" {
			t.Error(diff)
		}
		raw := b.post(messagesPath, messagesBody).raw
		for _, s := range []string{`"thinking_delta"`, `"signature_delta"`, `"text_delta"`, `"index":1`} {
			if !strings.Contains(raw, s) {
				t.Errorf("no %s in %s", s, raw)
			}
		}
	})
}

func TestMessagesStream(t *testing.T) {
	behaviour := brisk()
	behaviour.OutputTokens = 2
	serve(t, Options{Default: behaviour}, func(b *bench) {
		g := b.post(messagesPath, messagesBody)
		var events []string
		for _, line := range g.lines {
			at, data, ok := strings.Cut(line, " event: ")
			if ok {
				events = append(events, at+" "+data)
			}
		}
		want := []string{"0 message_start", "0 ping", "0 content_block_start", "300 content_block_delta", "320 content_block_delta",
			"320 content_block_stop", "320 message_delta", "320 message_stop"}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Error(diff)
		}
		for _, s := range []string{`"input_tokens":8`, `"usage":{"output_tokens":2,"output_tokens_details":{"thinking_tokens":0}}`, `"stop_reason":"end_turn"`, `"text":""`} {
			if !strings.Contains(g.raw, s) {
				t.Errorf("no %s in %s", s, g.raw)
			}
		}
		if g.header.Get("Request-Id") != "req-m-1" {
			t.Error(g.header)
		}
	})
}

func TestAnswersWithoutStream(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		g := b.post(chatPath, strings.Replace(chatBody, `"stream":true`, `"stream":false`, 1))
		var c struct {
			Choices []struct {
				Message struct{ Role, Content string }
				Finish  string `json:"finish_reason"`
			}
			Usage struct {
				Total int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(g.raw), &c); err != nil {
			t.Fatal(err)
		}
		if g.took != 360*time.Millisecond || c.Choices[0].Message.Content == "" || c.Choices[0].Finish != "stop" || c.Usage.Total != 12 {
			t.Errorf("%v %s", g.took, g.raw)
		}
		g = b.post(messagesPath, strings.Replace(messagesBody, `"stream":true,`, "", 1))
		if g.took != 360*time.Millisecond || !strings.Contains(g.raw, `"content":[{"text":"`) || !strings.Contains(g.raw, `"output_tokens":4`) {
			t.Errorf("%v %s", g.took, g.raw)
		}
	})
}

func TestRefusals(t *testing.T) {
	serve(t, Options{Models: []string{"m", "n"}, Key: "k", Default: brisk()}, func(b *bench) {
		f := func(path, body string, status int, want string, header ...string) {
			t.Helper()
			g := b.post(path, body, header...)
			if g.status != status || !strings.Contains(g.raw, want) || !json.Valid([]byte(g.raw)) {
				t.Errorf("%s: %d %s, want %d %s", path, g.status, g.raw, status, want)
			}
		}
		bearer := []string{"Authorization", "Bearer k"}
		f(chatPath, chatBody, 401, `"code":"invalid_api_key"`)
		f(chatPath, chatBody, 401, `"code":"invalid_api_key"`, "Authorization", "Bearer x")
		f(messagesPath, messagesBody, 401, `"type":"authentication_error"`)
		f("/v1/models", "", 401, "invalid_api_key")
		f(chatPath, strings.Replace(chatBody, `"m"`, `"x"`, 1), 404, `"code":"model_not_found"`, bearer...)
		f(messagesPath, strings.Replace(messagesBody, `"m"`, `"x"`, 1), 404, `"type":"not_found_error"`, bearer...)
		f(chatPath, `{"model":`, 400, "could not parse", bearer...)
		f(chatPath, `{"messages":[]}`, 400, "model parameter", bearer...)
		f(chatPath, `{"model":"m","messages":[]}`, 400, "at least one message", bearer...)
		f(messagesPath, strings.Replace(messagesBody, `"max_tokens":100,`, "", 1), 400, "max_tokens: Field required", "X-Api-Key", "k")
		f("/chat/completions", chatBody, 404, "Invalid URL (POST /chat/completions)", bearer...)
		f("/v1/v1/chat/completions", chatBody, 404, "Invalid URL", bearer...)
		f(chatPath, strings.Repeat("x", maxBody+1), 413, "too large", bearer...)
		f("/v1/models/x", "", 404, "model_not_found", bearer...)
		if g := b.post("/v1/models", "", bearer...); !strings.Contains(g.raw, `"id":"m"`) || !strings.Contains(g.raw, `"id":"n"`) {
			t.Error(g.raw)
		}
		if g := b.post("/v1/models/n", "", bearer...); g.status != 200 || !strings.Contains(g.raw, `"id":"n"`) {
			t.Error(g.raw)
		}
		r, err := http.NewRequest(http.MethodGet, "http://fake"+chatPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		if g := b.do(r, bearer...); g.status != 405 {
			t.Errorf("GET: %d", g.status)
		}
	})
}

func TestModelsWithoutAList(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		if g := b.post("/v1/models", ""); !strings.Contains(g.raw, `"id":"fake"`) {
			t.Error(g.raw)
		}
		b.Set("b", Behaviour{})
		b.Set("a", Behaviour{})
		g := b.post("/v1/models", "")
		if !strings.Contains(g.raw, `"id":"a"`) || strings.Index(g.raw, `"id":"a"`) > strings.Index(g.raw, `"id":"b"`) {
			t.Error(g.raw)
		}
	})
}

func TestSetWhileServing(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		slow := brisk()
		slow.SlowTTFT, slow.SlowTPOT = 2, 3
		b.Set("m", slow)
		if s := b.post(chatPath, chatBody).short(); s[1] != "600 tok" || s[2] != "660 tok" {
			t.Errorf("%v", s)
		}
		if s := b.post(chatPath, strings.Replace(chatBody, `"m"`, `"other"`, 1)).short(); s[1] != "300 tok" {
			t.Errorf("%v", s)
		}
		b.Set("m", brisk())
		b.Set("", slow)
		if s := b.post(chatPath, chatBody).short(); s[1] != "300 tok" {
			t.Errorf("%v", s)
		}
		if s := b.post(chatPath, strings.Replace(chatBody, `"m"`, `"other"`, 1)).short(); s[1] != "600 tok" {
			t.Errorf("%v", s)
		}
	})
}

func TestRecords(t *testing.T) {
	serve(t, Options{Default: brisk(), Keep: 2}, func(b *bench) {
		start := time.Now()
		b.post("/nowhere", "")
		b.post(messagesPath, messagesBody, "User-Agent", "one")
		b.post(chatPath, chatBody, "User-Agent", "two")
		if n := b.Requests(); n != 3 {
			t.Errorf("%d requests", n)
		}
		list := b.Records()
		if len(list) != 2 || list[0].Path != messagesPath || list[1].Header.Get("User-Agent") != "two" {
			t.Fatalf("%+v", list)
		}
		last := list[1]
		if last.Model != "m" || string(last.Body) != chatBody || last.Input != 8 || last.Status != 200 || last.Method != "POST" {
			t.Errorf("%+v", last)
		}
		var what []string
		for _, w := range last.Writes {
			what = append(what, w.What)
		}
		if want := []string{"role", "token", "token", "token", "token", "finish", "usage", "done"}; !slices.Equal(what, want) {
			t.Errorf("%v", what)
		}
		first, ok := last.First(WroteToken)
		if !ok || first.Sub(last.Arrived) != 300*time.Millisecond || last.Arrived.Sub(start) != 360*time.Millisecond {
			t.Errorf("first token %v, arrived %v", first, last.Arrived)
		}
		if _, ok := last.First(WroteError); ok {
			t.Error("an error was written")
		}
	})
}

func TestSameSeedSameAnswer(t *testing.T) {
	behaviour := brisk()
	behaviour.Jitter = 0.3
	run := func(seed uint64) (raw string, took time.Duration) {
		serve(t, Options{Default: behaviour, Seed: seed}, func(b *bench) {
			g := b.post(chatPath, chatBody)
			raw, took = g.raw, g.took
		})
		return raw, took
	}
	a, tookA := run(1)
	b, tookB := run(1)
	_, tookC := run(2)
	if a != b || tookA != tookB || tookA == tookC {
		t.Errorf("%v %v %v", tookA, tookB, tookC)
	}
}

func TestChineseAnswer(t *testing.T) {
	serve(t, Options{}, func(b *bench) {
		g := b.post(chatPath, `{"model":"m","messages":[{"role":"user","content":"0123456789abcdef\n请介绍一家面包房"}]}`)
		if !strings.ContainsAny(g.raw, "面天大") {
			t.Error(g.raw)
		}
	})
}

func TestJitterHasMeanOneAndItsSigma(t *testing.T) {
	b := Behaviour{TTFT: time.Second, Jitter: 0.2}
	r := rand.New(rand.NewPCG(1, 2))
	var sum, logs, squares float64
	const n = 20_000
	for range n {
		v := b.Plan(r, time.Unix(0, 0), 0, 1)[0].Seconds()
		sum += v
		logs += math.Log(v)
		squares += math.Log(v) * math.Log(v)
	}
	mean, sigma := sum/n, math.Sqrt(squares/n-logs/n*logs/n)
	if math.Abs(mean-1) > 0.01 || math.Abs(sigma-0.2) > 0.01 {
		t.Errorf("mean %v, sigma %v", mean, sigma)
	}
}

func TestDailyShape(t *testing.T) {
	f := func(d Daily, hour int, want float64) {
		t.Helper()
		if got := d.Factor(time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v at %d: %v, want %v", d, hour, got, want)
		}
	}
	f(Daily{}, 15, 1)
	f(Daily{Swing: 0.5, Peak: 15}, 15, 1.5)
	f(Daily{Swing: 0.5, Peak: 15}, 3, 1)
	f(Daily{Swing: 0.5, Peak: 15}, 9, 1.25)
	f(Daily{Swing: 0.5, Peak: 15, Zone: time.FixedZone("", 8*3600)}, 7, 1.5)
}

// A cancelled request ends its handler at once: nothing is left behind.
func TestClientThatLeaves(t *testing.T) {
	serve(t, Options{Default: brisk()}, func(b *bench) {
		ctx, cancel := context.WithTimeout(b.t.Context(), 310*time.Millisecond)
		defer cancel()
		g := b.postCtx(ctx, chatPath, chatBody)
		if g.err == nil || g.took != 310*time.Millisecond {
			t.Errorf("%v after %v", g.err, g.took)
		}
	})
}

func TestPipeClosed(t *testing.T) {
	p := NewPipe()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Accept(); err == nil {
		t.Error("Accept after Close")
	}
	if _, err := p.DialContext(t.Context(), "", ""); err == nil {
		t.Error("DialContext after Close")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewPipe().DialContext(ctx, "", ""); err == nil {
		t.Error("DialContext with a cancelled context")
	}
	if p.Addr().Network() != "pipe" || p.Addr().String() != "pipe" {
		t.Error(p.Addr())
	}
}

func TestAnswerTextReadsLikeProse(t *testing.T) {
	text := strings.Join(words(rand.New(rand.NewPCG(3, 4)), false, 40), "")
	if strings.HasPrefix(text, " ") || strings.Contains(text, " ,") || !strings.Contains(text, ". ") {
		t.Errorf("%q", text)
	}
}
