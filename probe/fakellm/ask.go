package fakellm

import (
	"encoding/json"
	"math"
	"unicode"
)

// ask is what the protocols' requests have in common, in the words of OpenAI and Anthropic; others are put into it.
type ask struct {
	Model         string          `json:"model"`
	Stream        bool            `json:"stream"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	System        json.RawMessage `json:"system"`
	Messages      []turn          `json:"messages"`
	Options       struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`

	input int  // tokens, roughly
	wide  bool // at least a quarter Chinese: the rest is nonce and marks
}

type turn struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// parseAsk reads a request's body; problem says what is wrong with it.
func parseAsk(body []byte) (a *ask, problem string) {
	a = new(ask)
	if err := json.Unmarshal(body, a); err != nil {
		return nil, "We could not parse the JSON body of your request: " + err.Error()
	}
	return a.counted()
}

// counted checks what every request must have, and counts its tokens.
func (a *ask) counted() (*ask, string) {
	if a.Model == "" {
		return nil, "you must provide a model parameter"
	}
	if len(a.Messages) == 0 {
		return nil, "messages: at least one message is required"
	}
	var narrow, wide int
	add := func(raw json.RawMessage) {
		n, w := letters(raw)
		narrow, wide = narrow+n, wide+w
	}
	add(a.System)
	for _, t := range a.Messages {
		add(t.Content)
	}
	// Rough, as any count without a vocabulary: four plain characters a token, one wide one, four tokens of frame a message.
	a.input = int(math.Ceil(float64(narrow)/4)) + wide + 4*len(a.Messages)
	a.wide = wide > 0 && 3*wide >= narrow
	return a, ""
}

// limit returns the cap on the answer; 0 = none.
func (a *ask) limit() int { return max(a.MaxTokens, a.MaxCompletion) }

// letters counts the characters of a content: a string, or parts with text.
func letters(raw json.RawMessage) (narrow, wide int) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(raw, &parts) != nil {
			return 0, 0 // another shape: counts as nothing
		}
		for _, p := range parts {
			text += p.Text
		}
	}
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			wide++
		} else {
			narrow++
		}
	}
	return narrow, wide
}
