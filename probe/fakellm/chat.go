package fakellm

import (
	"strings"
	"time"
)

// chat is OpenAI chat completions.
type chat struct{}

var _ dialect = chat{}

type (
	chatChunk struct {
		ID      string       `json:"id"`
		Object  string       `json:"object"`
		Created int64        `json:"created"`
		Model   string       `json:"model"`
		Choices []chatChoice `json:"choices"`
		Usage   *chatUsage   `json:"usage,omitempty"`
	}
	chatChoice struct {
		Index   int          `json:"index"`
		Delta   *chatMessage `json:"delta,omitempty"`
		Message *chatMessage `json:"message,omitempty"`
		Finish  *string      `json:"finish_reason"`
	}
	chatMessage struct {
		Role      string  `json:"role,omitempty"`
		Content   *string `json:"content,omitempty"`
		Reasoning string  `json:"reasoning_content,omitempty"`
	}
	chatUsage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		In         struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
)

func (chat) parse(body []byte) (*ask, string) { return parseAsk(body) }

func (chat) mediaType() string { return eventStream }

func (chat) check(*ask) string { return "" }

func (chat) requestID() string { return "X-Request-Id" }

func (chat) failure(_ int, code, message string) []byte {
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	kind := "invalid_request_error"
	if code == "server_error" || code == "overloaded_error" || code == "insufficient_quota" {
		kind = code
	}
	return encode(struct {
		Error body `json:"error"`
	}{body{Message: message, Type: kind, Code: code}})
}

func (c chat) broken() []byte {
	return event("", c.failure(500, "server_error", "The server had an error while processing your request (made up by the fake)"))
}

func (chat) stream(a *answer, plan []time.Duration) []frame {
	chunk := func(choices []chatChoice, usage *chatUsage) []byte {
		return event("", encode(chatChunk{ID: a.id, Object: "chat.completion.chunk", Created: a.created, Model: a.model, Choices: choices, Usage: usage}))
	}
	one := func(m chatMessage, finish *string) []byte {
		return chunk([]chatChoice{{Delta: &m, Finish: finish}}, nil)
	}
	none := ""
	list := []frame{{what: WroteRole, data: one(chatMessage{Role: "assistant", Content: &none}, nil)}}
	for i, text := range a.thoughts {
		list = append(list, frame{at: plan[i], what: WroteReasoning, data: one(chatMessage{Reasoning: text}, nil)})
	}
	for i, text := range a.tokens {
		list = append(list, frame{at: plan[len(a.thoughts)+i], what: WroteToken, data: one(chatMessage{Content: &text}, nil)})
	}
	end := last(plan)
	list = append(list, frame{at: end, what: WroteFinish, data: one(chatMessage{}, a.finish("stop", "length"))})
	if a.usage {
		list = append(list, frame{at: end, what: WroteUsage, data: chunk([]chatChoice{}, chatUsageOf(a))})
	}
	return append(list, frame{at: end, what: WroteDone, data: event("", []byte("[DONE]"))})
}

func (chat) whole(a *answer) []byte {
	text := strings.Join(a.tokens, "")
	m := chatMessage{Role: "assistant", Content: &text, Reasoning: strings.Join(a.thoughts, "")}
	return encode(chatChunk{ID: a.id, Object: "chat.completion", Created: a.created, Model: a.model,
		Choices: []chatChoice{{Message: &m, Finish: a.finish("stop", "length")}}, Usage: chatUsageOf(a)})
}

func chatUsageOf(a *answer) *chatUsage {
	u := &chatUsage{Prompt: a.input, Completion: a.output(), Total: a.input + a.output()}
	u.Out.Reasoning = len(a.thoughts)
	return u
}

// output returns all generated tokens.
func (a *answer) output() int { return len(a.thoughts) + len(a.tokens) }

// finish picks the finish reason.
func (a *answer) finish(whole, cut string) *string {
	if a.cut {
		return &cut
	}
	return &whole
}

// last returns when the last token is due.
func last(plan []time.Duration) time.Duration {
	if len(plan) == 0 {
		return 0
	}
	return plan[len(plan)-1]
}

// event frames data as a server-sent event; name "" = none.
func event(name string, data []byte) []byte {
	var b []byte
	if name != "" {
		b = append(b, "event: "+name+"\n"...)
	}
	b = append(b, "data: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}
