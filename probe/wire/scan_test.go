package wire

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// everything is a type with all that an event's type may have, and names that events have.
type everything struct {
	errorBody
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Raw     json.RawMessage `json:"delta"`
	Text    content         `json:"content"`
	Index   int             `json:"index"`
	Done    bool            `json:"done"`
	Names   []str           `json:"names"`
	Lists   [][]Num         `json:"lists"`
	Plain   string          `json:"plain"`
	Message struct {
		Text str `json:"text"`
	} `json:"message"`
}

func (e *everything) empty() {
	*e = everything{Choices: e.Choices[:0], Names: e.Names[:0], Lists: e.Lists[:0]}
}

// sameAsJSON holds what read makes of data against encoding/json. What differs by design is left out: names in another
// case, and names that come twice in one object.
func sameAsJSON(t interface{ Fatalf(string, ...any) }, data []byte, names map[string]bool) {
	differs := false
	walk(json.NewDecoder(strings.NewReader(string(data))), func(name string, twice bool) {
		differs = differs || twice || !names[name] && foldedName(names, name)
	})
	if differs {
		return
	}
	var want everything
	wantErr := decode(data, &want)
	var p Piece
	for range 2 { // the second time into what the first has left
		got, err := read[everything](&p, data)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%.200q: error %v, encoding/json says %v", data, err, wantErr)
		}
		if diff := cmp.Diff(want, *got, cmp.AllowUnexported(everything{}, errorBody{}, content{}, chatChoice{}), cmpopts.EquateEmpty()); err == nil && diff != "" {
			t.Fatalf("%.200q: %s", data, diff)
		}
		h := p.hot.(*hot[everything])
		if s := (&scanner{data: data}); (s.value(h.shape, reflect.ValueOf(new(everything)).Elem()) && s.end()) != json.Valid(data) {
			t.Fatalf("%.200q: valid is %t", data, json.Valid(data))
		}
	}
}

// walk calls f for every name of every object that d holds, and says whether its object had it before.
func walk(d *json.Decoder, f func(name string, twice bool)) {
	tok, err := d.Token()
	if err != nil {
		return
	}
	switch tok {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return
			}
			s, ok := name.(string)
			if !ok {
				return
			}
			f(s, seen[s])
			seen[s] = true
			walk(d, f)
		}
		_, _ = d.Token()
	case json.Delim('['):
		for d.More() {
			before := d.InputOffset()
			walk(d, f)
			if d.InputOffset() == before {
				return
			}
		}
		_, _ = d.Token()
	}
}

func foldedName(names map[string]bool, name string) bool {
	for have := range names {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// everyName collects the names that a type and what it holds have.
func everyName(s *shape, names map[string]bool) map[string]bool {
	if s.elem != nil {
		everyName(s.elem, names)
	}
	for _, m := range s.members {
		names[m.name] = true
		everyName(m.shape, names)
	}
	return names
}

// TestScanIsJSON makes JSON of any shape, breaks some of it, and reads it both ways.
func TestScanIsJSON(t *testing.T) {
	names := everyName(shapeOf(reflect.TypeFor[everything]()), map[string]bool{})
	var list []string
	for name := range names {
		list = append(list, name)
	}
	key := rapid.OneOf(rapid.SampledFrom(list), rapid.StringMatching(`[a-z]{0,3}`))
	leaf := rapid.OneOf(
		rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "7", "12", "-3", "1.5", "2e3", "1E-2", "9223372036854775807", "9223372036854775808",
			"01", "1.", ".5", "-", "+1", "nul", `""`, `"a"`, `"\n\u4f60"`, `"\ud83d\ude42"`, `"\ud83d"`, `"\ude42\ud83d\u0041"`, `"\x"`, `"\u12g4"`, "\"\xff\"", "\"a\x00\"",
			"\"\x7f\u2028\"", `"日本"`, `"5"`, `"12.7"`, "{}", "[]", "", `"unterminated`, `{"a"}`, `{"a":}`, `[1,]`, `{,}`}),
		rapid.Map(rapid.String(), func(s string) string { b, _ := json.Marshal(s); return string(b) }))
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t\r\n", "\v"})
	var value *rapid.Generator[string]
	value = rapid.Deferred(func() *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				var parts []string
				for range rapid.IntRange(0, 4).Draw(t, "members") {
					k, _ := json.Marshal(key.Draw(t, "key"))
					parts = append(parts, space.Draw(t, "s")+string(k)+space.Draw(t, "s")+":"+space.Draw(t, "s")+value.Draw(t, "v"))
				}
				return "{" + strings.Join(parts, ",") + "}"
			case 1:
				var parts []string
				for range rapid.IntRange(0, 3).Draw(t, "items") {
					parts = append(parts, space.Draw(t, "s")+value.Draw(t, "v")+space.Draw(t, "s"))
				}
				return "[" + strings.Join(parts, ",") + "]"
			}
			return leaf.Draw(t, "leaf")
		})
	})
	rapid.Check(t, func(t *rapid.T) {
		data := "{" + `"choices":` + value.Draw(t, "choices") + `,"usage":` + value.Draw(t, "usage") + `,"content":` + value.Draw(t, "content") +
			`,"error":` + value.Draw(t, "error") + `,"index":` + value.Draw(t, "index") + `,"names":` + value.Draw(t, "names") + "}"
		sameAsJSON(t, []byte(data), names)
		sameAsJSON(t, []byte(value.Draw(t, "all")), names)
	})
}

