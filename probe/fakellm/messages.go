package fakellm

import (
	"strings"
	"time"
)

// messages is Anthropic Messages.
type messages struct{}

var _ dialect = messages{}

type (
	object map[string]any
	list   []any
)

func (messages) parse(body []byte) (*ask, string) { return parseAsk(body) }

func (messages) mediaType() string { return eventStream }

func (messages) check(a *ask) string {
	if a.MaxTokens < 1 {
		return "max_tokens: Field required"
	}
	return ""
}

func (messages) requestID() string { return "Request-Id" }

func (messages) failure(status int, _, message string) []byte {
	return encode(object{"type": "error", "error": object{"type": messagesKind(status), "message": message}})
}

func messagesKind(status int) string {
	kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 405: "invalid_request_error", 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error", 504: "timeout_error", 529: "overloaded_error"}
	if k, ok := kinds[status]; ok {
		return k
	}
	return "api_error"
}

func (m messages) broken() []byte {
	return event("error", m.failure(529, "", "Overloaded"))
}

func (m messages) stream(a *answer, plan []time.Duration) []frame {
	var frames []frame
	add := func(at time.Duration, what, name string, body object) {
		body["type"] = name
		frames = append(frames, frame{at: at, what: what, data: event(name, encode(body))})
	}
	add(0, WroteRole, "message_start", object{"message": m.message(a, list{}, nil, object{
		"input_tokens": a.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1})})
	add(0, WroteOther, "ping", object{})
	index, at := 0, time.Duration(0)
	block := func(kind, field, what string, tokens []string, plan []time.Duration) {
		add(at, WroteOther, "content_block_start", object{"index": index, "content_block": object{"type": kind, field: ""}})
		for i, text := range tokens {
			at = plan[i]
			add(at, what, "content_block_delta", object{"index": index, "delta": object{"type": field + "_delta", field: text}})
		}
		if kind == "thinking" {
			add(at, WroteOther, "content_block_delta", object{"index": index, "delta": object{"type": "signature_delta", "signature": "ZmFrZQ=="}})
		}
		add(at, WroteOther, "content_block_stop", object{"index": index})
		index++
	}
	if n := len(a.thoughts); n > 0 {
		block("thinking", "thinking", WroteReasoning, a.thoughts, plan[:n])
	}
	if n := len(a.thoughts); len(a.tokens) > 0 {
		block("text", "text", WroteToken, a.tokens, plan[n:])
	}
	add(at, WroteFinish, "message_delta", object{"delta": object{"stop_reason": a.finish("end_turn", "max_tokens"), "stop_sequence": nil},
		"usage": object{"output_tokens": a.output(), "output_tokens_details": object{"thinking_tokens": len(a.thoughts)}}})
	add(at, WroteDone, "message_stop", object{})
	return frames
}

func (m messages) whole(a *answer) []byte {
	content := list{}
	if len(a.thoughts) > 0 {
		content = append(content, object{"type": "thinking", "thinking": strings.Join(a.thoughts, ""), "signature": "ZmFrZQ=="})
	}
	if len(a.tokens) > 0 {
		content = append(content, object{"type": "text", "text": strings.Join(a.tokens, "")})
	}
	return encode(m.message(a, content, a.finish("end_turn", "max_tokens"), object{
		"input_tokens": a.input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": a.output()}))
}

func (messages) message(a *answer, content list, stop *string, usage object) object {
	return object{"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
}