// FuzzScan reads anything both ways; all transcripts are its seeds.
func FuzzScan(f *testing.F) {
	names := everyName(shapeOf(reflect.TypeFor[everything]()), map[string]bool{})
	for _, pr := range Protocols() {
		for _, file := range transcripts(f, pr) {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				f.Add([]byte(strings.TrimPrefix(strings.TrimSpace(line), "data: ")))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameAsJSON(t, data, names) })
}

// TestScanBySight holds what has no counterpart in encoding/json.
func TestScanBySight(t *testing.T) {
	var p Piece
	f := func(data string, want func(e *everything) bool) {
		t.Helper()
		got, err := read[everything](&p, []byte(data))
		if err != nil || !want(got) {
			t.Errorf("%s: %+v, %v", data, got, err)
		}
	}
	f(`{"index":1,"index":2}`, func(e *everything) bool { return e.Index == 2 })
	f(`{"choices":[{"index":1},{"index":3}],"choices":[{"finish_reason":"x"}]}`, func(e *everything) bool {
		return len(e.Choices) == 1 && e.Choices[0].Index == 0 && e.Choices[0].Finish == "x"
	})
	f(`{"Error":{"a":1},"Message":{"TEXT":"t"}}`, func(e *everything) bool { return filled(e.Error) && e.Message.Text == "t" })
	f(`{}`, func(e *everything) bool { return e.Error == nil && e.Message.Text == "" && len(e.Choices) == 0 })
	f(`{"co\u006etent":"a"}`, func(e *everything) bool { return e.Text.text == "a" })
	deep := strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1)
	f(`{"x":`+deep+`,"index":4}`, func(e *everything) bool { return e.Index == 4 })
	if _, err := read[everything](&p, []byte(`{"x":[`+deep+`]}`)); err == nil {
		t.Error("nested deeper than the bound, and read")
	}
}

// TestNothingIsBorrowed: what a piece keeps beyond its event is not the event's memory.
func TestNothingIsBorrowed(t *testing.T) {
	pr := openAIChat()
	var p Piece
	data := []byte(`{"model":"m","system_fingerprint":"f","choices":[{"finish_reason":"stop"}],"error":{"code":"c","message":"said","type":"t","param":"p"}}`)
	if err := pr.Read(Event{Data: data}, &p); err != nil {
		t.Fatal(err)
	}
	clear(data)
	got := []string{p.Model, p.Fingerprint, p.Finish, p.Fault.Code, p.Fault.Message, p.Fault.Type, p.Fault.Param}
	if diff := cmp.Diff([]string{"m", "f", "stop", "c", "said", "t", "p"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadAllocatesAtMostOnce(t *testing.T) {
	for name, data := range map[string]string{
		"openai-chat":      `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Bl\nue"},"finish_reason":null}],"usage":null}`,
		"anthropic":        `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Bl\nue"}}`,
		"openai-responses": `{"type":"response.output_text.delta","sequence_number":9,"output_index":1,"content_index":0,"delta":"Bl\nue"}`,
		"gemini":           `{"candidates":[{"content":{"parts":[{"text":"Blue"}]}}],"modelVersion":"g"}`,
		"ollama":           `{"model":"m","created_at":"2030-01-01T00:00:00Z","message":{"role":"assistant","content":"Blue"},"done":false}`,
	} {
		pr := named(t, name)
		var p Piece
		if got := testing.AllocsPerRun(100, func() {
			if err := pr.Read(Event{Data: []byte(data)}, &p); err != nil || p.Kind != Text {
				t.Fatal(err, p.Kind)
			}
		}); got > 2 { // one of them is the conversion of data in this test
			t.Errorf("%s: %v allocations an event", name, got)
		}
	}
}

// BenchmarkRead reads one ordinary event of each protocol.
func BenchmarkRead(b *testing.B) {
	data := []byte(`{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Blue"},"finish_reason":null}],"usage":null}`)
	pr := openAIChat()
	var p Piece
	b.ReportAllocs()
	for b.Loop() {
		if err := pr.Read(Event{Data: data}, &p); err != nil || p.Kind != Text {
			b.Fatal(err)
		}
	}
}
